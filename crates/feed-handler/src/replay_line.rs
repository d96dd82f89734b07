//! The replay server of a channel, joined to it.

use std::net::Ipv4Addr;

use hairpin_mdp3::{Action, Feed, FeedLine, Input, Listener, ReplayOutcome, Settings};
use hairpin_reactor::{Reactor, Ready};
use hairpin_time::{Instant, Now};

use crate::inlet::Inlet;
use crate::{ReplayClient, ReplayEnd, ReplayError, ReplayServer, ReplaySettings, Statistics};

/// Asks for what the channel wants replayed, and hands it over.
///
/// The channel decides how often a gap is asked for and how long that may take; here each request
/// is one attempt, at the next host if the one before has failed. A connection is made for each,
/// and takes memory for as long as it lasts.
#[derive(Debug)]
pub(crate) struct ReplayLine {
    client: ReplayClient,
    /// What the channel has asked for and nothing was done about yet.
    asked: Option<Action>,
    statistics: Statistics,
    last_failure: Option<ReplayError>,
    /// Replays that the channel had given up when it last asked for something.
    given_up: u64,
}

impl ReplayLine {
    /// Who asks this server for a channel with these settings; nobody if it wants no replay.
    ///
    /// # Errors
    /// Those of [`ReplayClient::new`].
    pub(crate) fn open(
        server: &ReplayServer,
        settings: &Settings,
        interface: Ipv4Addr,
    ) -> Result<Option<Box<Self>>, ReplayError> {
        let Some(replay) = settings.replay else { return Ok(None) };
        let ReplayServer { channel, hosts, user, password } = server;
        let settings = ReplaySettings {
            user: user.clone(),
            password: password.clone(),
            packets_max: replay.max_packets,
            patience: replay.timeout,
            attempts: 1,
            max_packet: settings.max_packet,
        };
        let client = ReplayClient::new(settings, channel, hosts, interface)?;
        let (statistics, last_failure) = (Statistics::default(), None);
        Ok(Some(Box::new(Self { client, asked: None, statistics, last_failure, given_up: 0 })))
    }

    /// Notes what the channel asks for; [`ReplayLine::settle`] does it.
    #[cold]
    pub(crate) fn note(&mut self, action: Action) {
        if matches!(action, Action::Replay { .. } | Action::EndReplay) {
            self.asked = Some(action);
        }
    }

    /// Whether anything is asked for or is to be.
    #[inline]
    pub(crate) fn is_busy(&self) -> bool {
        self.asked.is_some() || self.client.is_busy()
    }

    /// Does what the channel has asked for: it takes the place of what is under way.
    #[cold]
    pub(crate) fn settle(
        &mut self,
        now: Now,
        reactor: &mut Reactor,
        inlet: &mut Inlet,
        listener: &mut impl Listener,
    ) {
        let Some(action) = self.asked.take() else { return };
        let given_up = inlet.channel.counters().replays_given_up;
        let is_failure = matches!(action, Action::Replay { .. }) || given_up > self.given_up;
        if self.client.is_busy() && is_failure {
            self.statistics.failed_replays += 1;
            self.last_failure = Some(ReplayError::TooSlow);
        }
        self.given_up = given_up;
        self.client.close(reactor);
        let Action::Replay { first, last } = action else { return };
        self.statistics.replay_requests += 1;
        if let Err(error) = self.client.request(now.monotonic, first, last, reactor) {
            self.end(now, Err(error), inlet, listener);
        }
    }

    /// Hands over what has come, and tells the channel of the end.
    #[cold]
    pub(crate) fn turn(
        &mut self,
        now: Now,
        ready: Ready,
        reactor: &mut Reactor,
        inlet: &mut Inlet,
        listener: &mut impl Listener,
    ) {
        let input = Input { feed: Feed::Replay, line: FeedLine::A, received: None };
        let statistics = &mut self.statistics;
        let end = self.client.process(now.monotonic, ready, reactor, &mut |packet| {
            statistics.replayed_packets += 1;
            statistics.replayed_bytes += packet.len() as u64;
            inlet.handle_packet(now, input, packet, listener);
        });
        if let Some(ReplayEnd { outcome, .. }) = end {
            self.end(now, outcome, inlet, listener);
        }
    }

    /// When [`ReplayLine::turn`] is due though nothing has arrived.
    #[inline]
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        if self.asked.is_some() { Some(Instant::ZERO) } else { self.client.next_deadline() }
    }

    /// Gives up what is under way.
    pub(crate) fn close(&mut self, reactor: &mut Reactor) {
        self.client.close(reactor);
    }

    pub(crate) fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// Why the last request that failed has failed.
    pub(crate) fn last_failure(&self) -> Option<&ReplayError> {
        self.last_failure.as_ref()
    }

    fn end(
        &mut self,
        now: Now,
        outcome: Result<(), ReplayError>,
        inlet: &mut Inlet,
        listener: &mut impl Listener,
    ) {
        let told = match outcome {
            Ok(()) => ReplayOutcome::Complete,
            Err(error) => {
                let is_refusal = matches!(error, ReplayError::Refused(_));
                *match is_refusal {
                    true => &mut self.statistics.refused_replays,
                    false => &mut self.statistics.failed_replays,
                } += 1;
                self.last_failure = Some(error);
                // To a refusal there is nothing to add by asking once more.
                if is_refusal { ReplayOutcome::Complete } else { ReplayOutcome::Failed }
            }
        };
        inlet.channel.handle_replay_end(now, told, listener);
    }
}
