//! The ratios of a comparison as a chart of characters.

use crate::text_table::shortened;
use crate::{Ratio, Style};

/// The width of a chart that is not on a terminal.
const USUAL: usize = 100;
/// The least width of the scale.
const SCALE_MIN: usize = 20;
/// The width of a ratio with the space around it.
const FIGURE: usize = 9;

/// Draws a line per ratio: its name, the interval with the ratio on a common scale, the ratio.
pub(super) fn draw(ratios: &[(String, &Ratio)], style: Style) -> String {
    if ratios.is_empty() {
        return String::new();
    }
    let columns = style.columns().unwrap_or(USUAL);
    let widest = ratios.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let names = widest.min(columns.saturating_sub(SCALE_MIN + FIGURE));
    let scale = columns.saturating_sub(names + FIGURE).clamp(SCALE_MIN, USUAL);
    let ends = ratios.iter().flat_map(|(_, ratio)| [ratio.low, ratio.high, 1.0]);
    let [low, high] = ends
        .fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], end| [low.min(end), high.max(end)]);
    let place = |ratio: f64| match high > low {
        true => ((ratio - low) / (high - low) * (scale - 1) as f64).round() as usize,
        false => 0,
    };
    let heading = "quiet ratios B / A, with interval; left of |, B is faster\n";
    let mut text = style.wrap(heading);
    for (name, ratio) in ratios {
        let mut line = vec![' '; scale];
        let [from, to] = [place(ratio.low), place(ratio.high)];
        line[from..=to].fill('-');
        (line[from], line[to]) = ('[', ']');
        line[place(1.0)] = '|';
        line[place(ratio.ratio)] = 'o';
        let (name, line) = (shortened(name, names), line.into_iter().collect::<String>());
        text += &format!("{name:<names$} {line} {:>6.3}\n", ratio.ratio);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_ratios_on_a_common_scale() {
        let slower = Ratio { ratio: 1.5, low: 1.25, high: 2.0 };
        let equal = Ratio { ratio: 1.0, low: 1.0, high: 1.25 };
        let ratios = [("spin".to_owned(), &slower), ("epoll".to_owned(), &equal)];
        let text = draw(&ratios, Style::Terminal { columns: 35 });
        let expected = "\nspin  |    [----o---------]  1.500\n\
                        epoll o----]                 1.000\n";
        assert!(text.ends_with(expected), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 35), "{text}");
        assert_eq!(draw(&[], Style::Plain), "");
    }
}
