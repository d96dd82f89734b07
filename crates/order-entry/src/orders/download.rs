//! The step after a logon that asks for the orders which have outlived the day, or the week.

use hairpin_cme_codecs::ilink3::{
    BooleanNULL, BusinessReject521, ExecutionReportStatus532, MassStatusTIF, OrderStatus,
};
use hairpin_ilink3::{
    BusinessRejectReason, MassStatus, Message, NotApplied, SendError, Sender, Sent,
};
use hairpin_time::{Duration, Instant, Now};
use thiserror::Error;

/// What is asked for, one after the other: CME answers one request at a time.
const QUALIFIERS: [MassStatusTIF; 2] = [MassStatusTIF::GTC, MassStatusTIF::GTD];

/// Asks how the orders good till cancel and till a date stand that the session still has on the
/// exchange's books, and tells when the last has been told.
///
/// What an exchange has published of them since the last session, it publishes under UUID 0 or the
/// last UUID, and the session asks for that by itself. How they stand it does not say unless it is
/// asked: a client that has no journal of their beginning learns it so.
///
/// A listener in [`OrderTracking`](super::OrderTracking) that names one as its
/// [`download`](super::TrackOrders::download) need only start it: each report brings its
/// [`Orders`](super::Orders) up to date, and [`on_download`](super::TrackOrders::on_download) tells
/// the
/// end. Its [deadline](Self::poll_timeout) is the loop's to keep.
#[derive(Debug, Clone)]
pub struct Download {
    request: MassStatus,
    timeout: Duration,
    step: Option<Step>,
}

/// A request that is not answered to its end.
#[derive(Debug, Clone, Copy)]
struct Step {
    /// Which qualifier it asks for.
    index: usize,
    uuid: u64,
    sent: Sent,
    deadline: Instant,
    /// Orders told so far, of earlier requests too.
    orders: u64,
}

/// All orders have been told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Downloaded {
    /// How many there were.
    pub orders: u64,
}

/// Why the rest of the orders is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DownloadError {
    /// The second request could not be sent.
    #[error("the request for orders was not sent: {0}")]
    Send(SendError),
    /// The exchange has refused a request.
    #[error("the request for orders was refused: {0}")]
    Refused(BusinessRejectReason),
    /// The exchange has not applied a request.
    #[error("the request for orders was not applied")]
    NotApplied,
    /// Nothing more came in time.
    #[error("no report on orders came in time")]
    TimedOut,
    /// The connection has ended.
    #[error("the connection ended before all orders were told")]
    Disconnected,
}

/// How a download has ended.
pub type DownloadEnd = Result<Downloaded, DownloadError>;

impl Download {
    /// Of all orders of the session. `timeout`: how long it may take from one report to the next.
    #[must_use]
    pub const fn new(timeout: Duration) -> Self {
        Self::of(MassStatus::all(), timeout)
    }

    /// Of a part of the market: of `request` all but the qualifier and the id counts. Sessions of
    /// versions before 8 cannot ask for all orders.
    #[must_use]
    pub const fn of(request: MassStatus, timeout: Duration) -> Self {
        Self { request, timeout, step: None }
    }

    /// Asks, from the beginning.
    ///
    /// # Errors
    /// [`SendError`], and nothing is under way.
    pub fn start(&mut self, sender: &mut Sender<'_>) -> Result<(), SendError> {
        self.ask(sender, 0, 0)
    }

    /// Whether reports are awaited.
    #[must_use]
    pub fn is_under_way(&self) -> bool {
        self.step.is_some()
    }

