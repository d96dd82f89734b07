//! A download of the orders that survive a trading day or week.

use hairpin_cme_codecs::ilink3::{
    BooleanNULL, BusinessReject521, ExecutionReportStatus532, MassStatusTIF, OrderStatus,
};
use hairpin_ilink3::{
    BusinessRejectReason, MassStatus, Message, NotApplied, SendError, Sender, Sent,
};
use hairpin_time::{Duration, Instant, Now};
use thiserror::Error;

/// The qualifiers to request, one after the other: CME answers one request at a time.
const QUALIFIERS: [MassStatusTIF; 2] = [MassStatusTIF::GTC, MassStatusTIF::GTD];

/// A download of all GTC and GTD orders on the exchange's books.
///
/// After a logon the session requests missed messages by itself, published under UUID 0 or the last
/// UUID. These messages do not contain the current state of old orders. A client without a journal
/// of these orders therefore has to request their status.
///
/// If a listener in [`OrderTracking`](super::OrderTracking) returns its download from
/// [`download`](super::TrackOrders::download), it only has to start the download. Each report
/// updates its [`Orders`](super::Orders), and [`on_download`](super::TrackOrders::on_download)
/// reports the result. The caller's loop must observe the [deadline](Self::poll_timeout).
#[derive(Debug, Clone)]
pub struct Download {
    request: MassStatus,
    timeout: Duration,
    step: Option<Step>,
}

/// A request in progress.
#[derive(Debug, Clone, Copy)]
struct Step {
    /// The index of the requested qualifier.
    index: usize,
    uuid: u64,
    sent: Sent,
    deadline: Instant,
    /// The number of orders reported so far, including earlier requests.
    orders: u64,
}

/// A completed download.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Downloaded {
    /// The number of orders.
    pub orders: u64,
}

/// An error that ends a download early.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DownloadError {
    /// A request could not be sent.
    #[error("cannot request orders: {0}")]
    Send(SendError),
    /// The exchange refused a request.
    #[error("cannot request orders: exchange refused with {0}")]
    Refused(BusinessRejectReason),
    /// The exchange did not apply a request.
    #[error("cannot request orders: request not applied")]
    NotApplied,
    /// No report arrived within the timeout.
    #[error("cannot download orders: no report within the timeout")]
    TimedOut,
    /// The connection ended.
    #[error("cannot download orders: connection closed")]
    Disconnected,
}

/// The result of a download.
pub type DownloadResult = Result<Downloaded, DownloadError>;

impl Download {
    /// Creates a download of the orders of one market segment. `timeout` is the longest time
    /// between two reports.
    #[must_use]
    pub const fn new(market_segment_id: u8, timeout: Duration) -> Self {
        Self::with_request(MassStatus::market_segment(market_segment_id), timeout)
    }

    /// Creates a download of the orders of all market segments, on a
    /// [convenience gateway](crate::GatewayKind) only; since schema version 8.
    #[must_use]
    pub const fn all_segments(timeout: Duration) -> Self {
        Self::with_request(MassStatus::all(), timeout)
    }

    /// Creates a download of a part of the market. Qualifier and id of `request` are ignored.
    #[must_use]
    pub const fn with_request(request: MassStatus, timeout: Duration) -> Self {
        Self { request, timeout, step: None }
    }

    /// Starts the download from the beginning.
    ///
    /// # Errors
    /// [`SendError`]; no download is in progress.
    pub fn start(&mut self, sender: &mut Sender<'_>) -> Result<(), SendError> {
        self.request(sender, 0, 0)
    }

    /// Returns `true` while reports are expected.
    #[must_use]
    pub fn is_in_progress(&self) -> bool {
        self.step.is_some()
    }

    /// Returns the deadline for [`handle_timeout`](Self::handle_timeout).
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.step.map(|step| step.deadline)
    }

    /// Ends the download if the timeout has passed.
    pub fn handle_timeout(&mut self, now: Now) -> Option<DownloadResult> {
        self.step.take_if(|step| step.deadline <= now.monotonic)?;
        Some(Err(DownloadError::TimedOut))
    }

    /// Ends the download after the connection was lost.
    pub fn handle_disconnected(&mut self) -> Option<DownloadResult> {
        self.step.take()?;
        Some(Err(DownloadError::Disconnected))
    }

    /// Ends the download if its request was not applied and is not sent again.
    pub fn handle_not_applied(&mut self, not_applied: NotApplied) -> Option<DownloadResult> {
        let NotApplied { from_seq_no, count } = not_applied;
        let numbers = from_seq_no..from_seq_no.saturating_add(count);
        self.step.take_if(|step| numbers.contains(&step.sent.seq_num))?;
        Some(Err(DownloadError::NotApplied))
    }

    /// Processes a message of the exchange. Returns the result if the message ends the download.
    /// Ignores messages that do not answer its requests.
    #[inline]
    pub fn handle_message(
        &mut self,
        sender: &mut Sender<'_>,
        message: &Message<'_>,
    ) -> Option<DownloadResult> {
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
        if is_last { self.request_next(sender) } else { None }
    }

    /// Counts a reported order. Returns `true` for the last one, `None` if the report answers
    /// another request.
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
        // If there are no orders, the exchange reports an order with an undefined status.
        let orders = step.orders + u64::from(report.ord_status() != OrderStatus::UNDEFINED);
        let deadline = sender.now().monotonic + self.timeout;
        self.step = Some(Step { orders, deadline, ..step });
        Some(report.last_rpt_requested() == Some(BooleanNULL::TRUE))
    }

    /// Requests the next qualifier, if there is one.
    fn request_next(&mut self, sender: &mut Sender<'_>) -> Option<DownloadResult> {
        let Step { index, orders, .. } = self.step.take()?;
        if index + 1 == QUALIFIERS.len() {
            return Some(Ok(Downloaded { orders }));
        }
        self.request(sender, index + 1, orders).err().map(|error| Err(DownloadError::Send(error)))
    }

    fn request(
        &mut self,
        sender: &mut Sender<'_>,
        index: usize,
        orders: u64,
    ) -> Result<(), SendError> {
        self.step = None;
        let time_in_force = Some(QUALIFIERS[index]);
        let sent = sender.send(&MassStatus { time_in_force, request_id: None, ..self.request })?;
        let (uuid, deadline) = (sender.progress().uuid, sender.now().monotonic + self.timeout);
        self.step = Some(Step { index, uuid, sent, deadline, orders });
        Ok(())
    }
}

/// Returns the reason if `message` refuses the request of `step`.
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
