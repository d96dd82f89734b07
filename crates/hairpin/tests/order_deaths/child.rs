//! The child process that is killed. It waits until its session is settled, reports, waits for
//! permission, and trades without end.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::PathBuf;

use hairpin_host::Clock;
use hairpin_mapped::Journal;
use hairpin_netsim::Random;
use hairpin_order_entry::*;
use hairpin_reactor::{Reactor, Wait};
use hairpin_time::Duration;

use crate::checker::{CAPACITY, id_of, rows};
use crate::loopback_exchange::{ACCESS_KEY_ID, KEY};

pub(crate) const FOLDER: &str = "HAIRPIN_ORDER_TRADER";
pub(crate) const GATEWAY: &str = "HAIRPIN_ORDER_GATEWAY";
pub(crate) const PROCESS: &str = "HAIRPIN_ORDER_LIFE";

const INSTRUMENT: i32 = 1_001;
/// A price at which no order trades.
const LOW: i64 = 1_000_000_000;
/// The maximum numbers of unanswered requests and of working orders.
const IN_FLIGHT: usize = 16;
const WORKING: usize = 60;

struct ChildTrader {
    orders: Orders,
    report: File,
    random: Random,
    /// The number that Establish has named.
    named: u32,
    /// The session cannot be resumed.
    is_unresumable: bool,
    probe: Option<ClOrdId>,
}

impl ChildTrader {
    fn report_line(&mut self, line: &str) {
        self.report.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    fn id(sender: &Sender<'_>) -> ClOrdId {
        let progress = sender.progress();
        let id = id_of(progress.uuid, progress.next_outgoing);
        ClOrdId(*id.as_bytes().first_chunk().unwrap())
    }

    /// Sends an order that does not trade, unless one is in flight or working.
    fn probe(&mut self, sender: &mut Sender<'_>) {
        let is_there = |id| self.orders.by_cl_ord_id(id).is_some();
        if self.probe.is_some_and(is_there) {
            return;
        }
        let id = Self::id(sender);
        let order = NewOrder::limit(INSTRUMENT, SideReq::BUY, Decimal(LOW), 1, id);
        if self.orders.send(sender, &order).is_ok() {
            self.probe = Some(id);
        }
    }

    /// Returns `true` if the order works, so that the state of every earlier message is known.
    fn is_settled(&self) -> bool {
        let probe = self.probe.and_then(|id| self.orders.by_cl_ord_id(id));
        probe.is_some_and(Order::is_working) && self.orders.in_flight().next().is_none()
    }

    fn trade(&mut self, sender: &mut Sender<'_>) {
        while sender.state() == State::Established && self.orders.in_flight().count() < IN_FLIGHT {
            if !self.act(sender) {
                return;
            }
        }
    }

    fn act(&mut self, sender: &mut Sender<'_>) -> bool {
        let (id, quantity) = (Self::id(sender), 1 + self.random.below(5) as u32);
        let working = self.orders.working().count();
        let nth = self.random.below(working.max(1) as u64) as usize;
        let order = self.orders.working().nth(nth).copied();
        let draw = self.random.below(8);
        let side = *self.random.pick(&[SideReq::BUY, SideReq::SELL]);
        let price = LOW * (1 + draw as i64);
        let limit = NewOrder::limit(INSTRUMENT, SideReq::BUY, Decimal(price), quantity, id);
        let sent = match (draw, order) {
            (0, _) => self.orders.send(sender, &NewOrder::market(INSTRUMENT, side, quantity, id)),
            (1, Some(order)) => {
                let terms = NewOrder { side: order.side, ..limit };
                let replace = ReplaceOrder::from_order(order.order_id.unwrap(), &terms);
                self.orders.send(sender, &replace)
            }
            (2..5, Some(order)) => self.cancel(sender, &order, id),
            (_, Some(order)) if working >= WORKING => self.cancel(sender, &order, id),
            _ => self.orders.send(sender, &limit),
        };
        sent.is_ok()
    }

    fn cancel(
        &mut self,
        sender: &mut Sender<'_>,
        order: &Order,
        id: ClOrdId,
    ) -> Result<Sent, SendError> {
        let order_id = order.order_id.unwrap();
        self.orders.send(sender, &CancelOrder::new(order_id, order.security_id, order.side, id))
    }
}

impl TrackOrders for ChildTrader {
    fn orders(&mut self) -> &mut Orders {
        &mut self.orders
    }
}

impl Listener for ChildTrader {
    fn on_established(&mut self, sender: &mut Sender<'_>, _: &Established) {
        self.named = sender.progress().next_outgoing;
    }

