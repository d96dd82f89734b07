//! Text tables with published figures next to ours.

use std::fmt::Write;

use hairpin_measure::{Figure, Host, Row};

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

/// Returns the median over rounds of the ratio of a figure of two rows.
pub(super) fn median_ratio([over, under]: [&Row; 2], figure: Figure) -> Option<f64> {
    let rounds = over.by_round.iter().zip(&under.by_round);
    let ratios = rounds.filter_map(|(a, b)| Some(a.figure(figure)? / b.figure(figure)?));
    let mut ratios: Vec<f64> = ratios.filter(|ratio| ratio.is_finite()).collect();
    ratios.sort_unstable_by(f64::total_cmp);
    let middle = ratios.len() / 2;
    match ratios.len() % 2 {
        _ if ratios.is_empty() => None,
        0 => Some(f64::midpoint(ratios[middle - 1], ratios[middle])),
        _ => Some(ratios[middle]),
    }
}

/// Returns the reason why a row may not count, or an empty text.
pub(super) fn note(row: &Row) -> String {
    let failed = row.failed.as_ref().map(|reason| format!("failed: {reason}"));
    let late = (row.late && row.failed.is_none()).then(|| "late".to_owned());
    let interrupted = row.interrupted.then(|| "interrupted".to_owned());
    [failed, late, interrupted].into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// Groups pairs of reason and case by reason. Pairs without a reason are left out.
pub(super) fn grouped(notes: impl Iterator<Item = (String, String)>) -> Vec<(String, Vec<String>)> {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for (reason, case) in notes.filter(|(reason, _)| !reason.is_empty()) {
        match groups.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, cases)) if cases.contains(&case) => {}
            Some((_, cases)) => cases.push(case),
            None => groups.push((reason, vec![case])),
        }
    }
    groups
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
