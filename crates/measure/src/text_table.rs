//! Text tables that fit a terminal.

use std::io::{IsTerminal, stderr, stdout};

use comfy_table::{CellAlignment, TableStyle, presets};

/// The style of a table, and of the text around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Columns separated by spaces and complete lines, for files and other programs.
    Plain,
    /// Text for a terminal of `columns` characters: borders where they fit, else fewer columns.
    Terminal {
        /// The characters in a line.
        columns: usize,
    },
}

/// The width of a terminal that does not report its width.
const USUAL: usize = 80;

impl Style {
    /// Returns [`Self::Terminal`] with its width if standard output is a terminal, otherwise
    /// [`Self::Plain`].
    #[must_use]
    pub fn for_stdout() -> Self {
        Self::of(stdout().is_terminal(), terminal_size::terminal_size_of(stdout()))
    }

    /// Returns the same for standard error.
    #[must_use]
    pub fn for_stderr() -> Self {
        Self::of(stderr().is_terminal(), terminal_size::terminal_size_of(stderr()))
    }

    fn of(is_terminal: bool, size: Option<(terminal_size::Width, terminal_size::Height)>) -> Self {
        let columns = size.map_or(USUAL, |(width, _)| usize::from(width.0));
        if is_terminal { Self::Terminal { columns } } else { Self::Plain }
    }

    /// Returns the width of the terminal; `None` if lines may have any length.
    #[must_use]
    pub const fn columns(self) -> Option<usize> {
        match self {
            Self::Plain => None,
            Self::Terminal { columns } => Some(columns),
        }
    }

    /// Joins the lines of a paragraph for a terminal, whose width is another; keeps the line ends
    /// before and after it. [`wrap`](Self::wrap) breaks it again.
    #[must_use]
    pub fn paragraph(self, text: &str) -> String {
        let Self::Terminal { .. } = self else { return text.to_owned() };
        let body = text.trim_matches('\n');
        text.replace(body, &body.replace('\n', " "))
    }

    /// Breaks the lines of a text at spaces so that they fit. Continued lines are indented.
    #[must_use]
    pub fn wrap(self, text: &str) -> String {
        let Some(columns) = self.columns() else { return text.to_owned() };
        text.split_inclusive('\n').map(|line| wrap_line(line, columns)).collect()
    }
}

fn wrap_line(line: &str, columns: usize) -> String {
    let (text, end) = line.strip_suffix('\n').map_or((line, ""), |text| (text, "\n"));
    if width(text) <= columns {
        return line.to_owned();
    }
    let indent = " ".repeat(text.len() - text.trim_start().len());
    let lines = wrapped(text.trim_start(), columns.saturating_sub(indent.len() + 2).max(1));
    indent.clone() + &lines.join(&format!("\n{indent}  ")) + end
}

/// Breaks a text at spaces into lines of at most `columns` characters. A longer word has a line of
/// its own.
pub(crate) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(word) <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    lines
}

/// A table whose columns have an order in which they are dropped.
///
/// On a terminal, the table has borders if they fit. Otherwise it has none, and drops one column
/// after the other, those of the highest rank first, until it fits; a line below names them. If the
/// columns of rank zero alone do not fit, words are cut, and figures never.
#[derive(Debug, Default)]
pub struct TextTable {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
    never_bordered: bool,
}

#[derive(Debug)]
struct Column {
    heading: String,
    alignment: CellAlignment,
    rank: u8,
}

/// The space between two columns without borders.
const GAP: usize = 2;
/// The least width to which words are cut.
const CUT: usize = 6;

impl TextTable {
    /// Returns the table without borders, whatever the width.
    #[must_use]
    pub fn without_borders(self) -> Self {
        Self { never_bordered: true, ..self }
    }

    /// Adds a column of figures, which are right-aligned. `rank` is zero if it is never dropped.
    pub fn add_figures(&mut self, heading: &str, rank: u8) {
        self.add(heading, CellAlignment::Right, rank);
    }

    /// Adds a column of words.
    pub fn add_words(&mut self, heading: &str, rank: u8) {
        self.add(heading, CellAlignment::Left, rank);
    }