    /// When [`handle_timeout`](Self::handle_timeout) is due.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.step.map(|step| step.deadline)
    }

    /// Gives up if nothing has come in time.
    pub fn handle_timeout(&mut self, now: Now) -> Option<DownloadEnd> {
        self.step.take_if(|step| step.deadline <= now.monotonic)?;
        Some(Err(DownloadError::TimedOut))
    }

    /// The session has no connection any more.
    pub fn handle_disconnected(&mut self) -> Option<DownloadEnd> {
        self.step.take()?;
        Some(Err(DownloadError::Disconnected))
    }

    /// Messages of ours were not applied, and are not sent again.
    pub fn handle_not_applied(&mut self, not_applied: NotApplied) -> Option<DownloadEnd> {
        let NotApplied { from_seq_no, count } = not_applied;
        let numbers = from_seq_no..from_seq_no.saturating_add(count);
        self.step.take_if(|step| numbers.contains(&step.sent.seq_num))?;
        Some(Err(DownloadError::NotApplied))
    }

    /// Takes a message of the exchange, and says if it was the end. Any that answers no request of
    /// this changes nothing.
    #[inline]
    pub fn handle_message(
        &mut self,
        sender: &mut Sender<'_>,
        message: &Message<'_>,
    ) -> Option<DownloadEnd> {
        let step = self.step.filter(|step| step.uuid == message.uuid && !message.redelivered)?;
        let is_last = match message.header.template_id {
            ExecutionReportStatus532::TEMPLATE_ID => self.handle_status(step, sender, message)?,
            BusinessReject521::TEMPLATE_ID => match refusal(step, message)? {
                BusinessRejectReason::ORDER_STATUS_NOT_FOUND => true,
                reason => {
                    self.step = None;
                    return Some(Err(DownloadError::Refused(reason)));
                }
            },
            _ => return None,
        };
        if is_last { self.go_on(sender) } else { None }
    }

    /// Counts an order that was told; whether it was the last. `None` if it is no answer.
    fn handle_status(
        &mut self,
        step: Step,
        sender: &Sender<'_>,
        message: &Message<'_>,
    ) -> Option<bool> {
        let mut scratch = ExecutionReportStatus532::SCRATCH;
        let report =
            ExecutionReportStatus532::decode(&message.header, message.body, &mut scratch).ok()?;
        if report.mass_status_req_id() != Some(u64::from(step.sent.seq_num)) {
            return None;
        }
        // Where there is none the exchange says so in a report on an order it does not know.
        let orders = step.orders + u64::from(report.ord_status() != OrderStatus::UNDEFINED);
        let deadline = sender.now().monotonic + self.timeout;
        self.step = Some(Step { orders, deadline, ..step });
        Some(report.last_rpt_requested() == Some(BooleanNULL::TRUE))
    }

    /// Asks for the next qualifier, if there is one.
    fn go_on(&mut self, sender: &mut Sender<'_>) -> Option<DownloadEnd> {
        let Step { index, orders, .. } = self.step.take()?;
        if index + 1 == QUALIFIERS.len() {
            return Some(Ok(Downloaded { orders }));
        }
        self.ask(sender, index + 1, orders).err().map(|error| Err(DownloadError::Send(error)))
    }

    fn ask(&mut self, sender: &mut Sender<'_>, index: usize, orders: u64) -> Result<(), SendError> {
        self.step = None;
        let time_in_force = Some(QUALIFIERS[index]);
        let sent = sender.send(&MassStatus { time_in_force, request_id: None, ..self.request })?;
        let (uuid, deadline) = (sender.progress().uuid, sender.now().monotonic + self.timeout);
        self.step = Some(Step { index, uuid, sent, deadline, orders });
        Ok(())
    }
}

/// Why the request of `step` was refused, if it is the one that `message` refuses.
fn refusal(step: Step, message: &Message<'_>) -> Option<BusinessRejectReason> {
    let mut scratch = BusinessReject521::SCRATCH;
    let reject = BusinessReject521::decode(&message.header, message.body, &mut scratch).ok()?;
    let number = step.sent.seq_num;
    let is_meant = match reject.ref_seq_num() {
        Some(refused) => refused == number,
        None => reject.business_reject_ref_id() == Some(u64::from(number)),
    };
    is_meant.then_some(BusinessRejectReason(reject.business_reject_reason()))
}
