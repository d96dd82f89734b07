//! The congestion window by CUBIC (RFC 9438).

use hairpin_time::{Duration, Instant};

/// The initial window in segments (RFC 6928).
const INITIAL_SEGMENTS: u32 = 10;
/// The lowest window after a loss, in segments (RFC 5681 §3.1).
const MIN_SEGMENTS: u32 = 2;
/// The upper limit of a window: more is never in flight.
const MAX: u32 = 1 << 30;
/// The longest distance from the inflection point, in milliseconds: its cube fits 64 bits.
const SPAN_MAX: i64 = 60_000;

/// The congestion window in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cubic {
    window: u32,
    threshold: u32,
    segment: u32,
    /// W_max: the window before the last reduction.
    before: u32,
    /// The start of the current epoch of congestion avoidance.
    epoch: Option<Instant>,
    /// K: the time from the epoch until the window is W_max again, in milliseconds.
    inflection: i64,
    /// W_est: the window that Reno would have.
    reno: u32,
}

impl Cubic {
    pub(crate) fn new(segment: u32) -> Self {
        let window = INITIAL_SEGMENTS * segment;
        Self { window, threshold: MAX, segment, before: 0, epoch: None, inflection: 0, reno: 0 }
    }

    pub(crate) fn window(&self) -> u32 {
        self.window
    }

    /// Returns `true` below the threshold, also after a timeout.
    pub(crate) fn is_slow_start(&self) -> bool {
        self.window < self.threshold
    }

    /// Grows the window by acknowledged bytes. Call it only if the window limited the sender.
    pub(crate) fn on_ack(&mut self, now: Instant, acked: u32, round_trip: Duration) {
        if self.is_slow_start() {
            self.window = (self.window + acked).min(MAX);
            return;
        }
        let epoch = *self.epoch.get_or_insert_with(|| {
            self.reno = self.window;
            let deficit = u64::from(self.before.saturating_sub(self.window));
            // K³ = (W_max - cwnd) / C, with C = 0.4 segments per second³.
            let cube = deficit * 10_000_000_000 / (4 * u64::from(self.segment));
            self.inflection = cube_root(cube) as i64;
            self.before = self.before.max(self.window);
            now
        });
        let time = (now - epoch + round_trip).as_millis() as i64 - self.inflection;
        let time = time.clamp(-SPAN_MAX, SPAN_MAX);
        // C·(t - K)³ in bytes; divided first, so that the product fits.
        let growth = time * time * time / 1_000 * 4 * i64::from(self.segment) / 10_000_000;
        let cubic = (i64::from(self.before) + growth).clamp(0, i64::from(MAX)) as u32;
        // Reno's growth per window is α = 3(1 - β)/(1 + β) = 0.53 segments (RFC 9438 §4.3).
        let grown = u64::from(acked) * u64::from(self.segment) * 53;
        self.reno = self.reno.saturating_add((grown / (100 * u64::from(self.window))) as u32);
        let target = cubic.max(self.reno).clamp(self.window, self.window + self.window / 2);
        let step = u64::from(target - self.window) * u64::from(acked) / u64::from(self.window);
        self.window = (self.window + step as u32).min(MAX);
    }

    /// Reduces the window after a loss (RFC 9438 §4.6, fast convergence §4.7).
    pub(crate) fn on_loss(&mut self) {
        let old = self.window;
        self.before = if old < self.before { old / 20 * 17 } else { old };
        self.threshold = (old / 10 * 7).max(MIN_SEGMENTS * self.segment);
        self.window = self.threshold;
        self.epoch = None;
    }

    /// Reduces the window to one segment after a timeout (RFC 9438 §4.8).
    pub(crate) fn on_timeout(&mut self) {
        self.on_loss();
        self.window = self.segment;
    }
}

/// Returns the integer cube root.
fn cube_root(value: u64) -> u64 {
    let (mut low, mut high) = (0_u64, 2_642_245);
    while low < high {
        let middle = (low + high).div_ceil(2);
        if middle * middle * middle <= value { low = middle } else { high = middle - 1 }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEGMENT: u32 = 1_000;

    #[test]
    fn cube_roots_are_exact() {
        for (value, root) in [(0, 0), (7, 1), (8, 2), (26, 2), (27, 3), (u64::MAX, 2_642_245)] {
            assert_eq!(cube_root(value), root);
        }
    }

    #[test]
    fn slow_start_doubles_and_loss_takes_three_tenths() {
        let mut cubic = Cubic::new(SEGMENT);
        cubic.on_ack(Instant::ZERO, 10_000, Duration::ZERO);
        assert_eq!(cubic.window(), 20_000);
        cubic.on_loss();
        assert_eq!(cubic.window(), 14_000);
        cubic.on_timeout();
        assert_eq!((cubic.window(), cubic.threshold), (SEGMENT, 9_800));
    }

    #[test]
    fn window_returns_to_the_old_one_after_k() {
        let mut cubic = Cubic::new(SEGMENT);
        cubic.window = 100_000;
        cubic.on_loss();
        // K = cbrt(30 / 0.4) = 4.217 s (RFC 9438 §4.2).
        let mut now = Instant::ZERO;
        for _ in 0..42 {
            for _ in 0..10 {
                cubic.on_ack(now, cubic.window() / 10, Duration::ZERO);
            }
            now += Duration::from_millis(100);
        }
        assert_eq!(cubic.inflection, 4_217);
        assert!((97_000..=101_000).contains(&cubic.window()), "{}", cubic.window());
    }
}
