//! Short packet builders. Prices are whole numbers. Packet n is sent n milliseconds after the start
//! of 2026 unless stated otherwise.

// Relative to this file, because other crates include it.
#[path = "order_messages.rs"]
mod order_messages;

#[allow(unused_imports, reason = "not every test uses orders")]
pub use order_messages::*;

use hairpin_cme_codecs::mdp3::*;
use hairpin_mdp3::PacketHeader;
use hairpin_time::{Duration, Utc};

/// MatchEventIndicator: the event continues, or ends.
pub const MORE: u8 = 0x04;
pub const END: u8 = 0x84;

pub const YEAR_2026: Utc = Utc::from_nanos(1_767_225_600_000_000_000);

/// A packet under construction.
#[derive(Clone)]
pub struct PacketBuilder(Vec<u8>, Option<Utc>);

/// Creates a packet without messages.
pub fn packet(sequence: u32) -> PacketBuilder {
    sent_at(sequence, u64::from(sequence))
}

/// Creates a packet sent `millis` milliseconds after the start of 2026.
pub fn sent_at(sequence: u32, millis: u64) -> PacketBuilder {
    let sending_time = YEAR_2026 + Duration::from_millis(millis);
    PacketBuilder(PacketHeader { sequence, sending_time }.encode().to_vec(), None)
}

/// Creates a packet after 100 whose number is the best bid of instrument 7, with RptSeq 1 in packet
/// 101.
pub fn tick(sequence: u32) -> PacketBuilder {
    let (entry, price) = (bid(7, sequence - 100), i64::from(sequence));
    let is_first = sequence == 101;
    let entry = if is_first { entry.add(1, price, 1) } else { entry.overlay(1, price, 1) };
    packet(sequence).book(END, &[entry])
}

/// An entry of a book message.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub id: i32,
    pub rpt_seq: u32,
    pub kind: u8,
    pub action: u8,
    pub level: u8,
    pub price: Option<i64>,
    pub quantity: Option<i32>,
}

/// Returns an entry of the bid side, to be completed by an action.
pub fn bid(id: i32, rpt_seq: u32) -> Entry {
    Entry { id, rpt_seq, kind: b'0', action: 0, level: 0, price: None, quantity: None }
}

/// Returns an entry of the ask side, to be completed by an action.
pub fn ask(id: i32, rpt_seq: u32) -> Entry {
    Entry { kind: b'1', ..bid(id, rpt_seq) }
}

impl Entry {
    pub fn act(self, action: u8, level: u8, price: i64, quantity: i32) -> Self {
        Self { action, level, price: Some(price), quantity: Some(quantity), ..self }
    }
    pub fn add(self, level: u8, price: i64, quantity: i32) -> Self {
        self.act(0, level, price, quantity)
    }
    pub fn change(self, level: u8, price: i64, quantity: i32) -> Self {
        self.act(1, level, price, quantity)
    }
    pub fn delete(self, level: u8) -> Self {
        Self { action: 2, level, price: None, quantity: None, ..self }
    }
    pub fn delete_thru(self, level: u8) -> Self {
        Self { action: 3, ..self.delete(level) }
    }
    pub fn delete_from(self, level: u8) -> Self {
        Self { action: 4, ..self.delete(level) }
    }
    pub fn overlay(self, level: u8, price: i64, quantity: i32) -> Self {
        self.act(5, level, price, quantity)
    }
    pub fn with_entry_type(self, kind: u8) -> Self {
        Self { kind, ..self }
    }
}

/// Converts a whole number to a price.
pub(super) fn price(whole: i64) -> Price9 {
    Price9(whole * 1_000_000_000)
}

impl PacketBuilder {
    /// Returns the packet as on the wire.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the packet as on the wire, for corruption.
    pub fn bytes_mut(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }

    /// Gives the messages that follow the TransactTime of packet `first`: they are of its event.
    pub fn in_event_of(self, first: u32) -> Self {
        Self(self.0, Some(packet(first).transact_time()))
    }

    /// Returns the TransactTime of the messages: a microsecond before sending, unless set.
    pub fn transact_time(&self) -> Utc {
        if let Some(time) = self.1 {
            return time;
        }
        let (header, _) = PacketHeader::decode(&self.0).unwrap();
        header.sending_time - Duration::from_micros(1)
    }

    /// Returns the TransactTime in the wire format.
    pub(super) fn time(&self) -> u64 {
        self.transact_time().as_nanos()
    }

    /// Appends a message that `encode` writes from its SBE header on.
    pub fn message(mut self, encode: impl FnOnce(&mut [u8]) -> usize) -> Self {
        let mut buffer = [0; 16 * 1024];
        let length = encode(&mut buffer);
        let size = u16::try_from(2 + length).unwrap();
        self.0.extend_from_slice(&size.to_le_bytes());
        self.0.extend_from_slice(&buffer[..length]);
        self
    }

