//! A session of `handwritten_client` over a socket: log on, trade, request a retransmission, leave.
//! Every byte that the client receives is checked.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::handwritten_client::{
    Account, Block, Client, KEY, Message, NULL_PRICE, ON_DEMAND_ACCOUNT,
};
use hairpin_exchange::{
    Addresses, Credentials, Exchange, ExchangeSettings, GatewaySettings, PriceLevel, Side,
    SimulatedMarketSettings,
};
use hairpin_reactor::{Reactor, Wait};
use hairpin_time::{Duration, Instant, Now, Utc};

const UUID: u64 = 1_700_000_000_000_000;
const ACCOUNT: Account =
    Account { access_key: "HAIRPINTESTACCESSKEY", session: "ABC", firm: "DEFGH" };

/// An exchange in a separate thread, until dropped.
struct ExchangeThread {
    gateway: SocketAddrV4,
    /// The best offer, which only the client changes.
    offer: PriceLevel,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl ExchangeThread {
    fn open() -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (sender, reports) = mpsc::channel();
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || run(&stopped, &sender));
        let (gateway, offer) = reports.recv().unwrap();
        Self { gateway, offer, stop, thread: Some(thread) }
    }
}

impl Drop for ExchangeThread {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let outcome = self.thread.take().unwrap().join();
        assert!(outcome.is_ok() || thread::panicking(), "the exchange thread panicked");
    }
}

fn run(stop: &AtomicBool, sender: &mpsc::Sender<(SocketAddrV4, PriceLevel)>) {
    let Account { access_key, session, firm } = ACCOUNT;
    let account = || Credentials::new(access_key, KEY, session, firm).unwrap();
    let anywhere = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
    let settings = ExchangeSettings {
        market: SimulatedMarketSettings::default(),
        matching: false,
        accounts: vec![account()],
        connections: 2,
        transport: Default::default(),
        addresses: Addresses { multicast: None, tcp: None, gateway: anywhere },
    };
    let orders = settings.market.capacity.orders;
    let start = std::time::Instant::now();
    let now = || Now {
        monotonic: Instant::from_nanos(start.elapsed().as_nanos() as u64 + 1),
        utc: Utc::from_nanos(timestamp()),
    };
    let mut reactor = Reactor::new(Wait::Epoll).unwrap();
    let mut exchange = Exchange::new(settings, now(), &mut reactor).unwrap();
    exchange.set_gateway(GatewaySettings::new(vec![account()], 2, orders));
    let offer = exchange.market().matching().best(0, Side::Offer).unwrap();
    sender.send((exchange.gateway_address(), offer)).unwrap();
    while !stop.load(Ordering::Relaxed) {
        let soon = now().monotonic + Duration::from_millis(5);
        let ready = reactor.wait(now().monotonic, Some(soon)).unwrap();
        exchange.step(now(), ready, &mut reactor, &mut ()).unwrap();
    }
}

/// Returns nanoseconds since 1970, later on each call.
fn timestamp() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64
}

/// Returns the leading fields of all reports of the order.
fn report(length: usize, number: u32, name: &str) -> Block {
    Block::new(length).u32(0, number).u64(4, UUID).text(52, "STRANGER").text(72, name).u64(92, 1)
}

fn expect_new(new: &Message, price: i64, quantity: u32) {
    let block = report(226, 1, "BUY-1")
        .i64(108, price)
        .i64(116, NULL_PRICE)
        .u64(140, 71)
        // CrossID, HostCrossID.
        .ones(148, 16)
        .text(164, "GB")
        .u32(169, 1_001)
        .u32(173, quantity)
        // MinQty, DisplayQty, ExpireDate, DelayDuration.
        .ones(177, 4)
        .u32(181, 1)
        .ones(185, 4)
        .u8(189, b'2')
        .u8(190, 1)
        .u8(191, 0)
        .u8(192, 1)
        .u8(193, 0)
        // SplitMsg, CrossType.
        .ones(194, 2)
        // ExecInst and ExecutionMode are 0; LiquidityFlag, ManagedOrder, ShortSaleType,
        // DelayToTime.
        .ones(198, 11)
        .i64(209, NULL_PRICE)
        .i64(217, NULL_PRICE)
        .u8(225, 0xFF);
    assert_eq!((new.template, new.rest.len()), (522, 0));
    // ExecID, OrderID, TransactTime and SendingTimeEpoch.
    new.assert_block(block, &[(12, 40), (100, 8), (124, 8), (132, 8)]);
}

