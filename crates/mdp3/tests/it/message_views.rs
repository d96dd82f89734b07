//! Callback views of arbitrary bytes.

use crate::support::*;
use hairpin_mdp3::{
    Channel, Collateral, DefinitionUpdate, EndOfEvent, Feed, FeedLine, Input, LateJoin, Listener,
    QuoteRequest, Settings, Trade, Workup,
};
use hairpin_time::{Instant, Now, Utc};
use proptest::prelude::*;

/// Reads every part of every view.
#[derive(Default)]
struct ViewReader {
    looked: usize,
}

impl Listener for ViewReader {
    fn on_trade(&mut self, trade: &Trade<'_>) {
        let (own, all) = (trade.orders(), trade.message_orders());
        assert!(own.len() <= all.len());
        self.looked += own.count() + all.count();
    }
    fn on_quote_request(&mut self, request: &QuoteRequest<'_>) {
        self.looked += request.entries().count();
    }
    fn on_workup(&mut self, workup: &Workup<'_>) {
        self.looked += workup.orders().count();
    }
    fn on_collateral(&mut self, collateral: &Collateral<'_>) {
        self.looked += collateral.values().count();
    }
    fn on_definition(&mut self, update: &DefinitionUpdate<'_>) {
        let definition = update.definition;
        let prices = [definition.high_limit_price, definition.low_limit_price];
        for price in prices.into_iter().flatten() {
            let shown = definition.display_price(price).to_string();
            assert!((1..=64).contains(&shown.len()), "{shown}");
            self.looked += usize::from(definition.tick_at(price).is_some());
        }
        self.looked += definition.lots.len();
    }
    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        for instrument in event.instruments.iter() {
            let definition = event.instruments.definition(instrument);
            let book = event.instruments.book(instrument);
            if let Some(definition) = definition {
                self.looked += book.display(definition).to_string().len();
            }
            let statistics = event.instruments.statistics(instrument);
            self.looked += format!("{statistics:?}").len();
            let _ = (event.instruments.price_limits(instrument), book.best(), book.copied());
        }
    }
}

/// Generates a message with a template and any body that fits in MsgSize.
fn message() -> impl Strategy<Value = ([u16; 4], Vec<u8>)> {
    let template = prop::sample::select(vec![
        37, 39, 46, 48, 49, 50, 51, 54, 55, 56, 57, 58, 60, 62, 63, 64, 65, 66, 67,
    ]);
    let block = prop::sample::select(vec![0, 11, 30, 35, 224, 221, 255, 338, 276, 337]);
    let header = (block, template, Just(1), 9..=14u16);
    let header =
        header.prop_map(|(block, template, schema, version)| [block, template, schema, version]);
    (header, prop::collection::vec(any::<u8>(), 0..600))
}

proptest! {
    #[test]
    fn views_of_any_body_do_not_panic(messages in prop::collection::vec(message(), 1..8)) {
        let settings = Settings { late_join: LateJoin::Nothing, ..SETTINGS };
        let (mut channel, mut reader) = (Channel::new(settings), ViewReader::default());
        for (sequence, (header, body)) in (1..).zip(&messages) {
            let packet = packet(sequence).raw(*header, body).book(END, &[]);
            let now = Now { monotonic: Instant::ZERO, utc: Utc::EPOCH };
            let input = Input { feed: Feed::Incremental, line: FeedLine::A, received: None };
            channel.handle_packet(now, input, packet.bytes(), &mut reader);
        }
        prop_assert!(channel.counters().messages >= messages.len() as u64);
    }

    #[test]
    fn assigns_any_number_of_orders_to_trades(
        trades in prop::collection::vec((1..100i32, -1..5i32), 1..6),
        orders in prop::collection::vec((1..9u64, 1..100i32), 0..12),
    ) {
        struct Count(Vec<usize>);
        impl Listener for Count {
            fn on_trade(&mut self, trade: &Trade<'_>) {
                self.0.push(trade.orders().count());
            }
        }
        let settings = Settings { late_join: LateJoin::Nothing, ..SETTINGS };
        let (mut channel, mut count) = (Channel::new(settings), Count(Vec::new()));
        let now = Now { monotonic: Instant::ZERO, utc: Utc::EPOCH };
        let input = Input { feed: Feed::Incremental, line: FeedLine::A, received: None };
        let packet = packet(1).trades(7, 1, &trades, &orders);
        channel.handle_packet(now, input, packet.bytes(), &mut count);
        let stated = trades.iter().map(|(_, count)| (*count).max(0) as usize);
        let expected: Vec<_> = match trades.len() {
            1 => vec![orders.len()],
            _ if stated.clone().sum::<usize>() == orders.len() => stated.collect(),
            _ => vec![0; trades.len()],
        };
        prop_assert_eq!(count.0, expected);
    }
}