    pub fn heartbeat(self) -> Self {
        self.message(|buffer| {
            AdminHeartbeat12::encode(buffer).unwrap();
            AdminHeartbeat12::ENCODED_LENGTH
        })
    }

    pub fn book(self, indicator: u8, entries: &[Entry]) -> Self {
        self.combined(indicator, entries, &[])
    }

    /// Adds the same entries in the message with 64-bit quantities.
    pub fn long_book(self, indicator: u8, entries: &[Entry]) -> Self {
        self.long_combined(indicator, entries, &[])
    }

    pub fn trade(self, indicator: u8, id: i32, rpt_seq: u32, at: i64, quantity: i32) -> Self {
        let time = self.time();
        self.message(|buffer| {
            let (mut root, mut groups) =
                MDIncrementalRefreshTradeSummary48::encode(buffer).unwrap();
            root.set_transact_time(time).set_match_event_indicator(MatchEventIndicator(indicator));
            let mut group = groups.no_md_entries().unwrap();
            group
                .push()
                .unwrap()
                .set_md_entry_px(price(at))
                .set_md_entry_size(quantity)
                .set_security_id(id)
                .set_rpt_seq(rpt_seq)
                .set_number_of_orders(2)
                .set_aggressor_side(AggressorSide::BUY);
            groups.finish().unwrap()
        })
    }

    pub fn volume(self, indicator: u8, id: i32, rpt_seq: u32, quantity: i32) -> Self {
        self.volumes_of(indicator, id, &[rpt_seq], quantity)
    }

    /// Adds a volume of one lot with each given RptSeq.
    pub fn volumes(self, indicator: u8, id: i32, rpt_seqs: &[u32]) -> Self {
        self.volumes_of(indicator, id, rpt_seqs, 1)
    }

    fn volumes_of(self, indicator: u8, id: i32, rpt_seqs: &[u32], quantity: i32) -> Self {
        let time = self.time();
        self.message(|buffer| {
            let (mut root, mut groups) = MDIncrementalRefreshVolume37::encode(buffer).unwrap();
            root.set_transact_time(time).set_match_event_indicator(MatchEventIndicator(indicator));
            let mut group = groups.no_md_entries().unwrap();
            for rpt_seq in rpt_seqs {
                let mut entry = group.push().unwrap();
                entry.set_md_entry_size(quantity).set_security_id(id).set_rpt_seq(*rpt_seq);
            }
            groups.finish().unwrap()
        })
    }

    pub fn statistics(self, indicator: u8, id: i32, rpt_seq: u32) -> Self {
        let time = self.time();
        self.message(|buffer| {
            let (mut root, mut groups) =
                MDIncrementalRefreshSessionStatistics51::encode(buffer).unwrap();
            root.set_transact_time(time).set_match_event_indicator(MatchEventIndicator(indicator));
            let mut group = groups.no_md_entries().unwrap();
            group.push().unwrap().set_security_id(id).set_rpt_seq(rpt_seq);
            groups.finish().unwrap()
        })
    }

    /// Adds a status of one instrument: status, reason and event as numbers.
    pub fn status(self, id: i32, status: u8, halt_reason: u8, event: u8) -> Self {
        self.status_of(Some(id), ("", ""), (status, halt_reason, event))
    }

    /// Adds a status of a group, or of a product in it.
    pub fn group_status(self, group: &str, asset: &str, status: u8) -> Self {
        self.status_of(None, (group, asset), (status, 0, 0))
    }

    fn status_of(
        self,
        id: Option<i32>,
        (group, asset): (&str, &str),
        (status, halt_reason, event): (u8, u8, u8),
    ) -> Self {
        let time = self.time();
        self.message(|buffer| {
            let mut root = SecurityStatus30::encode(buffer).unwrap();
            root.set_transact_time(time)
                .set_security_group(group)
                .set_asset(asset)
                .set_security_id(id)
                .set_trade_date(20_454)
                .set_match_event_indicator(MatchEventIndicator(END))
                .set_security_trading_status(SecurityTradingStatus(status))
                .set_halt_reason(HaltReason(halt_reason))
                .set_security_trading_event(SecurityTradingEvent(event));
            SecurityStatus30::ENCODED_LENGTH
        })
    }

    pub fn channel_reset(self) -> Self {
        let time = self.time();
        self.message(|buffer| {
            let (mut root, mut groups) = ChannelReset4::encode(buffer).unwrap();
            root.set_transact_time(time).set_match_event_indicator(MatchEventIndicator(END));
            groups.no_md_entries().unwrap().push().unwrap().set_appl_id(310);
            groups.finish().unwrap()
        })
    }

    /// Adds a future of `total` instruments with a direct book of `depth`.
    pub fn definition(self, id: i32, total: u32, depth: i8) -> Self {
        self.definition_with(id, Some(total), depth, SecurityUpdateAction::ADD)
    }

