//! A client's order entry session whose callbacks are compared with its counters, and whose output
//! is fully checked.

use hairpin_cme_codecs::ilink3::{SideReq, Terminate507};
use hairpin_ilink3::{
    Action, Binding, CONTROL_LENGTH, CancelOrder, ClOrdId, Delivery, ENCODING_TYPE, Error, Gap,
    KEEP_ALIVE_DEFAULT, Listener, Message, NewOrder, Operator, OutboundError, OutboundSink,
    Progress, Rejected, SecretKey, Sender, Session, Settings, State, Terminated, Warning,
};
use hairpin_sbe::{Decimal, MessageHeader};
use hairpin_time::{Duration, Instant, Now, Utc};

/// A session with its clock, its connection and its callbacks.
pub(crate) struct CheckedSession {
    pub(crate) session: Session,
    wire: Wire,
    reported: CallbackCounts,
    now: Instant,
}

impl CheckedSession {
    /// Creates a session that has never connected. With `answers`, its listener sends an order for
    /// each message.
    pub(crate) fn new(answers: bool) -> Self {
        let secret_key = SecretKey::from_base64url("AAECAwQFBgcICQoLDA0ODw").expect("a key");
        let settings = Settings {
            access_key_id: "ACCESS-KEY-ID-123456".into(),
            secret_key,
            session: "ABC".into(),
            firm: "DEFGH".into(),
            trading_system_name: "Fuzz".into(),
            trading_system_version: "1".into(),
            trading_system_vendor: "Fuzz".into(),
            keep_alive_interval: KEEP_ALIVE_DEFAULT,
            operator: Operator::automated("TRADER", "US,IL").expect("the operator is valid"),
        };
        Self {
            session: Session::new(settings, Progress::default()).expect("settings are valid"),
            wire: Wire::default(),
            reported: CallbackCounts { answers, ..CallbackCounts::default() },
            now: Instant::from_nanos(1_000_000_000),
        }
    }

    /// Requests a connection, which succeeds or fails.
    pub(crate) fn connect(&mut self, resumes: bool, succeeds: bool) {
        let binding = if resumes { Binding::Resume } else { Binding::New };
        if self.session.connect(self.now(), binding).is_ok() {
            assert_eq!(self.session.poll_action(), Some(Action::Connect));
            if succeeds {
                self.wire.has_terminated = false;
                self.session.handle_connected(self.now(), &mut self.wire, &mut self.reported);
            } else {
                self.disconnect();
            }
        }
        self.settle();
    }

    /// Ends the connection.
    pub(crate) fn disconnect(&mut self) {
        self.session.handle_disconnected(self.now(), &mut self.wire, &mut self.reported);
        assert_eq!(self.session.state(), State::Disconnected);
        assert_eq!(self.session.poll_timeout(), None);
        self.settle();
    }

    /// Passes bytes to the session.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.session.handle_bytes(self.now(), bytes, &mut self.wire, &mut self.reported);
        self.settle();
    }

    /// Passes bytes in pieces before anything is sent, because a send between two frames changes
    /// the result.
    pub(crate) fn pieces(&mut self, bytes: &[u8], size: usize) {
        let now = self.now();
        let Self { session, wire, reported, .. } = self;
        bytes.chunks(size).for_each(|piece| session.handle_bytes(now, piece, wire, reported));
        self.settle();
    }

    /// Advances the time and runs the timers.
    pub(crate) fn pass(&mut self, millis: u64) {
        self.now += Duration::from_millis(millis);
        self.session.handle_timeout(self.now(), &mut self.wire, &mut self.reported);
        self.settle();
        let is_overdue = self.session.poll_timeout().is_some_and(|deadline| deadline <= self.now);
        assert!(!is_overdue, "a deadline has passed without effect");
    }

    /// Sends an order or a cancel, with the connection in one of the states of [`Wire`].
    pub(crate) fn send(&mut self, cancels: bool, wire: u8) {
        self.wire.mood = wire;
        let mut sender = self.session.sender(now(self.now), &mut self.wire);
        let before = sender.progress().next_outgoing;
        let sent = if cancels { sender.send(&cancel()) } else { sender.send(&order()) };
        let used = u32::from(sent.is_ok());
        assert_eq!(sender.progress().next_outgoing, before + used);
        assert!(sent.is_err() || sender.state() == State::Established);
        self.wire.mood = 0;
        self.settle();
    }

    /// Terminates the session from the client's end.
    pub(crate) fn terminate(&mut self) {
        self.session.terminate(self.now());
        self.session.handle_timeout(self.now(), &mut self.wire, &mut self.reported);
        self.settle();
    }

    fn now(&self) -> Now {
        now(self.now)
    }

    /// Does the work of the connection's owner, and compares.
    fn settle(&mut self) {
        let mut frame = [0; CONTROL_LENGTH];
        while let Some(length) = self.session.poll_transmit(now(self.now), &mut frame) {
            self.wire.check(&frame[..length]);
        }
        if let Some(action) = self.session.poll_action() {
            assert_eq!(action, Action::Close);
            self.disconnect();
        }
        let counted = self.session.inbound_counters();
        let reported = &self.reported;
        assert_eq!(reported.errors, counted.errors());
        assert_eq!(reported.gaps, counted.gaps);
        assert_eq!(reported.rejects, counted.rejects);
        assert_eq!(reported.terminates, counted.terminates);
        assert_eq!(reported.messages, counted.business_messages);
        let progress = self.session.progress();
        assert!(progress.next_outgoing > 0 && progress.next_incoming > 0, "{progress:?}");
    }
}

