//! The parts of a trader that callbacks change.

use hairpin_mapped::{Direction, Journal};
use hairpin_order_entry::{
    CancelOnQuit, MESSAGE_RECORD, MassCancel, Message, Orders, OrdersLeft, ReconnectingSession,
    SecurityId, State as SessionState,
};
use hairpin_sbe::MessageHeader;
use hairpin_time::{Instant, Now};

use crate::Error;
use crate::cl_ord_ids::{ClOrdIds, run_of};
use crate::order_event::{Report, report};
use hairpin_order_entry::ClOrdId;
use hairpin_order_entry::messages::NewOrderSingle514;

/// The most timers that run at once.
pub(crate) const TIMERS_MAX: usize = 1_024;
/// The instruments with a position for which memory is allocated at the start.
const POSITIONS: usize = 1_024;
/// The length of the framing header before each message in the journal.
const FRAMING_HEADER_LENGTH: usize = 4;

/// The session of one market segment, with its orders.
#[derive(Debug)]
pub struct SegmentSession {
    /// MarketSegmentID (1300), if order.toml has `[[segment]]`.
    pub(crate) segment: Option<u8>,
    pub(crate) session: ReconnectingSession,
    pub(crate) orders: Orders,
    /// `true` once a logon has succeeded.
    pub(crate) was_established: bool,
    /// `true` if all orders are canceled at the end of the run.
    pub(crate) cancel_on_quit: bool,
    /// The cancel at the end of the run.
    pub(crate) cancel: CancelOnQuit,
}

impl SegmentSession {
    /// Returns MarketSegmentID (1300), if the configuration has several segments.
    #[must_use]
    pub const fn segment(&self) -> Option<u8> {
        self.segment
    }

    /// Returns the session.
    #[must_use]
    pub const fn session(&self) -> &ReconnectingSession {
        &self.session
    }

    /// Returns the session mutably, to send messages beyond [`Context`](crate::Context).
    pub const fn session_mut(&mut self) -> &mut ReconnectingSession {
        &mut self.session
    }

    /// Returns the orders of the session.
    #[must_use]
    pub const fn orders(&self) -> &Orders {
        &self.orders
    }

    /// Cancels all orders if that is set, there are any, and it was not done before.
    #[cold]
    pub(crate) fn cancel_on_quit(&mut self, now: Now) {
        if !self.cancel_on_quit || self.cancel == CancelOnQuit::Sent || !self.has_orders() {
            return;
        }
        let mut sender = self.session.sender(now);
        self.cancel = match self.orders.send(&mut sender, &MassCancel::all()) {
            Ok(_) => CancelOnQuit::Sent,
            Err(_) => CancelOnQuit::NotSent,
        };
    }

    /// Returns `true` if the exchange may still report cancels of [`Self::cancel_on_quit`].
    pub(crate) fn is_canceling(&self) -> bool {
        let state = self.session.session().state();
        self.cancel == CancelOnQuit::Sent && state == SessionState::Established && self.has_orders()
    }

    /// Returns the orders that are left if the run ends now; none if it has never logged on.
    pub(crate) fn left(&self) -> OrdersLeft {
        match self.was_established {
            true => self.orders.left(self.cancel),
            false => OrdersLeft::default(),
        }
    }

    fn has_orders(&self) -> bool {
        self.orders.iter().next().is_some()
    }
}

/// The net position per instrument, in contracts.
#[derive(Debug)]
pub(crate) struct Positions(Vec<(SecurityId, i64)>);

impl Positions {
    pub(crate) fn new() -> Self {
        Self(Vec::with_capacity(POSITIONS))
    }

    pub(crate) fn get(&self, id: SecurityId) -> i64 {
        self.0.binary_search_by_key(&id, |it| it.0).map_or(0, |place| self.0[place].1)
    }

    pub(crate) fn change(&mut self, id: SecurityId, change: i64) {
        match self.0.binary_search_by_key(&id, |it| it.0) {
            Ok(place) => self.0[place].1 += change,
            Err(place) => self.0.insert(place, (id, change)),
        }
    }
}

/// The state that callbacks share.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) ids: ClOrdIds,
    pub(crate) positions: Positions,
    /// The timers, the next one last.
    pub(crate) timers: Vec<(Instant, u64)>,
    pub(crate) is_ready: bool,
    pub(crate) stop_requested: bool,
    /// All orders are being canceled: no order is entered or replaced.
    pub(crate) is_canceling: bool,
    /// An error of a callback that ends the run.
    pub(crate) failure: Option<Error>,
}

impl State {
    /// Removes a timer that has expired, and returns its number.
    pub(crate) fn expired(&mut self, now: Instant) -> Option<u64> {
        self.timers.pop_if(|(at, _)| *at <= now).map(|(_, timer)| timer)
    }
}

/// The content of a journal that a restart continues from.
#[derive(Debug, Default)]
pub(crate) struct JournalContent {
    /// The number of the last run that has assigned ClOrdIDs.
    pub(crate) last_run: Option<u64>,
    /// The change of each position by the fills.
    pub(crate) fills: Vec<(SecurityId, i64)>,
}

impl JournalContent {
    /// Reads a journal.
    pub(crate) fn read(journal: &Journal) -> Self {
        let mut content = Self::default();
        // Legs and addenda have their own side and quantity, so no order needs to be known.
        let no_orders = Orders::new(1);
        let mut last = None;
        while let Some(record) = journal.next(last) {
            last = Some(record);
            let tag = journal.tag(record);
            let frame = journal.bytes(record);
            let message = frame.get(FRAMING_HEADER_LENGTH..).unwrap_or_default();
            let Ok((header, body)) = MessageHeader::decode(message) else { continue };
            match (tag.direction, tag.kind) {
                (Direction::Outbound, MESSAGE_RECORD) => {
                    content.last_run = content.last_run.max(run_in(&header, body));
                }
                (Direction::Inbound, MESSAGE_RECORD) => {
                    let message = Message {
                        header,
                        body,
                        seq_num: tag.seq_num,
                        uuid: tag.uuid,
                        possible_retransmission: false,
                        redelivered: false,
                    };
                    if let Report::Fill(fill) = report(&message, &no_orders) {
                        content.fills.push((fill.order.security_id, fill.position_change()));
                    }
                }
                _ => {}
            }
        }
        content
    }
}

/// Returns the run that has assigned the ClOrdID of a new order.
fn run_in(header: &MessageHeader, body: &[u8]) -> Option<u64> {
    if header.template_id != NewOrderSingle514::TEMPLATE_ID {
        return None;
    }
    let mut scratch = NewOrderSingle514::SCRATCH;
    let order = NewOrderSingle514::decode(header, body, &mut scratch).ok()?;
    let mut id = ClOrdId([0; 20]);
    let text = order.cl_ord_id();
    id.0[..text.as_bytes().len()].copy_from_slice(text.as_bytes());
    run_of(&id)
}
