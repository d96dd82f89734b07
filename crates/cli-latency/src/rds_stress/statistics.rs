//! The counts of the tasks, and the lines that are printed from them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use serde::{Deserialize, Serialize};

use super::args::Parameters;

macro_rules! statistics {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The counts of a task, which its thread writes and the main thread reads.
        #[derive(Debug, Default)]
        pub(super) struct TaskCounts {
            $($(#[$doc])* pub(super) $name: AtomicU64,)*
        }

        /// The sums over all tasks.
        #[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        pub(super) struct Totals {
            $($(#[$doc])* pub(super) $name: u64,)*
        }

        impl Totals {
            /// Returns the sums.
            pub(super) fn of(tasks: &[TaskCounts]) -> Self {
                let mut totals = Self::default();
                for task in tasks {
                    $(totals.$name += task.$name.load(Ordering::Relaxed);)*
                }
                totals
            }

            /// Returns the difference to earlier sums.
            fn since(&self, earlier: &Self) -> Self {
                Self { $($name: self.$name.saturating_sub(earlier.$name),)* }
            }
        }
    };
}

statistics! {
    /// Requests sent.
    requests_sent,
    /// Requests received.
    requests_received,
    /// Acknowledgments sent.
    acks_sent,
    /// Acknowledgments received.
    acks_received,
    /// The time in send calls, in nanoseconds.
    send_ns,
    /// The times from requests to their acknowledgments, in nanoseconds.
    rtt_ns,
}

impl Totals {
    /// Returns the number of requests without an acknowledgment.
    pub(super) fn unanswered(&self) -> u64 {
        self.requests_sent.saturating_sub(self.acks_received)
    }
}

/// Adds to a count of this thread.
#[inline]
pub(super) fn add(count: &AtomicU64, more: u64) {
    // Only this thread writes, so no atomic addition is needed.
    count.store(count.load(Ordering::Relaxed) + more, Ordering::Relaxed);
}

/// The headings of the lines.
pub(super) const HEADINGS: &str = "tsks      tx/s      rx/s  tx+rx K/s  tx us/c     rtt us   cpu %";

/// The counts at the start of the interval of a line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Interval {
    totals: Totals,
    processor: Duration,
}

impl Interval {
    /// Starts an interval.
    pub(super) fn new(totals: Totals) -> Self {
        Self { totals, processor: processor_time() }
    }

    /// Returns the line of the interval until now, which took `span`.
    pub(super) fn line(&self, totals: &Totals, span: Duration, parameters: &Parameters) -> String {
        let processor = processor_time().saturating_sub(self.processor);
        line(&totals.since(&self.totals), span, processor, parameters)
    }
}

fn line(counts: &Totals, span: Duration, processor: Duration, parameters: &Parameters) -> String {
    let seconds = span.as_secs_f64().max(1e-9);
    let requests = counts.requests_sent + counts.requests_received;
    let acks = counts.acks_sent + counts.acks_received;
    let bytes =
        requests as f64 * parameters.request_size as f64 + acks as f64 * parameters.ack_size as f64;
    let mean = |sum: u64, count: u64| match count {
        0 => 0.0,
        count => sum as f64 / count as f64 / 1e3,
    };
    format!(
        "{:>4} {:>9.0} {:>9.0} {:>10.2} {:>8.2} {:>10.2} {:>7.2}",
        parameters.tasks,
        counts.requests_sent as f64 / seconds,
        counts.requests_received as f64 / seconds,
        bytes / 1_024.0 / seconds,
        mean(counts.send_ns, counts.requests_sent + counts.acks_sent),
        mean(counts.rtt_ns, counts.acks_received),
        processor.as_secs_f64() / seconds * 100.0,
    )
}

/// Returns the processor time of this process.
fn processor_time() -> Duration {
    let time = |value: TimeVal| {
        let micros = i128::from(value.tv_sec()) * 1_000_000 + i128::from(value.tv_usec());
        Duration::from_micros(u64::try_from(micros).unwrap_or_default())
    };
    let usage = getrusage(UsageWho::RUSAGE_SELF);
    usage.map_or(Duration::ZERO, |usage| time(usage.user_time()) + time(usage.system_time()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_has_rates_of_its_interval() {
        let parameters =
            Parameters { tasks: 2, depth: 1, request_size: 1_024, ack_size: 512, verify: false };
        let counts = Totals {
            requests_sent: 100,
            requests_received: 60,
            acks_sent: 60,
            acks_received: 100,
            send_ns: 160_000,
            rtt_ns: 2_500_000,
        };
        let text = line(&counts, Duration::from_secs(2), Duration::from_millis(500), &parameters);
        let cells: Vec<&str> = text.split_whitespace().collect();
        assert_eq!(cells, ["2", "50", "30", "120.00", "1.00", "25.00", "25.00"]);
        assert_eq!(text.chars().count(), HEADINGS.chars().count(), "the columns are aligned");
    }

    #[test]
    fn sums_the_tasks() {
        let tasks = [TaskCounts::default(), TaskCounts::default()];
        add(&tasks[0].requests_sent, 3);
        add(&tasks[1].requests_sent, 4);
        add(&tasks[1].acks_received, 5);
        let totals = Totals::of(&tasks);
        assert_eq!((totals.requests_sent, totals.unanswered()), (7, 2));
        assert_eq!(totals.since(&Totals { requests_sent: 6, ..totals }).requests_sent, 1);
    }

    #[test]
    fn processor_time_rises() {
        let before = processor_time();
        let start = std::time::Instant::now();
        while start.elapsed() < Duration::from_millis(20) {
            std::hint::spin_loop();
        }
        assert!(processor_time() > before);
    }
}
