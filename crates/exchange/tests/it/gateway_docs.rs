//! Checks that the tests named in `docs/reference/simulated-gateway.md` exist.

use std::fs;
use std::path::Path;

/// Returns the names of the functions in a test file.
fn functions(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let behind = text.split("\nfn ").skip(1);
    behind.filter_map(|rest| Some(rest.split_once('(')?.0.to_owned())).collect()
}

/// Returns the code spans with `::`, such as `cross::cross_sides_trade_with_each_other`.
fn named(page: &str) -> impl Iterator<Item = (&str, &str)> {
    let quoted = page.split('`').skip(1).step_by(2);
    quoted.filter_map(|text| text.split_once("::")).filter(|(module, name)| {
        let is_name =
            |text: &str| text.chars().all(|c| c.is_ascii_lowercase() || "_0123456789*".contains(c));
        !module.is_empty() && !name.is_empty() && is_name(module) && is_name(name)
    })
}

#[test]
fn gateway_page_names_existing_tests() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page =
        fs::read_to_string(crate_folder.join("../../docs/reference/simulated-gateway.md")).unwrap();
    let tests = crate_folder.join("tests/it");
    let mut count = 0;
    for (module, name) in named(&page) {
        let inside = tests.join("gateway").join(module).with_extension("rs");
        let file = if inside.exists() { inside } else { tests.join(module).with_extension("rs") };
        let known = functions(&file);
        let is_there = match name.strip_suffix('*') {
            Some(beginning) => known.iter().any(|function| function.starts_with(beginning)),
            None => known.iter().any(|function| function == name),
        };
        assert!(is_there, "{module}::{name}");
        count += 1;
    }
    assert!(count > 80, "{count}");
}
