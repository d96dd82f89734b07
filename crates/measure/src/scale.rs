//! The axes of charts: the mapping from values to pixels, and ticks.

/// An axis that maps a range of values to a range of pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    form: Form,
    values: [f64; 2],
    pixels: [f64; 2],
}

/// The mapping of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Equal differences have equal distances.
    Linear,
    /// Equal ratios have equal distances.
    Log,
}

impl Scale {
    /// Returns an axis from `values`, the lesser first, to `pixels`. A range of a single value is
    /// widened. A logarithmic axis starts at 1 or more.
    pub(crate) fn new(form: Form, values: [f64; 2], pixels: [f64; 2]) -> Self {
        let [mut from, mut to] = values;
        match form {
            Form::Log => {
                (from, to) = (from.max(1.0), to.max(1.0));
                if to / from < 1.02 {
                    (from, to) = ((from / 1.1).max(0.5), to * 1.1);
                }
            }
            Form::Linear if to - from <= f64::EPSILON => (from, to) = (from - 1.0, to + 1.0),
            Form::Linear => {}
        }
        Self { form, values: [from, to], pixels }
    }

    /// Returns the same axis at other pixels.
    pub(crate) fn with_pixels(self, pixels: [f64; 2]) -> Self {
        Self { pixels, ..self }
    }

    /// Returns the position of a value. Values outside the range are at its ends.
    pub(crate) fn position(&self, value: f64) -> f64 {
        let [from, to] = self.values.map(|value| self.transform(value));
        let part = ((self.transform(value) - from) / (to - from)).clamp(0.0, 1.0);
        self.pixels[0] + part * (self.pixels[1] - self.pixels[0])
    }

    /// Returns the values at both ends.
    pub(crate) fn values(&self) -> [f64; 2] {
        self.values
    }

    /// Returns the positions of both ends.
    pub(crate) fn pixels(&self) -> [f64; 2] {
        self.pixels
    }

    /// Returns the mapping.
    pub(crate) fn form(&self) -> Form {
        self.form
    }

    fn transform(&self, value: f64) -> f64 {
        match self.form {
            Form::Linear => value,
            Form::Log => value.max(self.values[0]).log10(),
        }
    }

    /// Returns at most `max` round values within the range.
    pub(crate) fn ticks(&self, max: usize) -> Vec<f64> {
        match self.form {
            Form::Linear => linear_ticks(self.values, max),
            Form::Log => log_ticks(self.values, max),
        }
    }
}

/// Returns ticks with a step of 1, 2 or 5 times a power of ten.
fn linear_ticks([from, to]: [f64; 2], max: usize) -> Vec<f64> {
    let magnitude = 10_f64.powf(((to - from) / max as f64).log10().floor());
    let ticks = |step: f64| {
        let (first, last) = ((from / step - 1e-9).ceil() as i64, (to / step + 1e-9).floor() as i64);
        (first..=last).map(|number| number as f64 * step).collect::<Vec<_>>()
    };
    let steps = [1.0, 2.0, 5.0, 10.0, 20.0].map(|step| ticks(step * magnitude));
    steps.into_iter().find(|ticks| ticks.len() <= max).unwrap_or_default()
}

/// Returns ticks at 1, 2 and 5 in each decade, or at fewer values, as `max` allows. A range of less
/// than a decade may have equal steps.
fn log_ticks([from, to]: [f64; 2], max: usize) -> Vec<f64> {
    let decades = from.log10().floor() as i32..=to.log10().ceil() as i32;
    let within = |ticks: &[f64], every: usize| -> Vec<f64> {
        let powers = decades.clone().filter(|power| power.rem_euclid(every as i32) == 0);
        let all = powers.flat_map(|power| ticks.iter().map(move |tick| tick * 10_f64.powi(power)));
        all.filter(|tick| (from * 0.999..=to * 1.001).contains(tick)).collect()
    };
    let candidates = [
        within(&[1.0, 2.0, 5.0], 1),
        within(&[1.0, 3.0], 1),
        within(&[1.0], 1),
        within(&[1.0], 2),
        within(&[1.0], 3),
    ];
    match candidates.into_iter().find(|ticks| (2..=max).contains(&ticks.len())) {
        Some(ticks) => ticks,
        None => linear_ticks([from, to], max),
    }
}

/// Formats a number with commas between thousands.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats nanoseconds as microseconds, with up to three decimals.
pub(crate) fn tick_micros(nanos: f64) -> String {
    let nanos = nanos.max(0.0).round() as u64;
    let decimals = format!("{:03}", nanos % 1_000);
    match decimals.trim_end_matches('0') {
        "" => thousands(nanos / 1_000),
        decimals => format!("{}.{decimals}", thousands(nanos / 1_000)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_between_the_ends() {
        let log = Scale::new(Form::Log, [10.0, 1_000.0], [100.0, 0.0]);
        assert_eq!(
            [1.0, 10.0, 100.0, 1_000.0, 1e9].map(|value| log.position(value)),
            [100.0, 100.0, 50.0, 0.0, 0.0]
        );
        let linear = Scale::new(Form::Linear, [0.0, 4.0], [0.0, 40.0]);
        assert_eq!(linear.position(3.0), 30.0);
    }

    #[test]
    fn single_value_gives_a_valid_axis() {
        for form in [Form::Linear, Form::Log] {
            for value in [0.0, 7.0, 6e10] {
                let scale = Scale::new(form, [value, value], [0.0, 100.0]);
                assert!(scale.position(value).is_finite() && scale.position(value) >= 0.0);
                assert!(!scale.ticks(5).is_empty(), "{form:?} {value}");
            }
        }
    }

    #[test]
    fn ticks_are_round_and_few() {
        let ticks = |form, values, max| Scale::new(form, values, [0.0, 1.0]).ticks(max);
        assert_eq!(ticks(Form::Linear, [0.0, 20_000.0], 5), [0.0, 5e3, 1e4, 15e3, 2e4]);
        assert_eq!(ticks(Form::Log, [8e3, 6e4], 6), [1e4, 2e4, 5e4]);
        assert_eq!(ticks(Form::Log, [8e3, 6e6], 3), [1e4, 1e5, 1e6]);
        assert_eq!(ticks(Form::Log, [5.0, 6e10], 6), [1e2, 1e4, 1e6, 1e8, 1e10]);
        assert_eq!(ticks(Form::Log, [41e3, 44e3], 5), [41e3, 42e3, 43e3, 44e3]);
    }

    #[test]
    fn numbers_are_formatted_for_people() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
        let micros = [0.0, 20.0, 500.0, 12_500.0, 1e9].map(tick_micros);
        assert_eq!(micros, ["0", "0.02", "0.5", "12.5", "1,000,000"]);
    }
}