    fn add(&mut self, heading: &str, alignment: CellAlignment, rank: u8) {
        self.columns.push(Column { heading: heading.to_owned(), alignment, rank });
    }

    /// Adds a row with a cell for each column.
    pub fn add_row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Returns `true` if the table has no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the table as text, ending with a line feed.
    #[must_use]
    pub fn render(&self, style: Style) -> String {
        let all: Vec<usize> = (0..self.columns.len()).collect();
        let Some(columns) = style.columns() else {
            return self.draw(&all, presets::NOTHING, 0, usize::MAX);
        };
        let bordered = |shown: &[usize]| self.width(shown) + shown.len() * (3 - GAP) + 3;
        if !self.never_bordered && bordered(&all) <= columns {
            return self.draw(&all, presets::UTF8_FULL_CONDENSED, 0, usize::MAX);
        }
        let mut shown = all;
        let mut dropped = Vec::new();
        while self.width(&shown) > columns
            && let Some(place) = self.next_to_drop(&shown)
        {
            dropped.push(shown.remove(place));
        }
        let excess = self.width(&shown).saturating_sub(columns);
        let text = self.draw(&shown, presets::NOTHING, 1, self.cut(&shown, excess));
        dropped.sort_unstable();
        let names: Vec<&str> =
            dropped.iter().map(|&index| self.columns[index].heading.as_str()).collect();
        match names.is_empty() {
            true => text,
            false => text + &style.wrap(&format!("too wide, not shown: {}\n", names.join(", "))),
        }
    }

    /// Returns the place of the column with the highest rank, the last of equal ones.
    fn next_to_drop(&self, shown: &[usize]) -> Option<usize> {
        let rank = |place: &usize| self.columns[shown[*place]].rank;
        (0..shown.len()).max_by_key(rank).filter(|place| rank(place) > 0)
    }

    /// Returns the width without borders.
    fn width(&self, shown: &[usize]) -> usize {
        let widths = shown.iter().map(|&index| self.column_width(index));
        widths.sum::<usize>() + GAP * shown.len().saturating_sub(1)
    }

    fn column_width(&self, index: usize) -> usize {
        let cells = self.rows.iter().map(|row| width(&row[index]));
        cells.chain([width(&self.columns[index].heading)]).max().unwrap_or(0)
    }

    /// Returns the width to which words are cut to save `excess` characters.
    fn cut(&self, shown: &[usize], excess: usize) -> usize {
        let words = || shown.iter().filter(|&&index| self.is_words(index));
        let saved = |limit: usize| {
            let over = words().map(|&index| self.column_width(index).saturating_sub(limit));
            over.sum::<usize>()
        };
        let widest = words().map(|&index| self.column_width(index)).max().unwrap_or(CUT);
        (CUT..=widest.max(CUT)).rev().find(|&limit| saved(limit) >= excess).unwrap_or(CUT)
    }

    fn is_words(&self, index: usize) -> bool {
        self.columns[index].alignment == CellAlignment::Left
    }

    /// Draws these columns, without the first `margin` characters of each line.
    fn draw(&self, shown: &[usize], preset: TableStyle, margin: usize, limit: usize) -> String {
        let cell = |index: usize, text: &str| match self.is_words(index) {
            true => shortened(text, limit),
            false => text.to_owned(),
        };
        let mut table = comfy_table::Table::new();
        table.load_style(preset);
        table.set_header(shown.iter().map(|&index| cell(index, &self.columns[index].heading)));
        for row in &self.rows {
            table.add_row(shown.iter().map(|&index| cell(index, &row[index])));
        }
        for (column, &index) in table.column_iter_mut().zip(shown) {
            column.set_cell_alignment(self.columns[index].alignment);
        }
        let line =
            |line: String| line.trim_end().chars().skip(margin).chain(['\n']).collect::<String>();
        table.lines().map(line).collect()
    }
}

fn width(text: &str) -> usize {
    text.chars().count()
}

