//! The client session against the exchange's gateway: two readings of CME's documents, in fake
//! time, over a path that cuts the bytes.
#![allow(clippy::unwrap_used, reason = "this is all tests")]

use hairpin_cme_codecs::ilink3::{ExecutionReportCancel534, ExecutionReportNew522, SideReq};
use hairpin_exchange as exchange;
use hairpin_ilink3::*;
use hairpin_sbe::Decimal;
use hairpin_time::{Duration, Instant, Now, Utc};

const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
const UTC: u64 = 1_700_000_000_000_000_000;

#[derive(Default)]
struct Wire(Vec<u8>);

impl Outlet for Wire {
    fn send(
        &mut self,
        max: usize,
        encode: &mut dyn FnMut(&mut [u8]) -> Option<usize>,
    ) -> Result<Delivery, OutletError> {
        let mut frame = vec![0; max];
        let length = encode(&mut frame).ok_or(OutletError::Abandoned)?;
        self.0.extend_from_slice(&frame[..length]);
        Ok(Delivery::Written)
    }
}

struct Quiet;
impl exchange::Listener for Quiet {}

#[derive(Default)]
struct Told {
    lines: Vec<String>,
    working: Vec<u64>,
}

impl Listener for Told {
    fn on_state(&mut self, _: &mut Sender<'_>, state: State) {
        self.lines.push(state.to_string());
    }
    fn on_execution_report_new(
        &mut self,
        _: &mut Sender<'_>,
        r: ExecutionReportNew522<'_>,
        _: &Message<'_>,
    ) {
        self.working.push(r.order_id());
        self.lines.push(format!("new {} {}", r.cl_ord_id(), r.price()));
    }
    fn on_execution_report_cancel(
        &mut self,
        _: &mut Sender<'_>,
        r: ExecutionReportCancel534<'_>,
        _: &Message<'_>,
    ) {
        self.lines.push(format!("cancelled {}", r.cl_ord_id()));
    }
    fn on_message(&mut self, _: &mut Sender<'_>, m: &Message<'_>) {
        self.lines.push(format!("message {}", m.header.template_id));
    }
    fn on_reject(&mut self, _: &mut Sender<'_>, r: &Rejected<'_>) {
        self.lines.push(format!("rejected {}", r.code));
    }
    fn on_terminate(&mut self, _: &mut Sender<'_>, t: &Terminated<'_>) {
        self.lines.push(format!("terminated {} {}", t.code.0, t.answer));
    }
    fn on_not_applied(&mut self, _: &mut Sender<'_>, n: NotApplied) {
        self.lines.push(format!("{n:?}"));
    }
    fn on_gap(&mut self, _: &mut Sender<'_>, g: Gap) {
        self.lines.push(format!("{g:?}"));
    }
    fn on_error(&mut self, _: &mut Sender<'_>, e: &Error) {
        self.lines.push(e.to_string());
    }
    fn on_warning(&mut self, _: &mut Sender<'_>, w: &Warning) {
        self.lines.push(w.to_string());
    }
}

fn security_id() -> i32 {
    exchange::Instrument::numbered(2)[0].security_id
}

/// Both sides and the path between them.
struct World {
    now: Now,
    session: Session,
    told: Told,
    wire: Wire,
    gateway: exchange::Gateway,
    floor: exchange::Floor,
    id: Option<exchange::ConnectionId>,
    piece: usize,
}

impl World {
    fn new(key: &str, piece: usize) -> Self {
        let now = Now { monotonic: Instant::from_nanos(1), utc: Utc::from_nanos(UTC) };
        let settings = Settings {
            access_key_id: "ACCESS-KEY-ID-123456".into(),
            secret_key: SecretKey::from_base64url(key).unwrap(),
            session: "ABC".into(),
            firm: "DEFGH".into(),
            trading_system_name: "Test".into(),
            trading_system_version: "1".into(),
            trading_system_vendor: "Test".into(),
            keep_alive_interval: KEEP_ALIVE_DEFAULT,
            operator: Operator::automated("TRADER", "US,IL"),
        };
        let instruments = exchange::Instrument::numbered(2);
        let floor = exchange::Floor::new(
            &exchange::FloorSettings { instruments, ..Default::default() },
            now,
        );
        let credentials =
            exchange::Credentials::new("ACCESS-KEY-ID-123456", KEY, "ABC", "DEFGH").unwrap();
        Self {
            now,
            session: Session::new(settings, Progress::default()).unwrap(),
            told: Told::default(),
            wire: Wire::default(),
            gateway: exchange::Gateway::new(vec![credentials], 2, 32_768),
            floor,
            id: None,
            piece,
        }
    }

