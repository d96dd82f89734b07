//! A snapshot of one price book (templates 52 and 69), as far as books go.

use hairpin_cme_codecs::mdp3 as codec;
use hairpin_sbe::DecodeError;
use hairpin_time::Utc;

use crate::Message;
use crate::entries::{count, sound};
use crate::levels::{Level, Levels, MAX_DEPTH};

/// What a snapshot states.
pub(crate) struct Stated {
    /// LastMsgSeqNumProcessed (369): the last incremental packet that the book contains.
    pub(crate) last_sequence: u32,
    /// TotNumReports (911): how many instruments the pass names.
    pub(crate) total: u32,
    pub(crate) security_id: i32,
    pub(crate) rpt_seq: u32,
    pub(crate) bids: Side,
    pub(crate) asks: Side,
}

/// One side as far as it has been read.
pub(crate) struct Side {
    levels: Levels,
    /// One bit for each level that was stated.
    stated: u16,
}

impl Side {
    const EMPTY: Self = Self { levels: [Level::NONE; MAX_DEPTH], stated: 0 };

    /// Takes a level, numbered from 1; those below the deepest book are left out.
    fn put(&mut self, level: u8, stated: Level) {
        let Some(index) = level.checked_sub(1) else { return };
        if let Some(slot) = self.levels.get_mut(usize::from(index)) {
            *slot = stated;
            self.stated |= 1 << index;
        }
    }

    /// The levels, if there is no hole between them.
    pub(crate) fn levels(&self) -> Option<&[Level]> {
        let count = self.stated.trailing_ones();
        (self.stated >> count == 0).then(|| &self.levels[..count as usize])
    }
}

/// Decodes a snapshot of one template; the two differ in the type of quantity and level.
macro_rules! stated {
    ($message:ident, $type:ident, $module:ident, |$entry:ident| $level:expr, $quantity:expr) => {{
        let mut scratch = codec::$type::SCRATCH;
        let decoded = codec::$type::decode(&$message.header, $message.body, &mut scratch)?;
        let (mut bids, mut asks) = (Side::EMPTY, Side::EMPTY);
        let mut entries = decoded.no_md_entries();
        let mut scratch = codec::$module::NoMDEntries::SCRATCH;
        while let Some($entry) = entries.next(&mut scratch) {
            let side = match $entry.md_entry_type().0 {
                b'0' => &mut bids,
                b'1' => &mut asks,
                _ => continue,
            };
            if let (Some(level), Some(price), Some(quantity)) =
                ($level, $entry.md_entry_px(), $quantity)
            {
                let orders = count($entry.number_of_orders().unwrap_or(0));
                side.put(level, Level { price, quantity, orders });
            }
        }
        let stated = Stated {
            last_sequence: decoded.last_msg_seq_num_processed(),
            total: decoded.tot_num_reports(),
            security_id: decoded.security_id(),
            rpt_seq: decoded.rpt_seq(),
            bids,
            asks,
        };
        Ok(Some((stated, Utc::from_nanos(decoded.transact_time()))))
    }};
}

/// Decodes a snapshot of a price book and its TransactTime; `None` for another template.
pub(crate) fn decode(message: &Message<'_>) -> Result<Option<(Stated, Utc)>, DecodeError> {
    match message.header.template_id {
        codec::SnapshotFullRefresh52::TEMPLATE_ID => stated!(
            message,
            SnapshotFullRefresh52,
            snapshot_full_refresh52,
            |entry| entry.md_price_level().and_then(|level| u8::try_from(level).ok()),
            entry.md_entry_size().and_then(sound)
        ),
        codec::SnapshotFullRefreshLongQty69::TEMPLATE_ID => stated!(
            message,
            SnapshotFullRefreshLongQty69,
            snapshot_full_refresh_long_qty69,
            |entry| entry.md_price_level(),
            entry.md_entry_size()
        ),
        _ => Ok(None),
    }
}