    pub fn definition_with(
        self,
        id: i32,
        total: Option<u32>,
        depth: i8,
        action: SecurityUpdateAction,
    ) -> Self {
        self.message(|buffer| {
            let (mut root, mut groups) = MDInstrumentDefinitionFuture54::encode(buffer).unwrap();
            root.set_match_event_indicator(MatchEventIndicator(END))
                .set_tot_num_reports(total)
                .set_security_update_action(action)
                .set_market_segment_id(64)
                .set_security_group("ES")
                .set_asset("ES")
                .set_symbol(format!("ES{id}"))
                .set_security_id(id)
                .set_security_type("FUT")
                .set_currency("USD")
                .set_min_price_increment(Price9(250_000_000))
                .set_display_factor(Price9(10_000_000));
            let mut feed_types = groups.no_md_feed_types().unwrap();
            feed_types.push().unwrap().set_md_feed_type("GBX").set_market_depth(depth);
            feed_types.push().unwrap().set_md_feed_type("GBI").set_market_depth(2);
            groups.finish().unwrap()
        })
    }

    /// Adds a definition that does not end its event.
    pub fn definition_in_event(self, id: i32, action: SecurityUpdateAction) -> Self {
        let start = self.0.len();
        let mut packet = self.definition_with(id, None, 10, action);
        // MatchEventIndicator is the first field of the root block.
        packet.0[start + 10] = 0;
        packet
    }

    /// Adds a future as `definition` does, with another symbol and LastUpdateTime.
    pub fn renamed(self, id: i32, total: u32, symbol: &str, updated: u64) -> Self {
        self.future_named(id, total, [10, 2], (symbol, updated))
    }

    /// Adds a future with books of the given depths, modified `version` times.
    pub fn future(self, id: i32, total: u32, depths: [usize; 2], version: u64) -> Self {
        self.future_named(id, total, depths, (&format!("ES{id}v{version}"), version))
    }

    fn future_named(
        self,
        id: i32,
        total: u32,
        [depth, implied_depth]: [usize; 2],
        (symbol, updated): (&str, u64),
    ) -> Self {
        self.message(|buffer| {
            let (mut root, mut groups) = MDInstrumentDefinitionFuture54::encode(buffer).unwrap();
            root.set_match_event_indicator(MatchEventIndicator(END))
                .set_tot_num_reports(total)
                .set_security_update_action(SecurityUpdateAction::MODIFY)
                .set_last_update_time(updated)
                .set_security_group("ES")
                .set_symbol(symbol)
                .set_security_id(id);
            let mut feed_types = groups.no_md_feed_types().unwrap();
            for (kind, depth) in [("GBX", depth), ("GBI", implied_depth)] {
                let mut feed_type = feed_types.push().unwrap();
                feed_type.set_md_feed_type(kind).set_market_depth(depth as i8);
            }
            groups.finish().unwrap()
        })
    }

    /// Adds a book as of incremental packet `last`: (side, level, price, quantity).
    pub fn snapshot(
        self,
        id: i32,
        last: u32,
        total: u32,
        rpt_seq: u32,
        levels: &[(u8, i8, i64, i32)],
    ) -> Self {
        self.snapshot_with((id, None), last, total, rpt_seq, levels)
    }

    /// Adds the same with a trading status.
    pub fn snapshot_with(
        self,
        (id, status): (i32, Option<u8>),
        last: u32,
        total: u32,
        rpt_seq: u32,
        levels: &[(u8, i8, i64, i32)],
    ) -> Self {
        let time = self.time();
        self.message(|buffer| {
            let (mut root, mut groups) = SnapshotFullRefresh52::encode(buffer).unwrap();
            root.set_last_msg_seq_num_processed(last)
                .set_tot_num_reports(total)
                .set_security_id(id)
                .set_rpt_seq(rpt_seq)
                .set_md_security_trading_status(status.map(SecurityTradingStatus))
                .set_transact_time(time);
            let mut group = groups.no_md_entries().unwrap();
            for &(side, level, at, quantity) in levels {
                group
                    .push()
                    .unwrap()
                    .set_md_entry_px(price(at))
                    .set_md_entry_size(quantity)
                    .set_number_of_orders(1)
                    .set_md_price_level(level)
                    .set_md_entry_type(MDEntryType(side));
            }
            // An entry that is no price level.
            group.push().unwrap().set_md_entry_px(price(1)).set_md_entry_type(MDEntryType::TRADE);
            groups.finish().unwrap()
        })
    }

    /// Adds a message with any header and body.
    pub fn raw(self, header: [u16; 4], body: &[u8]) -> Self {
        self.message(|buffer| {
            for (at, word) in header.into_iter().enumerate() {
                buffer[2 * at..][..2].copy_from_slice(&word.to_le_bytes());
            }
            buffer[8..][..body.len()].copy_from_slice(body);
            8 + body.len()
        })
    }
}
