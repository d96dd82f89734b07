//! The samples of a round: one of each stage for each order.

use hairpin_host::Clock;
use hairpin_measure::{Recorder, Row};
use hairpin_time::{Duration, Instant};

use super::order_case::Subject;
use super::published_results::Stage;
use super::setup::{self, ClientCounts, ClientOutcome, ClientSetup};

/// The times of an order and its report at the boundaries of the stages.
#[derive(Debug, Clone, Copy)]
pub(super) struct OrderTimes {
    /// Before the send call.
    pub(super) begun: Instant,
    /// At the connection's write.
    pub(super) written: Instant,
    /// After the send call.
    pub(super) sent: Instant,
    /// In the process.
    pub(super) received: Instant,
    /// In the callback.
    pub(super) called: Instant,
}

impl OrderTimes {
    /// Returns the sample of a stage; for [`Stage::OneWay`], the whole round trip.
    #[inline]
    fn span(&self, stage: Stage) -> Duration {
        let send = self.written.saturating_since(self.begun);
        let receive = self.called.saturating_since(self.received);
        match stage {
            Stage::Receive => receive,
            Stage::Send => send,
            Stage::Both => send + receive,
            Stage::System => self.sent.saturating_since(self.begun),
            Stage::OneWay => self.called.saturating_since(self.begun),
        }
    }
}

/// A recorder for each stage of a subject.
#[derive(Debug)]
pub(super) struct Samples {
    stages: Vec<(Stage, Recorder)>,
    lateness: Recorder,
    /// The orders that are not recorded yet.
    skip: u64,
    /// The orders to be recorded that were sent.
    sent: u64,
}

impl Samples {
    pub(super) fn new(setup: &ClientSetup) -> Self {
        let count = usize::try_from(setup.load.samples).unwrap_or(usize::MAX);
        let recorder = |&stage: &Stage| (stage, Recorder::with_capacity(count));
        Self {
            stages: setup::stages(setup.subject).iter().map(recorder).collect(),
            lateness: Recorder::with_capacity(count),
            skip: setup.load.warm_up,
            sent: 0,
        }
    }

    /// Records the lateness of an order.
    #[inline]
    pub(super) fn departed(&mut self, lateness: Duration) {
        if self.skip == 0 {
            self.sent += 1;
            self.lateness.record(lateness);
        }
    }

    /// Records the times of an order whose report has arrived.
    #[inline]
    pub(super) fn arrived(&mut self, times: &OrderTimes) {
        if self.skip > 0 {
            self.skip -= 1;
            return;
        }
        for (stage, recorder) in &mut self.stages {
            recorder.record(times.span(*stage));
        }
    }

    /// Returns the results of the round.
    pub(super) fn outcome(
        &self,
        setup: &ClientSetup,
        clock: &Clock,
        counts: ClientCounts,
    ) -> ClientOutcome {
        let refused = self.stages.iter().map(|(_, recorder)| recorder.refused()).sum();
        let recorders: Vec<&Recorder> = self.stages.iter().map(|(_, recorder)| recorder).collect();
        let rows = rows(setup, clock, &recorders, &self.lateness);
        let rows = rows.into_iter().map(|row| Row { lost: self.sent - row.samples, ..row });
        let counts = ClientCounts { refused, ..counts };
        ClientOutcome { rows: rows.collect(), counts, interrupted: false }
    }
}

/// Returns the rows of the recorders, one for each stage.
pub(super) fn rows(
    setup: &ClientSetup,
    clock: &Clock,
    recorders: &[&Recorder],
    lateness: &Recorder,
) -> Vec<Row> {
    let nothing = Recorder::with_capacity(0);
    let lateness = if setup.subject == Subject::Batch { &nothing } else { lateness };
    let measured_by = setup::clock_of(clock.source());
    let transport = setup.transport.transport;
    let settings = setup::settings(setup.subject, transport, &setup.wait, &setup.load, measured_by);
    let rows = settings.into_iter().zip(recorders);
    rows.map(|(setting, recorder)| Row::new(setting, recorder, lateness)).collect()
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, SocketAddrV4};

    use hairpin_cli_harness::transport::TransportArgs;

    use super::*;
    use crate::bench::order::order_case::Load;

    fn at(nanos: u64) -> Instant {
        Instant::from_nanos(nanos)
    }

    const PASSAGE: [u64; 5] = [100, 140, 2_000, 9_000, 9_070];

    fn times() -> OrderTimes {
        let [begun, written, sent, received, called] = PASSAGE.map(at);
        OrderTimes { begun, written, sent, received, called }
    }

    fn setup(subject: Subject) -> ClientSetup {
        ClientSetup {
            gateway: SocketAddrV4::new(Ipv4Addr::LOCALHOST, 1),
            interface: Ipv4Addr::LOCALHOST,
            core: None,
            transport: TransportArgs::default(),
            wait: "spin".to_owned(),
            subject,
            load: Load { interval_us: 1_000, warm_up: 1, samples: 2, seed: 1 },
        }
    }

    fn medians(subject: Subject) -> Vec<u64> {
        let setup = setup(subject);
        let mut samples = Samples::new(&setup);
        for _ in 0..3 {
            samples.departed(Duration::ZERO);
            samples.arrived(&times());
        }
        let outcome = samples.outcome(&setup, &Clock::from_kernel(), ClientCounts::default());
        assert!(outcome.rows.iter().all(|row| (row.samples, row.lost) == (2, 0)));
        outcome.rows.iter().map(|row| row.summary.min.unwrap()).collect()
    }

    #[test]
    fn stages_begin_and_end_where_the_published_ones_do() {
        assert_eq!(medians(Subject::Gateway), [70, 40, 110, 1_900, 8_970]);
        assert_eq!(medians(Subject::BareSockets), [1_900, 8_970]);
    }

    #[test]
    fn counts_unanswered_as_lost() {
        let setup = setup(Subject::Gateway);
        let mut samples = Samples::new(&setup);
        for answered in [true, true, false] {
            samples.departed(Duration::ZERO);
            if answered {
                samples.arrived(&times());
            }
        }
        let outcome = samples.outcome(&setup, &Clock::from_kernel(), ClientCounts::default());
        assert!(outcome.rows.iter().all(|row| (row.samples, row.lost) == (1, 1)));
    }
}
