//! The style of series: a color and a dash per wait, the same in every chart.

/// The style of a series.
///
/// The colors are distinguishable with every kind of color blindness: the palette of Okabe and Ito,
/// darkened to a contrast of at least 4.5:1 on white, and lightened for dark screens. The dashes
/// are
/// distinguishable without color.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SeriesStyle {
    /// The class of its elements, for style sheets.
    pub(crate) class: &'static str,
    /// The color on a light background.
    pub(crate) light: &'static str,
    /// The color on a dark background.
    pub(crate) dark: &'static str,
    /// The lengths of dashes and gaps in pixels; `none` for a solid line.
    pub(crate) dash: &'static str,
}

/// The styles of the waits. The last one is for unknown waits.
const STYLES: [(&str, SeriesStyle); 6] = [
    ("block", style("block", "#0067a5", "#5cb3ec", "2 2.5")),
    ("poll", style("poll", "#c24e00", "#ff9450", "6 2.5")),
    ("epoll", style("epoll", "#007f5f", "#35c795", "12 3")),
    ("io_uring", style("io-uring", "#a53c7f", "#ec97cb", "9 2.5 2 2.5")),
    ("spin", style("spin", "#111111", "#f2f2f2", "none")),
    ("", style("other", "#7a6200", "#d6bd52", "4 2 1 2 1 2")),
];

const fn style(
    class: &'static str,
    light: &'static str,
    dark: &'static str,
    dash: &'static str,
) -> SeriesStyle {
    SeriesStyle { class, light, dark, dash }
}

impl SeriesStyle {
    /// Returns the style of a wait.
    pub(crate) fn for_wait(wait: &str) -> Self {
        let known = STYLES.iter().find(|(name, _)| *name == wait);
        known.map_or(STYLES[STYLES.len() - 1].1, |(_, style)| *style)
    }

    /// Returns the style of a protocol, for charts whose lines are protocols. Its dash is unused.
    pub(crate) fn for_protocol(protocol: &str) -> Self {
        /// The protocols, in the order of [`STYLES`].
        const PROTOCOLS: [&str; 5] = ["udp", "tcp", "rds", "raw", "rds-ethernet"];
        let known = PROTOCOLS.iter().position(|known| *known == protocol);
        STYLES[known.unwrap_or(STYLES.len() - 1)].1
    }
}

/// The colors of other elements: text, axes and captions, grid, background. Each has a class, a
/// color on light and a color on dark.
const REST: [(&str, &str, &str); 4] = [
    ("text", "#1c1c1c", "#e8e8e8"),
    ("secondary", "#5a5a5a", "#a9b0b7"),
    ("grid", "#dcdcdc", "#343b42"),
    ("background", "#ffffff", "#14181c"),
];

/// The color of text on a light background.
pub(crate) const TEXT: &str = REST[0].1;
/// The color of axes and captions on a light background.
pub(crate) const SECONDARY: &str = REST[1].1;
/// The color of the grid on a light background.
pub(crate) const GRID: &str = REST[2].1;
/// The light background.
pub(crate) const BACKGROUND: &str = REST[3].1;

/// Returns the style sheet for dark screens. Paper stays white, and so do viewers without style
/// sheets.
pub(crate) fn dark_style() -> String {
    let waits = STYLES.iter().map(|(_, style)| {
        let SeriesStyle { class, dark, .. } = style;
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

    /// Returns the relative luminance of WCAG 2.2.
    fn luminance(color: &str) -> f64 {
        let channel = |at: usize| {
            let part = f64::from(u8::from_str_radix(&color[at..at + 2], 16).unwrap()) / 255.0;
            if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    fn contrast(one: &str, other: &str) -> f64 {
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    #[test]
    fn colors_have_enough_contrast() {
        for (wait, style) in STYLES {
            // WCAG requires 4.5:1 for text, and labels have the color of their series.
            assert!(
                contrast(style.light, BACKGROUND) >= 4.5,
                "{wait}: {}",
                contrast(style.light, BACKGROUND)
            );
            assert!(contrast(style.dark, REST[3].2) >= 4.5, "{wait}");
        }
        assert!(contrast(SECONDARY, BACKGROUND) >= 4.5 && contrast(REST[1].2, REST[3].2) >= 4.5);
    }

    #[test]
    fn waits_have_different_styles() {
        for (at, (_, style)) in STYLES.iter().enumerate() {
            for (_, other) in &STYLES[at + 1..] {
                assert_ne!(style.dash, other.dash);
                assert_ne!((style.class, style.light), (other.class, other.light));
            }
        }
    }
}
