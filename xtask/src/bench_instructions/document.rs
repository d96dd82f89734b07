//! `docs/results/instructions.md`: text written by hand, counts written by the command.

use std::fmt::Write;
use std::path::Path;

use anyhow::{Context, Result};

use super::{CASES, Count};

/// The command writes everything between these lines, except for the times.
const BEGIN: &str = "<!-- counted -->\n";
const END: &str = "<!-- /counted -->\n";

/// The document as committed.
pub(super) struct Document {
    text: String,
}

impl Document {
    pub(super) fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        Ok(Self { text })
    }

    /// Returns the committed instructions of a case.
    pub(super) fn committed(&self, case: &str) -> Option<u64> {
        self.cell(case, 1)?.replace(',', "").parse().ok()
    }

    /// Replaces the counts. The times stay: another command measures them.
    pub(super) fn write(&self, path: &Path, counts: &[Count]) -> Result<()> {
        let (before, rest) = self
            .text
            .split_once(BEGIN)
            .context("cannot write the counts: no <!-- counted --> in the file")?;
        let (_, after) = rest
            .split_once(END)
            .context("cannot write the counts: no <!-- /counted --> in the file")?;
        let text = format!("{before}{BEGIN}{}{END}{after}", self.tables(counts)?);
        std::fs::write(path, text).with_context(|| path.display().to_string())
    }

    fn tables(&self, counts: &[Count]) -> Result<String> {
        let mut text = String::from("\n| case | instructions | limit | ns |\n|---|---|---|---|\n");
        for (case, count) in CASES.iter().zip(counts) {
            let Count { name, instructions, .. } = count;
            let limit = case.limit.map_or_else(String::new, |limit| limit.to_string());
            let time = self.cell(name, 3).unwrap_or_default();
            writeln!(text, "| {name} | {instructions} | {limit} | {time} |")?;
        }
        text += "\nThe markets consist of these packets:\n\n| case | packets |\n|---|---|\n";
        let is_market =
            |count: &&Count| count.shares.is_empty() && count.census.contains("packets=");
        for Count { name, census, .. } in counts.iter().filter(is_market) {
            writeln!(text, "| {name} | {census} |")?;
        }
        for Count { name, census, shares, .. } in counts {
            if shares.is_empty() {
                continue;
            }
            write!(
                text,
                "\n### {name}\n\n{census}\n\n| instructions | source | part of |\n|---|---|---|\n"
            )?;
            for share in shares {
                let (whole, tenth) = (share.tenths / 10, share.tenths % 10);
                let (source, function) = (&share.source, &share.function);
                writeln!(text, "| {whole}.{tenth} | {source} | `{function}` |")?;
            }
        }
        text.push('\n');
        Ok(text)
    }

    /// Returns a cell of the table of counts.
    fn cell(&self, case: &str, column: usize) -> Option<&str> {
        let (_, counted) = self.text.split_once(BEGIN)?;
        let rows = counted.lines().map(|line| line.trim_matches('|').split('|').map(str::trim));
        rows.into_iter().find(|row| row.clone().next() == Some(case))?.nth(column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(name: &'static str) -> Count {
        let (census, shares) = ("events=1".to_owned(), Vec::new());
        Count { name, instructions: 500, tenths: 5_000, census, shares }
    }

    #[test]
    fn write_keeps_times_and_text() {
        let row = "| one-entry | 1,490 | 600 | 44.1 |\n";
        let text = format!("Text.\n{BEGIN}{row}{END}More text.\n");
        let before = Document { text };
        assert_eq!(before.committed("one-entry"), Some(1_490));
        assert_eq!(before.committed("no-entry"), None);

        let folder = std::env::temp_dir().join(format!("hairpin-document-{}", std::process::id()));
        before.write(&folder, &[count("one-entry")]).expect("a file");
        let after = Document::read(&folder).expect("the same file");
        std::fs::remove_file(&folder).expect("the file exists");
        assert_eq!(after.committed("one-entry"), Some(500));
        assert_eq!(after.cell("one-entry", 3), Some("44.1"));
        assert!(after.text.starts_with("Text.\n") && after.text.ends_with("More text.\n"));
    }
}