fn now(monotonic: Instant) -> Now {
    let utc = Utc::from_nanos(1_700_000_000_000_000_000) + (monotonic - Instant::ZERO);
    Now { monotonic, utc }
}

fn order() -> NewOrder {
    let id = ClOrdId::new("1").expect("the path is short");
    NewOrder::limit(7, SideReq::BUY, Decimal(1_000_000_000), 1, id)
}

fn cancel() -> CancelOrder {
    CancelOrder::new(1, 7, SideReq::BUY, ClOrdId::new("2").expect("the path is short"))
}

/// A connection that accepts everything, delays, breaks, or rejects, depending on its state.
#[derive(Default)]
struct Wire {
    mood: u8,
    has_terminated: bool,
    claimed: Vec<u8>,
}

impl Wire {
    /// Checks that every frame has its own length and that none follows a Terminate.
    fn check(&mut self, frame: &[u8]) {
        assert_eq!(frame[..2], (frame.len() as u16).to_le_bytes());
        assert_eq!(frame[2..4], ENCODING_TYPE.to_le_bytes());
        let (header, _) = MessageHeader::decode(&frame[4..]).expect("a frame has a header");
        assert!(!self.has_terminated, "template {} after a Terminate", header.template_id);
        self.has_terminated = header.template_id == Terminate507::TEMPLATE_ID;
    }
}

impl OutboundSink for Wire {
    fn claim(&mut self, max: usize) -> Result<&mut [u8], OutboundError> {
        match self.mood % 6 {
            3 => return Err(OutboundError::Full),
            4 => return Err(OutboundError::WouldBlock { waiting: 1 }),
            5 => return Err(OutboundError::Closed),
            _ => {}
        }
        self.claimed.resize(max, 0);
        Ok(&mut self.claimed)
    }

    fn commit(&mut self, length: usize, _: Option<u32>) -> Delivery {
        let frame = core::mem::take(&mut self.claimed);
        self.check(&frame[..length]);
        match self.mood % 6 {
            1 => Delivery::Waiting { waiting: length },
            2 => Delivery::Broken,
            _ => Delivery::Written,
        }
    }
}

#[derive(Default)]
struct CallbackCounts {
    answers: bool,
    state: State,
    messages: u64,
    errors: u64,
    gaps: u64,
    rejects: u64,
    terminates: u64,
}

impl Listener for CallbackCounts {
    fn on_state(&mut self, _: &mut Sender<'_>, state: State) {
        assert_ne!(self.state, state, "state reported twice");
        self.state = state;
    }

    fn on_message(&mut self, sender: &mut Sender<'_>, message: &Message<'_>) {
        self.messages += 1;
        assert!(message.seq_num > 0);
        if self.answers {
            // Whether rejected or not, the session must continue.
            let _ = sender.send(&order());
        }
    }

    fn on_gap(&mut self, _: &mut Sender<'_>, gap: Gap) {
        assert!(gap.from <= gap.to, "{gap:?}");
        self.gaps += 1;
    }

    fn on_reject(&mut self, _: &mut Sender<'_>, _: &Rejected<'_>) {
        self.rejects += 1;
    }

    fn on_terminate(&mut self, _: &mut Sender<'_>, _: &Terminated<'_>) {
        self.terminates += 1;
    }

    fn on_error(&mut self, _: &mut Sender<'_>, error: &Error) {
        assert!(!error.to_string().is_empty());
        self.errors += 1;
    }

    fn on_warning(&mut self, _: &mut Sender<'_>, warning: &Warning) {
        assert!(!warning.to_string().is_empty());
    }
}
