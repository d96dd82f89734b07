//! One colour and one dash per wait, in every picture.

/// How the line of a wait is drawn.
///
/// The colours are apart for each kind of colour blindness (after the palette of Okabe and Ito,
/// darkened until each stands out from white paper at 3:1 or more, lightened for a dark screen);
/// the dashes are apart without any colour.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ink {
    /// Class of its elements, for what a style sheet has to say.
    pub(crate) class: &'static str,
    /// On light ground.
    pub(crate) light: &'static str,
    /// On dark ground.
    pub(crate) dark: &'static str,
    /// Lengths of strokes and gaps in pixels; `none` is a line without gaps.
    pub(crate) dash: &'static str,
}

/// A wait that this version does not know is drawn in the last.
const INKS: [(&str, Ink); 6] = [
    ("block", ink("block", "#0067a5", "#5cb3ec", "2 2.5")),
    ("poll", ink("poll", "#c24e00", "#ff9450", "6 2.5")),
    ("epoll", ink("epoll", "#007f5f", "#35c795", "12 3")),
    ("io_uring", ink("io-uring", "#a53c7f", "#ec97cb", "9 2.5 2 2.5")),
    ("spin", ink("spin", "#111111", "#f2f2f2", "none")),
    ("", ink("other", "#7a6200", "#d6bd52", "4 2 1 2 1 2")),
];

const fn ink(
    class: &'static str,
    light: &'static str,
    dark: &'static str,
    dash: &'static str,
) -> Ink {
    Ink { class, light, dark, dash }
}

impl Ink {
    /// The ink of a wait.
    pub(crate) fn of(wait: &str) -> Self {
        let known = INKS.iter().find(|(name, _)| *name == wait);
        known.map_or(INKS[INKS.len() - 1].1, |(_, ink)| *ink)
    }
}

/// Ink of what is no data: text, text of lesser rank, grid, paper. Class, on light, on dark ground.
const REST: [(&str, &str, &str); 4] = [
    ("words", "#1c1c1c", "#e8e8e8"),
    ("quiet", "#5a5a5a", "#a9b0b7"),
    ("grid", "#dcdcdc", "#343b42"),
    ("paper", "#ffffff", "#14181c"),
];

/// The colour on light ground of what is no data.
pub(crate) const WORDS: &str = REST[0].1;
pub(crate) const QUIET: &str = REST[1].1;
pub(crate) const GRID: &str = REST[2].1;
pub(crate) const PAPER: &str = REST[3].1;

/// What a dark screen needs changed. Paper stays white, and so does whatever ignores it.
pub(crate) fn dark_style() -> String {
    let waits = INKS.iter().map(|(_, ink)| {
        let Ink { class, dark, .. } = ink;
        format!(".stroke-{class}{{stroke:{dark}}}.fill-{class}{{fill:{dark}}}")
    });
    let rest = REST.iter().map(|(class, _, dark)| {
        format!(".stroke-{class}{{stroke:{dark}}}.fill-{class}{{fill:{dark}}}")
    });
    let rules: String = waits.chain(rest).collect();
    format!("@media screen and (prefers-color-scheme:dark){{{rules}}}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance as WCAG 2.2 defines it.
    fn luminance(colour: &str) -> f64 {
        let channel = |at: usize| {
            let part = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    fn contrast(one: &str, other: &str) -> f64 {
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    #[test]
    fn lines_and_labels_stand_out_from_their_ground() {
        for (wait, ink) in INKS {
            // 4.5:1 is what WCAG asks of text, and labels are in the colour of their lines.
            assert!(contrast(ink.light, PAPER) >= 4.5, "{wait}: {}", contrast(ink.light, PAPER));
            assert!(contrast(ink.dark, REST[3].2) >= 4.5, "{wait}");
        }
        assert!(contrast(QUIET, PAPER) >= 4.5 && contrast(REST[1].2, REST[3].2) >= 4.5);
    }

    #[test]
    fn no_two_waits_look_alike() {
        for (at, (_, ink)) in INKS.iter().enumerate() {
            for (_, other) in &INKS[at + 1..] {
                assert_ne!(ink.dash, other.dash);
                assert_ne!((ink.class, ink.light), (other.class, other.light));
            }
        }
    }
}
