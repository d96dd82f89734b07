//! The loop of snapshots: template 52 of every instrument that was ever active.
//!
//! A loop states all books as of one incremental packet (tag 369), though the market moves on
//! while it is being sent: a book that changes before its turn leaves its picture behind first.

use hairpin_cme_codecs::mdp3::{MDEntryType, SnapshotFullRefresh52};
use hairpin_sbe::EncodeError;
use hairpin_time::Utc;

use super::Channel;
use super::incremental::{size, volume_size};
use super::ladder::{DEPTH, IMPLIED_DEPTH, Ladder};
use super::packet::Packet;
use super::status::TradingStatus;
use crate::matching::Side;
use crate::{Instrument, Price};

/// What the world has been told of one instrument.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Published {
    /// Bids and offers.
    pub sides: [Ladder; 2],
    /// Implied bids and offers, whose levels have no orders.
    pub implied: [Ladder<IMPLIED_DEPTH>; 2],
    /// The last sequence number of this instrument (tag 83), 0 if it was never active.
    pub rpt_seq: u32,
    /// Contracts traded.
    pub volume: u64,
    /// Price and quantity of the last trade.
    pub last_trade: Option<(Price, u32)>,
    /// Time of the last event (tag 60).
    pub transact_time: Utc,
    /// Whether it trades (tag 1682).
    pub status: TradingStatus,
}

/// What is published, and what of it the present loop still has to state as it was.
#[derive(Debug)]
pub(super) struct Books {
    present: Box<[Published]>,
    kept: Box<[Kept]>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Kept {
    loop_number: u64,
    published: Published,
}

/// Facts that a whole loop repeats.
#[derive(Debug, Clone, Copy)]
pub(super) struct Heading {
    /// Tag 369.
    pub(super) last_processed: u32,
    /// Tag 911.
    pub(super) total: u32,
}

impl Books {
    pub(super) fn new(instruments: usize) -> Self {
        Self {
            present: vec![Published::default(); instruments].into(),
            kept: vec![Kept::default(); instruments].into(),
        }
    }

    pub(super) fn at(&self, instrument: u32) -> &Published {
        &self.present[instrument as usize]
    }

    /// A book about to change; loop `loop_number` has yet to send it if `is_ahead`.
    pub(super) fn change(
        &mut self,
        instrument: u32,
        loop_number: u64,
        is_ahead: bool,
    ) -> &mut Published {
        let present = &mut self.present[instrument as usize];
        let kept = &mut self.kept[instrument as usize];
        if is_ahead && kept.loop_number != loop_number {
            *kept = Kept { loop_number, published: *present };
        }
        present
    }

    /// Forgets everything but the statuses.
    pub(super) fn forget(&mut self) {
        for present in &mut self.present {
            *present = Published { status: present.status, ..Published::default() };
        }
    }

    /// A book as it was when loop `loop_number` began.
    fn at_start_of(&self, loop_number: u64, instrument: u32) -> &Published {
        let kept = &self.kept[instrument as usize];
        if kept.loop_number == loop_number { &kept.published } else { self.at(instrument) }
    }

    /// Instruments that were ever active.
    pub(super) fn active(&self) -> u32 {
        // No more than there are instruments.
        self.present.iter().filter(|published| published.rpt_seq > 0).count() as u32
    }
}

/// Appends the snapshots from `first` on that fit; returns the index behind the last.
pub(super) fn fill(
    packet: &mut Packet<'_>,
    books: &Books,
    instruments: &[Instrument],
    (loop_number, first): (u64, u32),
    heading: &Heading,
    channel: &Channel,
) -> u32 {
    let mut next = first;
    while let Some(instrument) = instruments.get(next as usize) {
        let published = books.at_start_of(loop_number, next);
        if published.rpt_seq > 0 {
            if packet.room() < length(published) {
                break;
            }
            packet
                .append(|buffer| encode(buffer, instrument, published, heading, channel))
                .expect("the room for it was compared before");
        }
        next += 1;
    }
    next
}

/// MsgSize, SBE header, root block, and the entries: levels, implied levels, volume, last trade.
fn length(published: &Published) -> usize {
    let real: usize = published.sides.iter().map(|side| side.levels().len()).sum();
    let implied: usize = published.implied.iter().map(|side| side.levels().len()).sum();
    let levels = real + implied;
    let statistics =
        usize::from(published.volume > 0) + usize::from(published.last_trade.is_some());
    2 + 8 + 59 + 3 + 22 * (levels + statistics)
}

/// The longest snapshot, which must fit in a packet.
const _: () = assert!(
    12 + 2 + 8 + 59 + 3 + 22 * (2 * DEPTH + 2 * IMPLIED_DEPTH + 2) <= super::packet::MAX_PAYLOAD
);

fn encode(
    buffer: &mut [u8],
    instrument: &Instrument,
    published: &Published,
    heading: &Heading,
    channel: &Channel,
) -> Result<usize, EncodeError> {
    let (mut root, mut groups) = SnapshotFullRefresh52::encode(buffer)?;
    root.set_last_msg_seq_num_processed(heading.last_processed)
        .set_tot_num_reports(heading.total)
        .set_security_id(instrument.security_id)
        .set_rpt_seq(published.rpt_seq)
        .set_transact_time(published.transact_time.as_nanos())
        .set_last_update_time(channel.started.as_nanos())
        .set_trade_date(channel.trade_date())
        .set_md_security_trading_status(published.status.code());
    let mut entries = groups.no_md_entries()?;
    for (side, entry_type) in Side::BOTH.into_iter().zip([MDEntryType::BID, MDEntryType::OFFER]) {
        let ladder = &published.sides[side.index()];
        for (number, level) in (1..).zip(ladder.levels()) {
            entries
                .push()?
                .set_md_entry_px(level.price)
                .set_md_entry_size(size(level.quantity))
                .set_number_of_orders(size(level.orders))
                .set_md_price_level(number)
                .set_md_entry_type(entry_type);
        }
    }
    let implied_types = [MDEntryType::IMPLIED_BID, MDEntryType::IMPLIED_OFFER];
    for (ladder, entry_type) in published.implied.iter().zip(implied_types) {
        for (number, level) in (1..).zip(ladder.levels()) {
            entries
                .push()?
                .set_md_entry_px(level.price)
                .set_md_entry_size(size(level.quantity))
                .set_md_price_level(number)
                .set_md_entry_type(entry_type);
        }
    }
    // After a reset of the channel there is a volume, but no last trade.
    if published.volume > 0 {
        entries
            .push()?
            .set_md_entry_size(volume_size(published.volume))
            .set_md_entry_type(MDEntryType::ELECTRONIC_VOLUME);
    }
    if let Some((price, quantity)) = published.last_trade {
        entries
            .push()?
            .set_md_entry_px(price)
            .set_md_entry_size(size(quantity))
            .set_md_entry_type(MDEntryType::TRADE);
    }
    groups.finish()
}
