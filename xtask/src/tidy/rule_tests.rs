//! The tests that the pages of CME's rules and certification cases name: each exists.
//!
//! A test is named `crate::file::test`. The file is any of the crate with that name, or the
//! `mod.rs` of a folder with that name.

use super::Finding;
use super::source::Source;

/// The pages that name the tests of CME's rules.
const PAGES: [&str; 2] = ["docs/reference/cme-rules.md", "docs/reference/certification.md"];

/// Checks every test that the pages name.
pub(super) fn check(sources: &[Source]) -> Vec<Finding> {
    PAGES.into_iter().flat_map(|path| check_page(path, sources)).collect()
}

fn check_page(path: &str, sources: &[Source]) -> Vec<Finding> {
    let Some(page) = sources.iter().find(|source| source.path == path) else {
        return vec![Finding::new(path, 0, "a page of CME's rules is missing")];
    };
    let mut findings = Vec::new();
    for (number, line) in page.lines() {
        // Every second part is a code span.
        for name in line.split('`').skip(1).step_by(2) {
            let parts: Vec<_> = name.split("::").collect();
            // Other code spans are types, fields and values.
            if let [package, file, test] = parts[..]
                && package != "crate"
                && !exists(sources, package, file, test)
            {
                findings.push(Finding::new(path, number, format!("names no test: {name}")));
            }
        }
    }
    findings
}

/// Returns `true` if a file of the package contains the test.
fn exists(sources: &[Source], package: &str, file: &str, test: &str) -> bool {
    let folder = format!("crates/{}/", package.replace('_', "-"));
    let names = [format!("/{file}.rs"), format!("/{file}/mod.rs")];
    let is_meant = |source: &&Source| {
        source.path.starts_with(&folder) && names.iter().any(|name| source.path.ends_with(name))
    };
    sources.iter().filter(is_meant).any(|source| contains(source, test))
}

/// Returns `true` if the file has a function of this name with the attribute `test`.
fn contains(source: &Source, test: &str) -> bool {
    let function = format!("fn {test}(");
    let mut is_test = false;
    for (_, line) in source.lines().map(|(number, line)| (number, line.trim())) {
        match line {
            "#[test]" => is_test = true,
            _ if line.starts_with(&function) && is_test => return true,
            _ if line.starts_with("#[") || line.starts_with("//") => {}
            _ => is_test = false,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(page: &str) -> Vec<String> {
        let code = "#[test]\n#[ignore = \"needs root\"]\n// Why.\nfn rejects_id_0() {}\n\n\
                    fn helper() {}\n";
        let sources = [
            (PAGES[0], page),
            (PAGES[1], ""),
            ("crates/order-entry/tests/it/batch.rs", code),
            ("crates/exchange/tests/it/gateway/mod.rs", code),
        ];
        let sources = sources.map(|(path, text)| Source { path: path.into(), text: text.into() });
        check(&sources).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn accepts_existing_tests_and_other_code() {
        let page = "| `order-entry::batch::rejects_id_0`, `order_entry::batch::rejects_id_0` |\n\
                    `exchange::gateway::rejects_id_0`, `crate::file::test`, `Sender::send`\n";
        assert_eq!(findings(page), [""; 0]);
    }

    #[test]
    fn finds_names_without_a_test() {
        let page = "fine\n`order-entry::batch::rejects_id_1` `order-entry::bach::rejects_id_0`\n\
                    `order-entry::batch::helper` `ilink3::batch::rejects_id_0`\n";
        let expected = [
            (2, "order-entry::batch::rejects_id_1"),
            (2, "order-entry::bach::rejects_id_0"),
            (3, "order-entry::batch::helper"),
            (3, "ilink3::batch::rejects_id_0"),
        ];
        let expected =
            expected.map(|(line, name)| format!("{}:{line}: names no test: {name}", PAGES[0]));
        assert_eq!(findings(page), expected);
    }
}
