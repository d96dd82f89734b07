//! Steps of the clock that stamped the capture.

/// The least jump between capture times and SendingTime that is a step of a clock. The tap sees a
/// packet later than usual by at most a few retransmissions.
pub(super) const LEAST_STEP: u64 = 500_000_000;

/// The steps so far. A span across a step is not measured.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct ClockSteps {
    pub(super) count: u64,
    /// The number of the packet at the last step.
    pub(super) packet: u64,
    /// The time after the first step, and its size.
    pub(super) first: Option<(u64, i64)>,
    /// The size of the last step.
    last: i64,
}

/// The delay from SendingTime to capture, of one sender. The clocks may differ by any time.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct DelayWatch {
    delay: Option<i64>,
    /// The steps that this sender has shown.
    steps: u64,
}

impl DelayWatch {
    /// Records a packet or message with its SendingTime.
    #[inline]
    pub(super) fn record(&mut self, time: u64, sent: u64, packet: u64, steps: &mut ClockSteps) {
        let delay = time.wrapping_sub(sent).cast_signed();
        let Some(last) = self.delay.replace(delay) else {
            self.steps = steps.count;
            return;
        };
        if delay.abs_diff(last) <= LEAST_STEP {
            return;
        }
        let by = delay.saturating_sub(last);
        // Another sender has shown this step before.
        let is_known = self.steps < steps.count && by.abs_diff(steps.last) < LEAST_STEP / 5;
        if !is_known {
            steps.count += 1;
            steps.packet = steps.packet.max(packet);
            steps.first = steps.first.or(Some((time, by)));
            steps.last = by;
        }
        self.steps = steps.count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn counts_a_step_of_several_senders_once() {
        let (mut steps, mut senders) = (ClockSteps::default(), [DelayWatch::default(); 3]);
        let mut packet = 0;
        for (time, step) in [(100, 0), (101, 0), (107, 5), (108, 5), (114, 10)] {
            for (sender, late) in senders.iter_mut().zip([0, 1_000, 2_000]) {
                packet += 1;
                let sent = (time - step) * SECOND;
                sender.record(time * SECOND + late, sent, packet, &mut steps);
            }
        }
        assert_eq!((steps.count, steps.packet), (2, 13));
        assert_eq!(steps.first, Some((107 * SECOND, 5 * SECOND as i64)));
    }

    #[test]
    fn slow_packets_are_no_steps() {
        let (mut steps, mut sender) = (ClockSteps::default(), DelayWatch::default());
        for (packet, delay) in [0, 400_000_000, 100_000_000, 500_000_000].into_iter().enumerate() {
            sender.record(SECOND + delay, SECOND, packet as u64, &mut steps);
        }
        assert_eq!(steps.count, 0);
    }
}
