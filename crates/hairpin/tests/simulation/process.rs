//! A process of a trader, from start to exit.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use hairpin_feed_handler::{Channel, Counters};
use hairpin_mapped::Journal;
use hairpin_mdp3::{Action, Input};
use hairpin_netsim::{Census, ConnectionState, End, Group};
use hairpin_order_entry::{
    Binding, KEEP_ALIVE_DEFAULT, Logon, Operator, SecretKey, Session, Settings, State,
};
use hairpin_reactor::{Reactor, Wait};
use hairpin_time::{Duration, Instant, Now};

use crate::client_stream::{Dialer, Shared};
use crate::expected_state::{ExpectedState, Verdict};
use crate::feed_checker::{CheckedFeedListener, FeedChecker};
use crate::message_log::MessageLog;
use crate::plan::Scenario;
use crate::session_checker::{CheckedSessionListener, Crashed, SessionChecker};
use crate::venue::{KEY, Memberships, Venue};
use hairpin_cli_latency::strategy::{Reaction, Strategy};

/// The pause between two logon attempts.
const PAUSE: Duration = Duration::from_millis(3);

/// A channel, a session and a strategy, and a checker for the channel and for the session.
pub(crate) struct Process {
    pub(crate) channel: Channel,
    pub(crate) session: Session<Dialer>,
    pub(crate) connects_at: Instant,
    scenario: Scenario,
    reactor: Reactor,
    strategy: Strategy,
    feed: FeedChecker,
    orders: SessionChecker,
}

