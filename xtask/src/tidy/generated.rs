//! The rule that generated code stays small: it is committed, compiled and sometimes read.

use super::Finding;
use super::source::Source;

/// The most lines of code per field, with the lines of types, messages and groups divided among the
/// fields. A getter, a setter and the field's layout take three.
const LINES_PER_FIELD: usize = 8;

/// The folder of the generated modules.
const CODECS: &str = "crates/cme-codecs/src/";

/// Counts the lines of code of all generated modules, without empty lines and comments.
pub(super) fn check(sources: &[Source]) -> Option<Finding> {
    let (mut lines, mut fields) = (0, 0);
    let generated = sources.iter().filter(|s| s.is_generated() && s.path.starts_with(CODECS));
    for line in generated.flat_map(|source| source.text.lines()).map(str::trim) {
        lines += usize::from(!line.is_empty() && !line.starts_with("//"));
        fields += usize::from(line.starts_with("Field::new("));
    }
    let what = format!(
        "{lines} generated lines for {fields} fields, the limit is {LINES_PER_FIELD} per field"
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
    fn fields_take_at_most_eight_lines() {
        let path = "crates/cme-codecs/src/mdp3/a.rs";
        assert_eq!(check(&[module(path, 8)]), None);
        assert!(check(&[module(path, 9)]).is_some());
        assert_eq!(check(&[module(path, 9), module(path, 7)]), None);
    }

    #[test]
    fn generated_tests_do_not_count() {
        assert_eq!(check(&[module("crates/cme-codecs/tests/it/mdp3.rs", 9)]), None);
    }
}
