//! Steps of the clock that stamped the capture.

/// The least jump between capture times and SendingTime that is a step of a clock. The tap sees a
/// packet later than usual by at most a few retransmissions.
const LEAST_STEP: u64 = 500_000_000;

/// The steps so far. A span across a step is not measured.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct ClockSteps {
    pub(super) count: u64,
    /// The number of the packet at the last step.
    pub(super) packet: u64,
    /// The time after the first step, and its size.
    pub(super) first: Option<(u64, i64)>,
}

/// The delay from SendingTime to capture, of one sender. The clocks may differ by any time.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct DelayWatch(Option<i64>);

impl DelayWatch {
    /// Records a packet or message with its SendingTime.
    #[inline]
    pub(super) fn record(&mut self, time: u64, sent: u64, packet: u64, steps: &mut ClockSteps) {
        let delay = time.wrapping_sub(sent).cast_signed();
        if let Some(last) = self.0
            && delay.abs_diff(last) > LEAST_STEP
        {
            steps.count += 1;
            steps.packet = steps.packet.max(packet);
            steps.first = steps.first.or(Some((time, delay.saturating_sub(last))));
        }
        self.0 = Some(delay);
    }
}
