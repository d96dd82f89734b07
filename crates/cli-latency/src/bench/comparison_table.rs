//! Text tables with published figures next to ours.

use std::fmt::Write;

#[cfg(test)]
use hairpin_host::HostFacts;
#[cfg(test)]
use hairpin_measure::Timestamping;
use hairpin_measure::{Figure, Host, Row, Style};

/// One column of a table.
pub(super) struct Column {
    pub(super) heading: String,
    /// A cell for each line name; the last is a note below the table. A column may have fewer
    /// cells.
    pub(super) cells: Vec<String>,
}

/// Renders columns side by side; the first `published` of them are the published ones. The last
/// name is that of the note. Columns that a terminal has no room for continue below the others.
pub(super) fn drawn(names: &[&str], columns: &[Column], published: usize, style: Style) -> String {
    let shown = names.len().saturating_sub(1);
    let width = |column: &Column| {
        let cells = column.cells.iter().take(shown);
        cells.chain([&column.heading]).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = columns.iter().map(width).collect();
    let first = names[..shown].iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    let mut begin = 0;
    while begin < columns.len() || begin == 0 {
        let room = style.columns().unwrap_or(usize::MAX);
        let end = begin + fitting(&widths[begin..], room.saturating_sub(MARGIN + first));
        let line = |name: &str, cell: &dyn Fn(&Column) -> String| {
            let mut text = format!("{:MARGIN$}{name:<first$}", "");
            for place in begin..end {
                let border = if place == published && place > begin { " |" } else { "" };
                let _ = write!(
                    text,
                    "{border}  {:>width$}",
                    cell(&columns[place]),
                    width = widths[place]
                );
            }
            text.trim_end().to_owned() + "\n"
        };
        text += &line("", &|column| column.heading.clone());
        for (place, name) in names[..shown].iter().enumerate() {
            text += &line(name, &|column| column.cells.get(place).cloned().unwrap_or_default());
        }
        begin = end.max(begin + 1);
    }
    for column in columns.iter().filter(|column| column.cells.len() == names.len()) {
        if let Some(note) = column.cells.last().filter(|note| !note.is_empty()) {
            text += &style.wrap(&format!("  {}: {note}\n", column.heading));
        }
    }
    text
}

/// The space left of the names.
const MARGIN: usize = 2;

/// Returns the number of columns that fit, at least one, with room for the border.
fn fitting(widths: &[usize], room: usize) -> usize {
    const BORDER: usize = 2;
    let mut used = BORDER;
    let fits = |width: &&usize| {
        used += 2 + **width;
        used <= room
    };
    widths.iter().take_while(fits).count().max(usize::from(!widths.is_empty()))
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

/// A machine for the tests of tables, so that no line depends on the one that runs them.
#[cfg(test)]
pub(super) fn host() -> Host {
    let facts = HostFacts {
        cpu: "A Processor".to_owned(),
        cores: 2,
        kernel: "6.12.1".to_owned(),
        virtualised: true,
        tsc_hz: None,
        governor: None,
    };
    Host::new(facts, "veth", Timestamping::Software)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_without_room_continue_below() {
        let column = |heading: &str, cell: &str| Column {
            heading: heading.to_owned(),
            cells: vec![cell.to_owned(), "late".to_owned()],
        };
        let columns: Vec<Column> =
            (0..9).map(|number| column(&format!("transport {number}"), "123.45")).collect();
        for (width, blocks) in [(60, 3), (80, 2), (100, 2), (120, 2), (160, 1)] {
            let text = drawn(&["min", ""], &columns, 3, Style::Terminal { columns: width });
            assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
            assert_eq!(text.matches("123.45").count(), 9, "{text}");
            assert_eq!(text.matches("  min ").count(), blocks, "{width}: {text}");
        }
        let plain = drawn(&["min", ""], &columns, 3, Style::Plain);
        assert!(plain.lines().nth(1).is_some_and(|line| line.contains(" |  ")), "{plain}");
    }
}
