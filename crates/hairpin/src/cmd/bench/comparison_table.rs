//! Text tables with published figures next to ours.

use std::fmt::Write;

use hairpin_measure::{Host, Row};

/// One column of a table.
pub(super) struct Column {
    pub(super) heading: String,
    /// A cell for each line name; the last is a note below the table. A column may have fewer
    /// cells.
    pub(super) cells: Vec<String>,
}

/// Renders columns side by side; the first `published` of them are the published ones. The last
/// name is that of the note.
pub(super) fn drawn(names: &[&str], columns: &[Column], published: usize) -> String {
    let shown = names.len().saturating_sub(1);
    let width = |column: &Column| {
        let cells = column.cells.iter().take(shown);
        cells.chain([&column.heading]).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = columns.iter().map(width).collect();
    let first = names[..shown].iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let line = |name: &str, cell: &dyn Fn(&Column) -> String| {
        let mut text = format!("  {name:<first$}");
        for (place, (column, width)) in columns.iter().zip(&widths).enumerate() {
            let border = if place == published { " |" } else { "" };
            let _ = write!(text, "{border}  {:>width$}", cell(column));
        }
        text.trim_end().to_owned() + "\n"
    };
    let mut text = line("", &|column| column.heading.clone());
    for (place, name) in names[..shown].iter().enumerate() {
        text += &line(name, &|column| column.cells.get(place).cloned().unwrap_or_default());
    }
    for column in columns.iter().filter(|column| column.cells.len() == names.len()) {
        if let Some(note) = column.cells.last().filter(|note| !note.is_empty()) {
            let _ = writeln!(text, "  {}: {note}", column.heading);
        }
    }
    text
}

/// Returns the reason why a row may not count, or an empty text.
pub(super) fn note(row: &Row) -> String {
    let failed = row.failed.as_ref().map(|reason| format!("failed: {reason}"));
    let late = (row.late && row.failed.is_none()).then(|| "late".to_owned());
    let interrupted = row.interrupted.then(|| "interrupted".to_owned());
    [failed, late, interrupted].into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// Describes this machine and the cores of the two named processes.
pub(super) fn here(host: &Host, row: Option<&Row>, [first, second]: [&str; 2]) -> String {
    let hosts = row.and_then(|row| row.ground.as_deref()).unwrap_or("an unknown hosts");
    let bound = match row.and_then(|row| row.cores) {
        Some([one, other]) => format!("{first} on core {one}, {second} on core {other}"),
        None => "no thread pinned".to_owned(),
    };
    let machine = if host.virtualised { "virtual machine" } else { "machine" };
    format!(
        "here: {}, {} cores, {machine}, Linux {}; {hosts};\n{bound}.",
        host.cpu, host.cores, host.kernel
    )
}