fn expect_trade(trade: &Message, order: u64, price: i64, quantity: u32) {
    let block = report(293, 2, "BUY-1")
        .i64(100, price)
        .u64(108, order)
        .i64(116, price)
        .i64(124, NULL_PRICE)
        .u64(148, 71)
        // CrossID, HostCrossID.
        .ones(164, 16)
        .text(180, "GB")
        .u32(185, 1_001)
        .u32(189, quantity + 1)
        .u32(193, quantity)
        .u32(197, quantity)
        // TradeLinkID.
        .ones(209, 4)
        .u32(213, 1)
        // ExpireDate.
        .ones(219, 2)
        .u8(221, 1)
        .u8(222, b'2')
        .u8(223, 1)
        .u8(224, 0)
        .u8(225, 1)
        .u8(226, 0)
        .u8(227, 1)
        // CrossType; LiquidityFlag, ManagedOrder, ShortSaleType.
        .ones(228, 1)
        .ones(231, 3)
        .i64(235, NULL_PRICE)
        // TrdType, ExecRestatementReason, SettlDate, MaturityDate.
        .ones(243, 7)
        // CalculatedCcyLastQty, GrossTradeAmt: mantissa and exponent.
        .i64(250, NULL_PRICE)
        .u8(258, 127)
        .i64(259, NULL_PRICE)
        .u8(267, 127)
        .i64(268, NULL_PRICE)
        .i64(276, NULL_PRICE)
        .u8(284, 0xFF)
        .i64(285, NULL_PRICE);
    // ExecID, TransactTime, SendingTimeEpoch, SecExecID, MDTradeEntryID, SideTradeID, TradeDate.
    let unpredictable = [(12, 40), (132, 8), (140, 8), (156, 8), (201, 4), (205, 4), (217, 2)];
    trade.assert_block(block, &unpredictable);
    let days = u64::from(trade.u16(217));
    assert_eq!(days, trade.u64(132) / 86_400_000_000_000, "TradeDate is the day of TransactTime");
    assert_eq!((trade.template, trade.u64(156)), (525, trade.u32(201).into()));
    // One fill of 15 bytes, and no entry of NoOrderEvents.
    let fill = Block::new(15).i64(0, price).u32(8, quantity).text(12, "1");
    assert_eq!(trade.rest, [&[15, 0, 1], &fill.0[..], &[41, 0, 0]].concat());
}

fn expect_cancelled(canceled: &Message, order: u64, price: i64, traded: u32, owner: &str) {
    let block = report(247, 3, "CANCEL-1")
        .u64(100, order)
        .i64(108, price)
        .i64(116, NULL_PRICE)
        .u64(140, 72)
        // CrossID, HostCrossID.
        .ones(148, 16)
        .text(164, "GB")
        .u32(169, 1_001)
        .u32(173, traded + 1)
        .u32(177, traded)
        // MinQty, DisplayQty, ExpireDate, DelayDuration.
        .ones(181, 4)
        .u32(185, 1)
        .ones(189, 4)
        .u8(193, b'2')
        .u8(194, 1)
        .u8(195, 0)
        .u8(196, 1)
        .u8(197, 0)
        // SplitMsg, ExecRestatementReason, CrossType.
        .ones(198, 3)
        // LiquidityFlag, ManagedOrder, ShortSaleType, DelayToTime.
        .ones(203, 11)
        .i64(214, NULL_PRICE)
        .i64(222, NULL_PRICE)
        .u8(230, 0xFF)
        .text(231, owner);
    assert_eq!((canceled.template, canceled.rest.len()), (534, 0));
    canceled.assert_block(block, &[(12, 40), (124, 8), (132, 8)]);
}

/// Logs on and checks both answers.
fn log_on(client: &mut Client) {
    let at = timestamp();
    let answer = client.negotiate(at);
    // SecretKeySecureIDExpiration; FTI; SplitMsg; no previous messages; EnvironmentIndicator.
    let block =
        Block::new(33).u64(0, UUID).u64(8, at).ones(16, 2).u8(18, 1).ones(19, 1).ones(32, 1);
    answer.assert_block(block, &[]);
    assert_eq!((answer.template, answer.version, &answer.rest[..]), (501, 9, &[0, 0][..]));
    let at = timestamp();
    let answer = client.establish(at);
    let block = Block::new(39)
        .u64(0, UUID)
        .u64(8, at)
        .u32(16, 1)
        .u16(32, 30_000)
        .ones(34, 2)
        .u8(36, 1)
        .ones(37, 2);
    answer.assert_block(block, &[]);
    assert_eq!((answer.template, answer.rest.len()), (504, 0));
}

