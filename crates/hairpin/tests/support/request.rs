//! Random requests of a trader, and the working orders according to the trader and to the exchange.
#![allow(dead_code, reason = "each test program uses a part")]

use hairpin_cme_codecs::ilink3::{OrderStatusRequest533, SideNULL, SideReq};
use hairpin_exchange as exchange;
use hairpin_ilink3::{Outgoing, Stamp};
use hairpin_netsim::Random;
use hairpin_order_entry::{
    CancelOrder, Decimal, EncodeError, Intent, MassCancel, NewOrder, Order, OrderRequest, Orders,
    ReplaceOrder, SendError, Sender, Sent,
};

/// The first of two instruments, whose books stay around 1,000.
pub(crate) const FIRST: i32 = 1_001;
/// A price at which no order trades, and one at which every buy order trades.
pub(crate) const LOW: i64 = 1_000_000_000;
const HIGH: i64 = 999_999_000_000_000;

/// A request for the status of an order.
pub(crate) struct Status(pub(crate) u64);

impl Outgoing for Status {
    const MAX_LENGTH: usize = OrderStatusRequest533::ENCODED_LENGTH;

    fn encode(&self, stamp: &Stamp<'_>, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        OrderStatusRequest533::encode(buffer)?
            .set_party_details_list_req_id(stamp.operator.party_details_list_req_id)
            .set_ord_status_req_id(stamp.seq_num.into())
            .set_manual_order_indicator(stamp.operator.manual_order_indicator)
            .set_sender_id(stamp.operator.sender_id)
            .set_order_id(self.0)
            .set_sending_time_epoch(stamp.sending_time.as_nanos())
            .set_location(stamp.operator.location);
        Ok(Self::MAX_LENGTH)
    }
}

impl OrderRequest for Status {
    fn intent(&self) -> Intent {
        Intent::Other
    }
}

/// A truncated order, which the gateway refuses without using its number.
pub(crate) struct Broken(NewOrder);

impl Outgoing for Broken {
    const MAX_LENGTH: usize = NewOrder::MAX_LENGTH;

    fn request_id(&self, seq_num: u32) -> Option<u64> {
        self.0.request_id(seq_num)
    }

    fn encode(&self, stamp: &Stamp<'_>, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        self.0.encode(stamp, buffer)?;
        Ok(40)
    }
}

impl OrderRequest for Broken {
    fn intent(&self) -> Intent {
        self.0.intent()
    }
}

/// A request.
pub(crate) enum Request {
    New(NewOrder),
    Cancel(CancelOrder),
    Replace(ReplaceOrder),
    MassCancel(MassCancel),
    Status(Status),
    Broken(Broken),
}

impl Request {
    /// Draws a request that fits the trader's working orders, or none. `id` is an unused ClOrdID.
    pub(crate) fn draw(random: &mut Random, orders: &Orders, id: u64) -> Option<Self> {
        match random.below(19) {
            0..8 => Some(Self::New(draw_order(random, id))),
            8..12 => {
                let order = draw_working(random, orders)?;
                let order_id = order.order_id.expect("the order works");
                let (security_id, side) = (order.security_id, order.side);
                Some(Self::Cancel(CancelOrder::new(order_id, security_id, side, id.into())))
            }
            12..15 => {
                let terms = draw_order(random, id);
                let order = draw_working(random, orders)?;
                let (security_id, side) = (order.security_id, order.side);
                let terms = NewOrder { security_id, side, ..terms };
                let order_id = order.order_id.expect("the order works");
                let replace = ReplaceOrder::from_order(order_id, &terms);
                let is_mitigated = random.below(2) == 0;
                Some(Self::Replace(if is_mitigated {
                    replace.with_in_flight_mitigation()
                } else {
                    replace
                }))
            }
            15 => (random.below(6) == 0).then(|| Self::MassCancel(draw_mass_cancel(random))),
            16 | 17 => {
                let order_id = draw_working(random, orders).and_then(|order| order.order_id);
                Some(Self::Status(Status(order_id.map_or(77, |id| id.0))))
            }
            _ => (random.below(3) == 0).then(|| Self::Broken(Broken(draw_order(random, id)))),
        }
    }

    /// Sends the request and tracks it in `orders`.
    ///
    /// # Errors
    /// [`SendError`].
    pub(crate) fn send(
        &self,
        orders: &mut Orders,
        sender: &mut Sender<'_>,
    ) -> Result<Sent, SendError> {
        match self {
            Self::New(message) => orders.send(sender, message),
            Self::Cancel(message) => orders.send(sender, message),
            Self::Replace(message) => orders.send(sender, message),
            Self::MassCancel(message) => orders.send(sender, message),
            Self::Status(message) => orders.send(sender, message),
            Self::Broken(message) => orders.send(sender, message),
        }
    }
}

/// Draws a new order.
fn draw_order(random: &mut Random, id: u64) -> NewOrder {
    let (id, quantity) = (id.into(), 1 + random.below(20) as u32);
    let security = FIRST + random.below(2) as i32;
    let side = *random.pick(&[SideReq::BUY, SideReq::SELL]);
    let near = (996 + random.below(9)) as i64 * 1_000_000_000;
    let far = if side == SideReq::BUY { LOW } else { HIGH };
    let limit = |price| NewOrder::limit(security, side, Decimal(price), quantity, id);
    let trigger = if side == SideReq::BUY { HIGH } else { LOW };
    match random.below(11) {
        0 => NewOrder::market(security, side, quantity, id),
        1 => NewOrder::market_limit(security, side, quantity, id),
        2 => limit(near).fill_and_kill(),
        3 => limit(near).fill_or_kill(),
        4 => limit(far).good_till_cancel(),
        5 => limit(far).good_till_date(30_000),
        6 => NewOrder::stop(security, side, Decimal(trigger), quantity, id),
        7 => limit(near + 1),
        8 | 9 => limit(near),
        _ => limit(far),
    }
}

/// Draws a working order of the trader.
fn draw_working(random: &mut Random, orders: &Orders) -> Option<Order> {
    let count = orders.working().count() as u64;
    orders.working().nth(random.below(count) as usize).copied()
}

fn draw_mass_cancel(random: &mut Random) -> MassCancel {
    let side = *random.pick(&[None, Some(SideNULL::BUY)]);
    let mass = match random.below(3) {
        0 => MassCancel::all(),
        1 => MassCancel::market_segment(64),
        _ => MassCancel::instrument(FIRST),
    };
    MassCancel { side, ..mass }
}

/// OrderID, traded quantity and open quantity.
pub(crate) type Row = (u64, u32, u32);

/// Returns the working orders according to the trader.
pub(crate) fn tracked_rows(orders: &Orders) -> Vec<Row> {
    let row = |it: &Order| (it.order_id.expect("the order works").0, it.filled, it.leaves);
    let mut rows: Vec<_> = orders.working().map(row).collect();
    rows.sort_unstable();
    rows
}

/// Returns the first account's orders at the exchange.
pub(crate) fn held(market: &exchange::SimulatedMarket) -> Vec<Row> {
    let matching = market.matching();
    let resting = (0..matching.instruments())
        .flat_map(|instrument| exchange::Side::BOTH.map(|side| matching.orders(instrument, side)))
        .flatten();
    let stops = matching.stops().iter().map(|stop| &stop.order);
    let all = resting.chain(stops).filter(|order| order.owner == exchange::Owner(1));
    let mut rows: Vec<_> = all.map(|it| (it.id.0, it.traded, it.remaining)).collect();
    rows.sort_unstable();
    rows
}
