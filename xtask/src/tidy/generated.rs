//! Generated code stays small: it is committed, compiled and, now and then, read.

use super::Finding;
use super::source::Source;

/// Lines of code for each field of each message, types and dispatch shared out. A getter, a setter
/// and the field's layout are three; the rest is what messages and groups cost.
const LINES_PER_FIELD: usize = 8;

/// The crate whose modules are generated.
const CODECS: &str = "crates/cme-codecs/src/";

/// Counts lines of code, that is neither empty nor comment, over all generated modules.
pub(super) fn check(sources: &[Source]) -> Option<Finding> {
    let (mut lines, mut fields) = (0, 0);
    let generated = sources.iter().filter(|s| s.is_generated() && s.path.starts_with(CODECS));
    for line in generated.flat_map(|source| source.text.lines()).map(str::trim) {
        lines += usize::from(!line.is_empty() && !line.starts_with("//"));
        fields += usize::from(line.starts_with("Field::new("));
    }
    let what = format!(
        "{lines} generated lines for {fields} fields, {LINES_PER_FIELD} each are the limit"
    );
    (lines > fields * LINES_PER_FIELD).then(|| Finding::new(CODECS, 0, what))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(path: &str, lines: usize) -> Source {
        let mark = "//! X. Generated from `schemas/x.xml` by `cargo xtask codegen`.\n\n/// A.\n";
        let text = format!("{mark}    Field::new(\"A\"),\n{}", "    x\n".repeat(lines - 1));
        Source { path: path.to_string(), text }
    }

    #[test]
    fn a_field_may_cost_eight_lines() {
        let path = "crates/cme-codecs/src/mdp3/a.rs";
        assert_eq!(check(&[module(path, 8)]), None);
        assert!(check(&[module(path, 9)]).is_some());
        assert_eq!(check(&[module(path, 9), module(path, 7)]), None);
    }

    #[test]
    fn generated_tests_do_not_count() {
        assert_eq!(check(&[module("crates/cme-codecs/tests/copy/mdp3.rs", 9)]), None);
    }
}