    fn run(&mut self) {
        loop {
            let mut busy = false;
            let mut buffer = [0; CONTROL_LENGTH];
            while let Some(length) = self.session.poll_transmit(self.now, &mut buffer) {
                self.wire.0.extend_from_slice(&buffer[..length]);
            }
            let out = std::mem::take(&mut self.wire.0);
            if let Some(id) = self.id {
                for piece in out.chunks(self.piece) {
                    busy = true;
                    self.gateway.handle_bytes(self.now, id, piece, &mut self.floor, &mut Quiet);
                }
            }
            while let Some(action) = self.session.poll_action() {
                busy = true;
                match action {
                    Action::Connect => {
                        self.id = self.gateway.handle_connected(self.now, &mut Quiet);
                        self.session.handle_connected(self.now, &mut self.wire, &mut self.told);
                    }
                    Action::Close => {
                        self.gateway.handle_closed(self.id.take().unwrap(), &mut Quiet);
                        self.session.handle_disconnected(self.now, &mut self.wire, &mut self.told);
                    }
                }
            }
            if let Some(id) = self.id {
                let back = self.gateway.poll_transmit(id).unwrap_or_default().to_vec();
                self.gateway.handle_sent(id, back.len());
                for piece in back.chunks(self.piece) {
                    busy = true;
                    self.session.handle_bytes(self.now, piece, &mut self.wire, &mut self.told);
                }
            }
            while let Some(exchange::Action::Close(_)) = self.gateway.poll_action(&mut Quiet) {
                busy = true;
                if self.id.take().is_some() {
                    self.session.handle_disconnected(self.now, &mut self.wire, &mut self.told);
                }
            }
            if !busy {
                return;
            }
        }
    }

    fn pass(&mut self, millis: u64) {
        let span = Duration::from_millis(millis);
        self.now = Now { monotonic: self.now.monotonic + span, utc: self.now.utc + span };
        self.session.handle_timeout(self.now, &mut self.wire, &mut self.told);
        self.gateway.handle_timeout(self.now, &mut Quiet);
        self.run();
    }

    fn log_on(&mut self, binding: Binding) {
        self.session.connect(self.now, binding).unwrap();
        self.run();
    }

    fn order(&mut self, id: u64, price: i64) {
        let order = NewOrder::limit(security_id(), SideReq::BUY, Decimal(price), 1, id.into());
        self.session.sender(self.now, &mut self.wire).send(&order).unwrap();
        self.run();
    }

    /// Cancels the order that last began to work.
    fn cancel(&mut self, id: u64) {
        let order_id = *self.told.working.last().unwrap();
        let cancel = CancelOrder::new(order_id, security_id(), SideReq::BUY, id.into());
        self.session.sender(self.now, &mut self.wire).send(&cancel).unwrap();
        self.run();
    }

    fn lose_connection(&mut self) {
        self.gateway.handle_closed(self.id.take().unwrap(), &mut Quiet);
        self.session.handle_disconnected(self.now, &mut self.wire, &mut self.told);
        self.pass(1);
    }

    /// What the client was told since the last look.
    fn told(&mut self) -> Vec<String> {
        std::mem::take(&mut self.told.lines)
    }
}

#[test]
fn two_readings_of_the_documents_agree() {
    const LOGON: [&str; 4] = ["connecting", "negotiating", "establishing", "established"];
    for piece in [1, 7, 100_000] {
        let mut world = World::new(KEY, piece);
        world.log_on(Binding::New);
        assert_eq!(world.told(), LOGON);
        world.order(5, 1_000_000_000);
        assert_eq!(world.told(), ["new 5 1"]);
        // Five quiet minutes: both sides keep alive, and neither asks for a sign of life.
        (0..3_000).for_each(|_| world.pass(100));
        assert!(world.told().is_empty());
        assert!(world.session.outbound_counters().sequences > 30);
        world.cancel(6);
        assert_eq!(world.told(), ["cancelled 6"]);
        world.order(7, 999_999_000_000_000);
        assert_eq!(world.told(), ["new 7 999999", "message 525"]);

        world.lose_connection();
        assert_eq!(world.told(), ["connection lost while established", "disconnected"]);
        world.log_on(Binding::Resume);
        assert_eq!(world.told(), ["connecting", "establishing", "established"]);
        world.session.terminate(world.now);
        world.run();
        assert_eq!(world.told(), ["terminating", "terminated 0 true", "disconnected"]);

        world.pass(1);
        world.log_on(Binding::New);
        assert_eq!(world.told(), LOGON);
        world.gateway.terminate(world.now, world.id.unwrap(), &mut Quiet);
        world.run();
        assert_eq!(world.told(), ["terminating", "terminated 0 false", "disconnected"]);
        assert_eq!(world.session.inbound_counters().errors(), 1, "the lost connection");
    }
}

#[test]
fn a_wrong_key_is_refused() {
    let mut world = World::new("AAAA", 50);
    world.log_on(Binding::New);
    let told = world.told();
    assert_eq!(told[2], "rejected 0 (signature does not match)");
    assert_eq!(world.session.state(), State::Disconnected);
}