    fn on_not_applied(&mut self, sender: &mut Sender<'_>, it: NotApplied) {
        let progress = sender.progress();
        let mut last = (it.from_seq_no + it.count - 1).min(progress.next_outgoing - 1);
        // At logon, the count of messages that are not applied includes that number.
        last -= u32::from(last == self.named && it.from_seq_no < self.named);
        self.report_line(&format!("not-applied {} {} {last}", progress.uuid, it.from_seq_no));
    }

    fn on_terminate(&mut self, _: &mut Sender<'_>, terminated: &Terminated<'_>) {
        let code = terminated.code;
        // A Negotiate was journaled and not sent.
        let unknown = [TerminateCode::INVALID_UUID, TerminateCode::UNNEGOTIATED];
        self.is_unresumable |= unknown.contains(&code);
        assert!(unknown.contains(&code) || code == TerminateCode::OTHER, "terminated: {code}");
    }

    fn on_reject(&mut self, _: &mut Sender<'_>, rejected: &Rejected<'_>) {
        panic!("the gateway refused a logon: {}", rejected.code);
    }

    fn on_lost(&mut self, _: &mut Sender<'_>, gap: Gap) {
        panic!("lost: {gap:?}");
    }
}

/// Returns a limit for every second process, so that some messages are committed and not written
/// yet.
fn throttle(process: u64) -> Option<ThrottleSettings> {
    let rate = Some(Rate { messages: 4, interval: Duration::from_millis(1) });
    let rates = Rates { cancels: rate, quotes: rate, others: rate };
    let beyond = WhenThrottled::Queue;
    process.is_multiple_of(2).then_some(ThrottleSettings { rates, beyond })
}

fn session(folder: PathBuf, process: u64) -> Session {
    let logon = Logon {
        access_key_id: ACCESS_KEY_ID.into(),
        secret_key: SecretKey::from_base64url(KEY).unwrap(),
        session: "ABC".into(),
        firm: "DEFGH".into(),
        trading_system_name: "Test".into(),
        trading_system_version: "1".into(),
        trading_system_vendor: "Test".into(),
        keep_alive_interval: KEEP_ALIVE_DEFAULT,
        operator: Operator::automated("TRADER", "US,IL").unwrap(),
    };
    let gateway = std::env::var(GATEWAY).unwrap().parse().unwrap();
    let journal = match folder.join("0000000001.segment").exists() {
        true => Journal::open(folder).unwrap(),
        false => {
            // The previous process was killed before its journal was complete.
            let _ = std::fs::remove_dir_all(&folder);
            Journal::create(folder, 16 << 20).unwrap()
        }
    };
    let throttle = throttle(process);
    Session::new(Settings { throttle, ..Settings::new(gateway, logon) }, journal).unwrap()
}

/// Writes the report and blocks until the parent allows the process to continue.
fn report(child: &mut ChildTrader, session: &Session) {
    let progress = session.progress();
    let all = rows(&child.orders);
    assert_eq!(rows(&Orders::from_journal(session.journal(), CAPACITY)), all);
    let rows: String =
        all.iter().map(|(id, traded, open)| format!(" {id} {traded} {open}")).collect();
    child.report_line(&format!("settled {} {}{rows}", progress.uuid, progress.next_outgoing - 1));
    std::io::stdin().read_exact(&mut [0]).unwrap();
}

#[test]
fn trades_until_it_is_killed() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let process: u64 = std::env::var(PROCESS).unwrap().parse().unwrap();
    let file = OpenOptions::new().append(true).open(folder.join(format!("report-{process}")));
    let mut session = session(folder.join("journal"), process);
    let mut child = ChildTrader {
        orders: Orders::from_journal(session.journal(), CAPACITY),
        report: file.unwrap(),
        random: Random::new(process),
        named: 0,
        is_unresumable: false,
        probe: None,
    };
    let (clock, mut reactor) = (Clock::from_kernel(), Reactor::new(Wait::Epoll).unwrap());
    let mut is_trading = false;
    loop {
        let now = clock.now();
        if session.state() == State::Disconnected {
            let may_resume = session.progress().uuid != 0 && !child.is_unresumable;
            let binding = if may_resume { Binding::Resume } else { Binding::New };
            child.is_unresumable = false;
            session.connect(now, binding).unwrap();
        }
        let next_poll = now.monotonic + Duration::from_millis(1);
        let ready = reactor.wait(now.monotonic, Some(next_poll)).unwrap();
        session
            .process(clock.now(), ready, &mut reactor, &mut OrderTracking::new(&mut child))
            .unwrap();
        if session.state() != State::Established {
            continue;
        }
        let sender = &mut session.sender(clock.now());
        match is_trading {
            true => child.trade(sender),
            false => child.probe(sender),
        }
        if !is_trading && child.is_settled() {
            report(&mut child, &session);
            is_trading = true;
        }
    }
}