/// Cuts a text to `limit` characters, the last of which is then an ellipsis.
pub(crate) fn shortened(text: &str, limit: usize) -> String {
    if width(text) <= limit {
        return text.to_string();
    }
    text.chars().take(limit.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The widths of usual terminals.
    const WIDTHS: [usize; 5] = [60, 80, 100, 120, 160];

    fn widest(text: &str) -> usize {
        text.lines().map(width).max().unwrap_or(0)
    }

    #[test]
    fn paragraph_is_joined_for_a_terminal_alone() {
        let text = "\none two\nthree\nfour\n";
        assert_eq!(Style::Plain.paragraph(text), text);
        let terminal = Style::Terminal { columns: 14 };
        assert_eq!(terminal.paragraph(text), "\none two three four\n");
        assert_eq!(terminal.wrap(&terminal.paragraph(text)), "\none two\n  three four\n");
    }

    /// Returns a table of two columns that stay and ten that are dropped from the right.
    fn table() -> TextTable {
        let mut table = TextTable::default();
        table.add_words("wait", 0);
        (1..=10).for_each(|rank| table.add_figures(&format!("figure {rank}"), rank));
        table.add_figures("p50", 0);
        let figures = std::iter::repeat_n("1234567.89".to_owned(), 11);
        table.add_row(std::iter::once("io_uring".to_owned()).chain(figures));
        table
    }

    #[test]
    fn narrow_terminals_drop_the_highest_ranks() {
        for (columns, kept) in [(60, 3), (80, 5), (100, 6), (120, 8), (160, 10)] {
            let text = table().render(Style::Terminal { columns });
            assert!(widest(&text) <= columns, "{columns}: {text}");
            let heading = text.lines().find(|line| line.contains("p50")).unwrap();
            for rank in 1..=10 {
                let is_shown = heading.contains(&format!("figure {rank} "));
                assert_eq!(is_shown, rank <= kept, "{columns}, {rank}: {text}");
            }
            assert_eq!(text.matches("1234567.89").count(), kept + 1, "{columns}: {text}");
            let note: Vec<String> = (kept + 1..=10).map(|rank| format!("figure {rank}")).collect();
            let note = format!("too wide, not shown: {}", note.join(", "));
            let words: Vec<&str> = text.split_whitespace().collect();
            assert_eq!(words.join(" ").contains(&note), kept < 10, "{columns}: {text}");
        }
        let plain = table().render(Style::Plain);
        assert_eq!((plain.lines().count(), plain.matches("1234567.89").count()), (2, 11));
    }

    #[test]
    fn borders_are_drawn_where_they_fit() {
        let mut table = TextTable::default();
        table.add_words("wait", 0);
        table.add_figures("p50", 0);
        table.add_row(["spin", "12.00"].map(str::to_owned));
        let at = |columns| table.render(Style::Terminal { columns });
        let bordered = at(16);
        assert_eq!(widest(&bordered), 16, "{bordered}");
        assert!(bordered.starts_with('┌'), "{bordered}");
        assert_eq!(at(15), "wait    p50\nspin  12.00\n");
    }

    #[test]
    fn words_are_cut_and_figures_never() {
        let mut table = TextTable::default();
        table.add_words("case", 0);
        table.add_figures("p50", 0);
        table.add_row(["intended to order", "123456.78"].map(str::to_owned));
        assert_eq!(
            table.render(Style::Terminal { columns: 20 }),
            "case             p50\nintended…  123456.78\n"
        );
    }

    #[test]
    fn prose_is_broken_at_spaces() {
        assert_eq!(wrapped("aa bb cc", 5), ["aa bb", "cc"]);
        assert_eq!(wrapped("aaaaaaaa b", 5), ["aaaaaaaa", "b"]);
        let text = "core 0: 22 interruptions in 0.2 s, longest 164071.32 µs\n".repeat(3);
        for columns in WIDTHS {
            let style = Style::Terminal { columns };
            assert!(widest(&style.wrap(&text)) <= columns);
        }
        let style = Style::Terminal { columns: 10 };
        assert_eq!(style.wrap(" aa bb cc dd"), " aa bb\n   cc dd");
        assert_eq!(Style::Plain.wrap(&text), text);
    }
}