/// Takes the whole best offer and rests one contract, then cancels it. Returns the reports.
fn trade(client: &mut Client, offer: &PriceLevel, owner: &str) -> [Message; 3] {
    let (price, quantity) = (offer.price.0, offer.quantity);
    client.buy(price, quantity + 1);
    let new = client.receive();
    expect_new(&new, price, quantity + 1);
    let order = new.u64(100);
    let trade = client.receive();
    expect_trade(&trade, order, price, quantity);
    client.cancel(order);
    let canceled = client.receive();
    expect_cancelled(&canceled, order, price, quantity, owner);
    [new, trade, canceled]
}

/// Requests a retransmission of all reports: the same bytes except for PossRetransFlag.
fn request_retransmission(client: &mut Client, reports: &[Message; 3]) {
    let at = timestamp();
    client.request_retransmission(at, 1, 3);
    let announced = client.receive();
    let block =
        Block::new(31).u64(0, UUID).ones(8, 8).u64(16, at).u32(24, 1).u16(28, 3).ones(30, 1);
    announced.assert_block(block, &[]);
    assert_eq!(announced.template, 509);
    for (message, flag) in reports.iter().zip([193, 226, 197]) {
        let again = client.receive();
        assert_eq!((message.u8(flag), again.u8(flag)), (0, 1), "{}", message.template);
        let mut expected = message.clone();
        expected.block[flag] = 1;
        assert_eq!(again, expected);
    }
}

fn run_session(version: u16, owner: &str) {
    let house = ExchangeThread::open();
    let mut client = Client::connect(house.gateway, ACCOUNT, version, UUID);
    log_on(&mut client);
    let reports = trade(&mut client, &house.offer, owner);
    request_retransmission(&mut client, &reports);
    client.ping();
    let pong = client.receive();
    pong.assert_block(Block::new(14).u64(0, UUID).u32(8, 4).u8(12, 1).u8(13, 0), &[]);
    assert_eq!(pong.template, 506);
    let at = timestamp();
    let answer = client.leave(at);
    let block = Block::new(67).text(0, "Finished").u64(48, UUID).u64(56, at).ones(66, 1);
    answer.assert_block(block, &[]);
    assert_eq!((answer.template, answer.u16(64)), (507, 0));
}

#[test]
fn independent_client_trades_at_version_9() {
    run_session(9, "OWNER");
}

/// Version 5 has shorter blocks, and the client skips the unknown end of longer ones.
#[test]
fn independent_client_trades_at_version_5() {
    run_session(5, "");
}

/// On-demand details have id 0; their acknowledgement repeats every field and precedes the report.
#[test]
fn independent_client_sends_party_details_on_demand() {
    let house = ExchangeThread::open();
    let mut client = Client::connect(house.gateway, ACCOUNT, 9, UUID);
    log_on(&mut client);
    client.buy_on_demand(house.offer.price.0 - 250_000_000_000, 1);
    let ack = client.receive();
    let block = Block::new(159)
        .u32(0, 1)
        .u64(4, UUID)
        .text(12, "MEMO")
        .text(87, "AVERAGE")
        .u64(107, 0)
        .u64(123, 4_242)
        .u8(131, 0)
        .u8(132, 2)
        .u8(133, 1)
        .u8(134, b'N')
        .u8(135, 3)
        .u8(136, 1)
        .u8(137, b'S')
        .u8(138, b'Y')
        .u8(139, b'A')
        .u8(140, 0)
        .u64(141, 77)
        .u64(149, 78)
        .u8(157, 0)
        .ones(158, 1);
    // SendingTimeEpoch.
    ack.assert_block(block, &[(115, 8)]);
    let parties = [&[22, 0, 1][..], ON_DEMAND_ACCOUNT, &[24, 0], &[2, 0, 1, 2, 12]].concat();
    assert_eq!((ack.template, &ack.rest), (519, &parties));
    let new = client.receive();
    assert_eq!((new.template, new.u64(92)), (522, 0));
    // The details apply to one order only.
    client.buy(house.offer.price.0 - 250_000_000_000, 1);
    let next = client.receive();
    assert_eq!((next.template, next.u64(92)), (522, 1));
}
