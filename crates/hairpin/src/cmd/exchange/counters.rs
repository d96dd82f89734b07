//! What `hairpin stat` sees of a running exchange.

use hairpin_exchange::Exchange;
use hairpin_mapped::{CounterWriter, Unit};

use super::measurement::Recording;
use crate::harness::t2t_setup::ExchangeSetup;

/// What an exchange is called: what its traders, and its user, tell it by.
pub(super) fn title(
    command: &str,
    setup: &ExchangeSetup,
    gateway: impl std::fmt::Display,
) -> String {
    format!(
        "{command} --interface {} --gateway {gateway} --feed {} --interval-us {}",
        setup.interface,
        setup.market_data.transport().name(),
        setup.load.interval_us,
    )
}

/// States all figures: of the sockets, the gateway, the run, and each trader. Those of traders are
/// totals over all rounds.
pub(super) fn tell(
    sheet: &mut CounterWriter<'_>,
    exchange: &Exchange,
    recording: &Recording,
    is_ticking: bool,
) {
    sheet.counter("run", "rounds", Unit::Count, recording.rounds());
    sheet.gauge("run", "ticking", Unit::Flag, is_ticking.into());
    sheet.gauge("run", "traders", Unit::Count, recording.present() as u64);
    sheet.counters("exchange", exchange.counters().iter());
    sheet.counters("gateway", exchange.gateway_counters().iter());
    for (index, desk) in recording.desks().iter().enumerate() {
        let id = index + 1;
        let part = format_args!("trader.{id}");
        sheet.gauge(part, "present", Unit::Flag, desk.connection().is_some().into());
        sheet.gauge(part, "open_ticks", Unit::Count, desk.open_ticks());
        sheet.counters(part, desk.total().iter());
    }
}
