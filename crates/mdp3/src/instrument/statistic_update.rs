//! Statistics and limits as they are told: from templates 49, 50, 51, 67, and from snapshots.

use hairpin_cme_codecs::mdp3::{MDUpdateAction, OpenCloseSettlFlag};
use hairpin_time::Utc;

use crate::instrument::statistics::{PriceLimits, StatisticValue};
use crate::market::Market;
use crate::message::entries::{LimitsEntry, Root, StatisticEntry};
use crate::recovery::snapshot::Snapshot;
use crate::{InstrumentIndex, Listener, Packet, StatisticKind, UpdateSource};

/// A statistic of an instrument (templates 49, 51 and 67, and entries of snapshots).
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Statistic<'a> {
    /// The packet with the message, or with the snapshot.
    pub packet: &'a Packet,
    /// TransactTime (60) of the message, or of the snapshot.
    pub transact_time: Utc,
    /// The instrument, `None` while it is unknown.
    pub instrument: Option<InstrumentIndex>,
    /// SecurityID (48).
    pub security_id: i32,
    /// RptSeq (83), of a snapshot that of its last entry.
    pub rpt_seq: u32,
    /// Which statistic.
    pub kind: StatisticKind,
    /// What it says.
    pub value: StatisticValue,
    /// MDEntryType (269), of which `kind` is made.
    pub entry_type: u8,
    /// OpenCloseSettlFlag (286), of which `kind` is made; daily statistics have none.
    pub open_close_flag: Option<OpenCloseSettlFlag>,
    /// MDUpdateAction (279): after a Delete there is no such statistic. `New` in a snapshot.
    pub action: MDUpdateAction,
    /// Whether a message or a snapshot told it.
    pub source: UpdateSource,
}

/// Limits of an instrument's price have changed (template 50, and snapshots).
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct LimitsUpdate<'a> {
    /// The packet with the message, or with the snapshot.
    pub packet: &'a Packet,
    /// TransactTime (60) of the message, or of the snapshot.
    pub transact_time: Utc,
    /// The instrument, `None` while it is unknown.
    pub instrument: Option<InstrumentIndex>,
    /// SecurityID (48).
    pub security_id: i32,
    /// RptSeq (83), of a snapshot that of its last entry.
    pub rpt_seq: u32,
    /// What holds from here on; a limit that is `None` is none.
    pub limits: PriceLimits,
    /// Whether a message or a snapshot told it.
    pub source: UpdateSource,
}

impl Market {
    /// Takes an entry of templates 49, 51 and 67.
    #[cold]
    pub(crate) fn statistic(
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
            statistics.record(packet.sequence, kind, exists.then_some(&entry.value));
        }
        listener.on_statistic(&Statistic {
            packet,
            transact_time: root.transact_time,
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

    /// Takes an entry of template 50.
    #[cold]
    pub(crate) fn limits(
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
                let value = value.price.is_some().then_some(&value);
                statistics.record(packet.sequence, kind, value);
            }
        }
        listener.on_limits(&LimitsUpdate {
            packet,
            transact_time: root.transact_time,
            instrument,
            security_id,
            rpt_seq,
            limits,
            source: UpdateSource::Incremental,
        });
    }

    /// Takes the statistics and limits of a snapshot; told if they are news. What a gap has hidden
    /// comes to light here.
    pub(crate) fn snapshot_statistics(
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
                instrument: Some(instrument),
                security_id,
                rpt_seq,
                limits: statistics.limits(),
                source: UpdateSource::Snapshot,
            });
        }
    }
}