impl Process {
    pub(crate) fn new(
        trader: usize,
        scenario: Scenario,
        journal: Journal,
        dial: Dialer,
        instruments: usize,
        now: Now,
    ) -> Self {
        let logon = Logon {
            access_key_id: format!("ACCESS-{trader}"),
            secret_key: SecretKey::from_base64url(KEY).expect("the key is valid base64"),
            session: format!("TR{trader}"),
            firm: "FIRM".into(),
            trading_system_name: "Hairpin".into(),
            trading_system_version: "1".into(),
            trading_system_vendor: "Hairpin".into(),
            keep_alive_interval: KEEP_ALIVE_DEFAULT,
            operator: Operator::automated("TRADER", "US,IL").unwrap(),
        };
        let gateway = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 1);
        let session = Session::with_connect(Settings::new(gateway, logon), journal, dial);
        Self {
            channel: Channel::new(hairpin_feed_handler::Settings {
                max_instruments: 16,
                queue_bytes: 1 << 18,
                max_loop_packets: 64,
                ..Default::default()
            }),
            session: session.expect("the settings are valid"),
            connects_at: now.monotonic,
            scenario,
            reactor: Reactor::new(Wait::Spin).expect("a busy-polling reactor needs no resources"),
            strategy: Strategy::default(),
            feed: FeedChecker::new(scenario, instruments),
            orders: SessionChecker::new(scenario),
        }
    }

    /// Joins and leaves multicast groups as the channel requests.
    pub(crate) fn join(&mut self, groups: &mut [[Group; 2]; 3], memberships: &Memberships) {
        while let Some(action) = self.channel.poll_action() {
            let (feed, is_joined) = match action {
                Action::Join(feed) => (feed as usize, true),
                Action::Leave(feed) => (feed as usize, false),
                _ => unreachable!("unexpected channel action"),
            };
            for (group, place) in groups[feed].iter_mut().zip(memberships[feed]) {
                group.set_joined(place, is_joined);
            }
        }
    }

    pub(crate) fn handle_packet(
        &mut self,
        now: Now,
        input: Input,
        bytes: &[u8],
        expected_state: &ExpectedState,
        message_log: &mut MessageLog,
    ) {
        let Self { channel, session, strategy, feed: checker, .. } = self;
        let reaction = Reaction { strategy, session, now };
        let mut listener = CheckedFeedListener { reaction, checker, expected_state, message_log };
        channel.handle_packet(now, input, bytes, &mut listener);
    }

    pub(crate) fn handle_timeout(
        &mut self,
        now: Now,
        expected_state: &ExpectedState,
        message_log: &mut MessageLog,
    ) {
        let Self { channel, session, strategy, feed: checker, .. } = self;
        if channel.poll_timeout().is_some_and(|at| at <= now.monotonic) {
            let reaction = Reaction { strategy, session, now };
            channel.handle_timeout(
                now,
                &mut CheckedFeedListener { reaction, checker, expected_state, message_log },
            );
        }
    }

    /// Returns `true` if the trader has synchronized books and no session.
    pub(crate) fn wants_to_connect(&self, is_closing: bool) -> bool {
        let is_wanted = self.feed.was_in_sync && !is_closing && !self.scenario.corrupts_data();
        is_wanted && self.session.state() == State::Disconnected
    }

    /// Logs on. Resumes the previous session if possible and preferred.
    pub(crate) fn connect(&mut self, now: Now, prefers_to_resume: bool) {
        let orders = &mut self.orders;
        let is_known = orders.established != 0 && !orders.is_unresumable;
        let binding = match is_known && prefers_to_resume {
            true => Binding::Resume,
            false => Binding::New,
        };
        if is_known {
            orders.census.count(match binding {
                Binding::Resume => "sessions resumed",
                _ => "sessions negotiated again",
            });
        }
        if binding == Binding::New {
            (orders.established, orders.is_unresumable) = (0, false);
        }
        orders.resumes = orders.established;
        self.session.connect(now, binding).expect("the session is disconnected");
    }

    /// Returns `true` if the session has work to do.
    pub(crate) fn is_due(&self, now: Instant, connection: Option<&Shared>) -> bool {
        let has_come = connection.is_some_and(|connection| {
            connection.borrow().poll_timeout(now, End::Client).is_some_and(|at| at <= now)
        });
        has_come
            || self.is_urgent(now, connection)
            || self.session.next_deadline().is_some_and(|at| at <= now)
    }

    /// Returns `true` if the connection has an event without a time: it is established or broken,
    /// or queued bytes can leave.
    pub(crate) fn is_urgent(&self, now: Instant, connection: Option<&Shared>) -> bool {
        connection.is_some_and(|connection| {
            let connection = connection.borrow();
            let state = connection.state(now);
            let is_broken = matches!(state, ConnectionState::Refused | ConnectionState::Reset);
            let stands =
                state == ConnectionState::Open && self.session.state() == State::Connecting;
            stands
                || is_broken
                || (self.session.waiting() > 0 && connection.is_writable(now, End::Client))
        })
    }

    /// Makes the process crash in the callback of the next report.
    pub(crate) fn crash_in_callback(&mut self) {
        self.orders.crashes_in_callback = true;
    }

    /// Drives the session until no work is due.
    ///
    /// # Errors
    /// The process crashed in a callback.
    pub(crate) fn drive(&mut self, now: Now, message_log: &mut MessageLog) -> Result<(), Crashed> {
        let Self { session, reactor, strategy, orders: checker, .. } = self;
        let was_connected = session.state() != State::Disconnected;
        let ready = reactor.wait(now.monotonic, None).expect("busy-polling cannot fail");
        let mut listener = CheckedSessionListener { strategy, checker, message_log };
        let turn = AssertUnwindSafe(|| session.process(now, ready, reactor, &mut listener));
        match catch_unwind(turn) {
            Ok(done) => done.expect("busy-polling cannot fail"),
            Err(cause) => {
                return cause.downcast().map_or_else(|cause| resume_unwind(cause), |it| Err(*it));
            }
        }
        if was_connected && session.state() == State::Disconnected {
            self.connects_at = now.monotonic + PAUSE;
        }
        Ok(())
    }

    /// Checks that every book equals the last published book.
    pub(crate) fn check_books(&self, venue: &Venue) {
        let instruments = self.channel.instruments();
        assert_eq!(instruments.iter().count(), venue.expected_state.instruments(), "instruments");
        for instrument in instruments.iter() {
            let book = self.channel.book(instrument);
            let verdict = venue.expected_state.check(book, venue.expected_state.events());
            assert!(book.is_in_sync() && verdict == Verdict::Equal, "final book: {verdict:?}");
        }
    }

    /// Checks that session and gateway agree on the next sequence numbers.
    pub(crate) fn check_numbers(&self, message_log: &MessageLog) {
        let progress = self.session.progress();
        if let Some(run) = message_log.by_uuid.get(&progress.uuid) {
            assert_eq!(progress.next_outgoing, run.sent + 1, "next outgoing sequence number");
            assert_eq!(progress.next_incoming, run.received + 1, "next incoming sequence number");
        }
    }

    /// Checks the strategy's counters against the observed events.
    pub(crate) fn check_counters(&self, census: &mut Census) {
        let Self { strategy, feed, orders, .. } = self;
        let counts = &strategy.counts;
        let counted =
            [counts.orders, counts.acknowledgements, counts.cancels, counts.gaps, counts.unsynced];
        let seen = [feed.orders, orders.acknowledgements, orders.cancels, feed.gaps, feed.unsynced];
        assert_eq!(counted, seen, "orders, acknowledgements, cancels, gaps, books unsynced");
        let explained = feed.refused + feed.errors + orders.refused + orders.gaps + orders.errors;
        assert_eq!(counts.errors, explained, "{:?}: {:?}", self.scenario, counts.first_error);
        assert_eq!(counts.rejects, orders.rejects, "rejects");
        census.add("orders refused: too many wait", feed.refused);
        census.add("cancels refused", orders.refused);
        census.merge(&feed.census);
        census.merge(&orders.census);
        self.report(self.channel.counters(), census);
    }

    fn report(&self, counters: &Counters, census: &mut Census) {
        census.add("packets held for a gap", counters.held_packets);
        census.add("books unaffected by a gap", counters.found_unaffected);
        census.add("books from snapshots", counters.snapshots_applied);
        census.add("entries withheld", counters.withheld_entries);
        census.add("snapshots too old", counters.snapshots_too_old);
        census.add("packets of both lines", counters.duplicates);
        let gaps_filled = counters.held_packets > 0 && counters.gaps == 0;
        census.add("traders without a gap though packets were held", u64::from(gaps_filled));
    }
}
