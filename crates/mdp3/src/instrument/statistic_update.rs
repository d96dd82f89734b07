//! Callbacks for statistics and limits from templates 49, 50, 51 and 67 and from snapshots.

use hairpin_cme_codecs::mdp3::{MDUpdateAction, OpenCloseSettlFlag};
use hairpin_time::Utc;

use crate::instrument::statistics::{PriceLimits, StatisticValue};
use crate::market::Market;
use crate::message::entries::{LimitsEntry, Root, StatisticEntry};
use crate::recovery::snapshot::Snapshot;
use crate::{InstrumentIndex, Listener, MatchEvent, Packet, StatisticKind, UpdateSource};

/// A statistic of an instrument (templates 49, 51 and 67, and entries of snapshots).
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Statistic<'a> {
    /// The packet with the message, or with the snapshot.
    pub packet: &'a Packet,
    /// TransactTime (60) of the message, or of the snapshot.
    pub transact_time: Utc,
    /// MatchEventIndicator (5799); none in a snapshot.
    pub match_event: MatchEvent,
    /// The instrument, `None` if not yet known.
    pub instrument: Option<InstrumentIndex>,
    /// SecurityID (48).
    pub security_id: i32,
    /// RptSeq (83); in a snapshot, that of its last entry.
    pub rpt_seq: u32,
    /// The kind of statistic.
    pub kind: StatisticKind,
    /// The value.
    pub value: StatisticValue,
    /// MDEntryType (269), from which `kind` derives.
    pub entry_type: u8,
    /// OpenCloseSettlFlag (286), from which `kind` derives; absent in daily statistics.
    pub open_close_flag: Option<OpenCloseSettlFlag>,
    /// MDUpdateAction (279): a Delete removes the statistic. `New` in a snapshot.
    pub action: MDUpdateAction,
    /// The source of the statistic.
    pub source: UpdateSource,
}

impl Statistic<'_> {
    /// Returns `true` if the exchange sends the statistic again while it recovers.
    #[must_use]
    pub const fn is_resent(&self) -> bool {
        self.match_event.is_resent()
    }
}

/// A change of an instrument's price limits (template 50, and snapshots).
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct LimitsUpdate<'a> {
    /// The packet with the message, or with the snapshot.
    pub packet: &'a Packet,
    /// TransactTime (60) of the message, or of the snapshot.
    pub transact_time: Utc,
    /// MatchEventIndicator (5799); none in a snapshot.
    pub match_event: MatchEvent,
    /// The instrument, `None` if not yet known.
    pub instrument: Option<InstrumentIndex>,
    /// SecurityID (48).
    pub security_id: i32,
    /// RptSeq (83); in a snapshot, that of its last entry.
    pub rpt_seq: u32,
    /// The limits now in force; `None` for an absent limit.
    pub limits: PriceLimits,
    /// The source of the limits.
    pub source: UpdateSource,
}

impl Market {
    /// Applies an entry of templates 49, 51 and 67.
    #[cold]
    pub(crate) fn apply_statistic(
        &mut self,
        packet: &Packet,
        root: Root,
        (security_id, rpt_seq): (i32, u32),
        entry: StatisticEntry,
        listener: &mut impl Listener,
    ) {
        let instrument = self.instruments.find(security_id);
        if self.is_unwanted(instrument, security_id) {
            return;
        }
        self.counters.statistics += 1;
        let flag = entry.open_close_flag;
        let kind = StatisticKind::from_entry(entry.entry_type, flag);
        let kind = kind.unwrap_or(StatisticKind::Unknown);
        if let Some(instrument) = instrument {
            let exists = entry.action != MDUpdateAction::DELETE;
            let statistics = &mut self.instruments.statistics[instrument.as_usize()];
            statistics.record(packet.sequence, kind, &entry.value, exists);
        }
        listener.on_statistic(&Statistic {
            packet,
            transact_time: root.transact_time,
            match_event: root.match_event,
            instrument,
            security_id,
            rpt_seq,
            kind,
            value: entry.value,
            entry_type: entry.entry_type,
            open_close_flag: flag,
            action: entry.action,
            source: UpdateSource::Incremental,
        });
    }

    /// Applies an entry of template 50.
    #[cold]
    pub(crate) fn apply_limits(
        &mut self,
        packet: &Packet,
        root: Root,
        (security_id, rpt_seq): (i32, u32),
        entry: LimitsEntry,
        listener: &mut impl Listener,
    ) {
        let instrument = self.instruments.find(security_id);
        if self.is_unwanted(instrument, security_id) {
            return;
        }
        self.counters.limits += 1;
        let limits = entry.limits();
        if let Some(instrument) = instrument {
            let statistics = &mut self.instruments.statistics[instrument.as_usize()];
            for (kind, value) in limits.statistics() {
                statistics.record(packet.sequence, kind, &value, value.price.is_some());
            }
        }
        listener.on_limits(&LimitsUpdate {
            packet,
            transact_time: root.transact_time,
            match_event: root.match_event,
            instrument,
            security_id,
            rpt_seq,
            limits,
            source: UpdateSource::Incremental,
        });
    }

    /// Applies the statistics and limits of a snapshot, and reports those that differ. This repairs
    /// values lost in a gap.
    pub(crate) fn apply_snapshot_statistics(
        &mut self,
        packet: &Packet,
        instrument: InstrumentIndex,
        snapshot: &Snapshot,
        listener: &mut impl Listener,
    ) {
        let Snapshot { last_sequence, security_id, rpt_seq, transact_time, .. } = *snapshot;
        for entry in snapshot.statistics() {
            let statistics = &mut self.instruments.statistics[instrument.as_usize()];
            if statistics.restore(last_sequence, entry.kind, &entry.value) {
                listener.on_statistic(&Statistic {
                    packet,
                    transact_time,
                    match_event: MatchEvent::NONE,
                    instrument: Some(instrument),
                    security_id,
                    rpt_seq,
                    kind: entry.kind,
                    value: entry.value,
                    entry_type: entry.entry_type,
                    open_close_flag: entry.open_close_flag,
                    action: MDUpdateAction::NEW,
                    source: UpdateSource::Snapshot,
                });
            }
        }
        let statistics = &mut self.instruments.statistics[instrument.as_usize()];
        let news = snapshot
            .limits
            .statistics()
            .map(|(kind, value)| statistics.restore(last_sequence, kind, &value));
        if news.contains(&true) {
            listener.on_limits(&LimitsUpdate {
                packet,
                transact_time,
                match_event: MatchEvent::NONE,
                instrument: Some(instrument),
                security_id,
                rpt_seq,
                limits: statistics.limits(),
                source: UpdateSource::Snapshot,
            });
        }
    }
}
