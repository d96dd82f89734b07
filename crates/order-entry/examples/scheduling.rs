//! A session that is kept connected by a schedule, with a backup that takes over.
//!
//! ```text
//! cargo run -p hairpin-order-entry --example scheduling
//! ```
//!
//! It starts an exchange of its own on loopback, connects when the schedule is open, sends an
//! order, and goes on over the backup when the primary has failed.
#![forbid(unsafe_code)]

#[allow(dead_code, unreachable_pub, clippy::expect_used, reason = "each example uses its part")]
mod venue;

use std::error::Error as AnyError;

use hairpin_host::Clock;
use hairpin_order_entry::*;
use hairpin_reactor::{Reactor, Ready, Wait};
use hairpin_time::Duration;
use venue::Venue;

/// The places of an exchange's gateways are put in for `PRIMARY` and `BACKUP`.
const ORDER_TOML: &str = r#"
[gateway]
primary = ["PRIMARY"]
backup = ["BACKUP"]
attempts = 20
interval_ms = 100

[logon]
access_key_id = "KEY-OF-ABC"
secret_file = "secret.key"
session = "ABC"
firm = "DEFGH"
system_name = "Example"
system_version = "1.0"
system_vendor = "Example"

[operator]
sender_id = "TRADER"
location = "US,IL"

[schedule]
zone = "America/Chicago"
week_start = "Sun 00:00"
# CME's week would be: week_start = "Sun 15:00", open = [["Sun 15:00", "Fri 16:00"]]
open = [["Sun 00:00", "Sat 23:59"]]
"#;

/// Prints what it is told.
#[derive(Default)]
struct Printer {
    reports: u32,
    has_backup: bool,
    is_active_again: bool,
}

impl Listener for Printer {
    fn on_state(&mut self, _: &mut Sender<'_>, state: State) {
        println!("session {state}");
    }
    fn on_backup(&mut self, notice: &BackupNotice<'_>) {
        if let BackupNotice::State(state) = notice {
            println!("backup {state}");
            self.has_backup = *state == State::Established;
        }
    }
    // The session goes on: there is no on_established.
    fn on_active(&mut self, _: &mut Sender<'_>, active: Active) {
        self.is_active_again = true;
        let Active { next_outgoing, down_for, .. } = active;
        println!("active again after {} us, with number {next_outgoing}", down_for.as_micros());
    }
    fn on_execution_report_new(
        &mut self,
        _: &mut Sender<'_>,
        report: ExecutionReportNew522<'_>,
        _: &Message<'_>,
    ) {
        self.reports += 1;
        println!("order {} is working", report.cl_ord_id());
    }
}

fn main() -> Result<(), Box<dyn AnyError>> {
    let venue = Venue::quiet();
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("secret.key"), venue::KEY)?;
    let settings = ORDER_TOML
        .replace("PRIMARY", &venue.primary.to_string())
        .replace("BACKUP", &venue.backup.to_string());
    std::fs::write(folder.path().join("order.toml"), settings)?;

    let config = Config::read(folder.path().join("order.toml"))?;
    let journal = config.open_journal(1 << 20)?;
    let session = Session::new(config.session, journal)?;
    let mut kept = ReconnectingSession::new(session, config.connector, config.zone);
    let (mut clock, mut printer) = (Clock::new(), Printer::default());
    let mut reactor = Reactor::new(Wait::Epoll)?;
    let mut now = clock.now();
    let mut step = 0;
    kept.start(now);
    kept.process(now, Ready::NOTHING, &mut reactor, &mut printer)?;
    while step < 4 || !kept.is_idle() {
        // Closed, it is due when the schedule opens.
        let due = kept.next_deadline().unwrap_or(now.monotonic + Duration::from_secs(1));
        let ready = reactor.wait(now.monotonic, Some(due))?;
        now = clock.now();
        clock.recalibrate_if_due(now.monotonic);
        kept.process(now, ready, &mut reactor, &mut printer)?;
        step += u32::from(match step {
            0 if printer.has_backup => kept.sender(now).send(&venue::order(1)).is_ok(),
            1 if printer.reports == 1 => {
                venue.fail_primary();
                true
            }
            2 if printer.is_active_again => kept.sender(now).send(&venue::order(2)).is_ok(),
            3 if printer.reports == 2 => {
                kept.stop();
                kept.process(now, Ready::NOTHING, &mut reactor, &mut printer)?;
                true
            }
            _ => false,
        });
    }
    Ok(())
}
