//! The live counters of a running exchange, for `hairpin stat`.

use hairpin_cli_harness::t2t_setup::ExchangeSetup;
use hairpin_exchange::Exchange;
use hairpin_mapped::{CounterWriter, Unit};

use super::measurement::Measurement;

/// Returns the title of the process, which distinguishes it from other exchanges.
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

/// Writes the counters of the sockets, the gateway, the run, and each trader. Those of traders are
/// totals over all rounds.
pub(super) fn write(
    writer: &mut CounterWriter<'_>,
    exchange: &Exchange,
    measurement: &Measurement,
    is_ticking: bool,
) {
    writer.counter("run", "rounds", Unit::Count, measurement.rounds());
    writer.gauge("run", "ticking", Unit::Flag, is_ticking.into());
    writer.gauge("run", "traders", Unit::Count, measurement.present() as u64);
    writer.counters("exchange", exchange.counters().iter());
    writer.counters("gateway", exchange.gateway_counters().iter());
    for (index, trader) in measurement.traders().iter().enumerate() {
        let id = index + 1;
        let part = format_args!("trader.{id}");
        writer.gauge(part, "present", Unit::Flag, trader.connection().is_some().into());
        writer.gauge(part, "open_ticks", Unit::Count, trader.open_ticks());
        writer.counters(part, trader.total().iter());
    }
}
