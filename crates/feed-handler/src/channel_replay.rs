//! The replay of a channel's lost packets.

use std::net::Ipv4Addr;

use hairpin_mdp3::{Action, Feed, FeedLine, Input, Listener, ReplayOutcome, Settings};
use hairpin_reactor::{Reactor, Ready};
use hairpin_time::{Duration, Instant, Now};

use crate::channel_input::ChannelInput;
use crate::{
    ReplayClient, ReplayCompletion, ReplayError, ReplayServer, ReplaySettings, Statistics,
};

/// Requests the packets that the channel asks for, and delivers them to the channel.
///
/// The channel decides how often it requests a gap and how long a request may take. Each request
/// here is one attempt, at the next host after a failure. Each attempt opens a connection and
/// allocates its memory for the duration of the attempt.
#[derive(Debug)]
pub(crate) struct ChannelReplay {
    client: ReplayClient,
    /// The channel's last request that has not been started.
    requested: Option<Action>,
    statistics: Statistics,
    last_failure: Option<ReplayError>,
    /// The channel's count of abandoned replays at its last request.
    given_up: u64,
    /// The attempts in a row that reached no host.
    unreachable: u32,
    /// The number of such attempts after which requests pause, and the length of the pause.
    attempts: u32,
    pause: Duration,
    /// No request is sent before this time.
    paused_until: Option<Instant>,
}

impl ChannelReplay {
    /// Creates the replay of a channel with these settings, or returns `None` if replay is
    /// disabled.
    ///
    /// # Errors
    /// The errors of [`ReplayClient::new`].
    pub(crate) fn open(
        server: &ReplayServer,
        settings: &Settings,
        interface: Ipv4Addr,
    ) -> Result<Option<Box<Self>>, ReplayError> {
        let Some(replay) = settings.replay else { return Ok(None) };
        let ReplayServer { channel, hosts, user, password, admin_templates } = server;
        let settings = ReplaySettings {
            user: user.clone(),
            password: password.clone(),
            packets_max: replay.max_packets,
            timeout: replay.timeout,
            attempts: 1,
            max_packet: settings.max_packet,
            admin_templates: *admin_templates,
        };
        let client = ReplayClient::new(settings, channel, hosts, interface)?;
        Ok(Some(Box::new(Self {
            client,
            requested: None,
            statistics: Statistics::default(),
            last_failure: None,
            given_up: 0,
            unreachable: 0,
            attempts: replay.attempts.max(1),
            pause: replay.pause,
            paused_until: None,
        })))
    }

    /// Records a replay action of the channel; [`ChannelReplay::start_requested`] executes it.
    #[cold]
    pub(crate) fn handle_action(&mut self, action: Action) {
        if matches!(action, Action::Replay { .. } | Action::EndReplay) {
            self.requested = Some(action);
        }
    }

    /// Returns `true` if a request is recorded or in progress.
    #[inline]
    pub(crate) fn is_busy(&self) -> bool {
        self.requested.is_some() || self.client.is_busy()
    }

    /// Executes the recorded action. It replaces the request in progress.
    #[cold]
    pub(crate) fn start_requested(
        &mut self,
        now: Now,
        reactor: &mut Reactor,
        channel_input: &mut ChannelInput,
        listener: &mut impl Listener,
    ) {
        let Some(action) = self.requested.take() else { return };
        let given_up = channel_input.channel.counters().replays_given_up;
        let is_failure = matches!(action, Action::Replay { .. }) || given_up > self.given_up;
        if self.client.is_busy() && is_failure {
            self.statistics.failed_replays += 1;
            self.last_failure = Some(ReplayError::TimedOut);
            self.record_attempt(now.monotonic, self.client.is_connected());
        }
        self.given_up = given_up;
        self.client.close(reactor);
        let Action::Replay { first, last } = action else { return };
        if self.paused_until.is_some_and(|until| now.monotonic < until) {
            self.statistics.suppressed_replays += 1;
            let (channel, outcome) = (&mut channel_input.channel, ReplayOutcome::Complete);
            return channel.handle_replay_end(now, outcome, listener);
        }
        self.statistics.replay_requests += 1;
        if let Err(error) = self.client.request(now.monotonic, first, last, reactor) {
            self.finish(now, Err(error), channel_input, listener);
        }
    }

    /// Delivers received packets, and reports the end of a request to the channel.
    #[cold]
    pub(crate) fn poll(
        &mut self,
        now: Now,
        ready: Ready,
        reactor: &mut Reactor,
        channel_input: &mut ChannelInput,
        listener: &mut impl Listener,
    ) {
        let input = Input { feed: Feed::Replay, line: FeedLine::A, received: None };
        let statistics = &mut self.statistics;
        let completion = self.client.process(now.monotonic, ready, reactor, &mut |packet| {
            statistics.replayed_packets += 1;
            statistics.replayed_bytes += packet.len() as u64;
            channel_input.handle_packet(now, input, packet, listener);
        });
        if let Some(ReplayCompletion { connected, outcome, .. }) = completion {
            self.record_attempt(now.monotonic, connected);
            self.finish(now, outcome, channel_input, listener);
        }
    }

    /// Returns the next time at which [`ChannelReplay::poll`] must run without input.
    #[inline]
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        if self.requested.is_some() { Some(Instant::ZERO) } else { self.client.next_deadline() }
    }

    /// Aborts the request in progress.
    pub(crate) fn close(&mut self, reactor: &mut Reactor) {
        self.client.close(reactor);
    }

    pub(crate) fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// Returns the error of the last failed request.
    pub(crate) fn last_failure(&self) -> Option<&ReplayError> {
        self.last_failure.as_ref()
    }

    /// Counts attempts that reach no host, and pauses after as many as a gap has.
    fn record_attempt(&mut self, now: Instant, connected: bool) {
        self.unreachable = if connected { 0 } else { self.unreachable + 1 };
        if self.unreachable >= self.attempts {
            self.unreachable = 0;
            self.paused_until = Some(now + self.pause);
        }
    }

    fn finish(
        &mut self,
        now: Now,
        outcome: Result<(), ReplayError>,
        channel_input: &mut ChannelInput,
        listener: &mut impl Listener,
    ) {
        let outcome = match outcome {
            Ok(()) => ReplayOutcome::Complete,
            Err(error) => {
                if matches!(error, ReplayError::LoginRefused(_) | ReplayError::NoLogin) {
                    self.paused_until = Some(now.monotonic + self.pause);
                }
                let is_refusal = matches!(
                    error,
                    ReplayError::Refused(_) | ReplayError::LoginRefused(_) | ReplayError::NoLogin
                );
                *match is_refusal {
                    true => &mut self.statistics.refused_replays,
                    false => &mut self.statistics.failed_replays,
                } += 1;
                self.last_failure = Some(error);
                // A refused request is not repeated: the answer would be the same.
                if is_refusal { ReplayOutcome::Complete } else { ReplayOutcome::Failed }
            }
        };
        channel_input.channel.handle_replay_end(now, outcome, listener);
    }
}
