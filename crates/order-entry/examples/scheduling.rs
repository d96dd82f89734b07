//! A session that connects by a schedule, with a failover to the backup.
//!
//! ```text
//! cargo run -p hairpin-order-entry --example scheduling
//! ```
//!
//! Starts an exchange on loopback, connects when the schedule is open, sends an order, and
//! continues on the backup after the primary has failed.
#![forbid(unsafe_code)]

#[allow(dead_code, unreachable_pub, clippy::expect_used, reason = "each example uses its part")]
mod venue;

use std::error::Error as AnyError;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use hairpin_host::Clock;
use hairpin_order_entry::*;
use hairpin_reactor::{Reactor, Ready, Wait};
use hairpin_time::Duration;
use venue::Venue;

/// The configuration; `PRIMARY` and `BACKUP` are replaced by the gateways' addresses.
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
# CME's week: week_start = "Sun 15:00", open = [["Sun 15:00", "Fri 16:00"]]
open = [["Sun 00:00", "Sat 23:59"]]
"#;

/// Prints the session's events.
#[derive(Default)]
struct Printer {
    reports: u32,
    backup_established: bool,
    active_again: bool,
}

impl Listener for Printer {
    fn on_state(&mut self, _: &mut Sender<'_>, state: State) {
        println!("session {state}");
    }
    fn on_backup(&mut self, notice: &BackupNotice<'_>) {
        if let BackupNotice::State(state) = notice {
            println!("backup {state}");
            self.backup_established = *state == State::Established;
        }
    }
    // After a failover the session continues: on_established is not called.
    fn on_takeover(&mut self, _: &mut Sender<'_>, active: Takeover) {
        self.active_again = true;
        let Takeover { next_outgoing, down_for, .. } = active;
        let micros = down_for.as_micros();
        println!("active again after {micros} us, next message {next_outgoing}");
    }
    fn on_execution_report_new(
        &mut self,
        _: &mut Sender<'_>,
        report: ExecutionReportNew522<'_>,
        _: &Message<'_>,
    ) {
        self.reports += 1;
        println!("order {} accepted", report.cl_ord_id());
    }
}

fn main() -> Result<(), Box<dyn AnyError>> {
    let venue = Venue::quiet();
    let folder = tempfile::tempdir()?;
    // A key file that other users can read is refused.
    let key_file = folder.path().join("secret.key");
    std::fs::write(&key_file, venue::KEY)?;
    std::fs::set_permissions(key_file, Permissions::from_mode(0o600))?;
    let settings = ORDER_TOML
        .replace("PRIMARY", &venue.primary.to_string())
        .replace("BACKUP", &venue.backup.to_string());
    std::fs::write(folder.path().join("order.toml"), settings)?;

    let config = Config::read(folder.path().join("order.toml"))?;
    let journal = config.open_journal(1 << 20)?;
    let session = Session::new(config.session, journal)?;
    let mut reconnecting = ReconnectingSession::new(session, config.connector, config.zone);
    let (mut clock, mut printer) = (Clock::new(), Printer::default());
    let mut reactor = Reactor::new(Wait::Epoll)?;
    let mut now = clock.now();
    let mut step = 0;
    reconnecting.start(now);
    reconnecting.process(now, Ready::EMPTY, &mut reactor, &mut printer)?;
    while step < 4 || !reconnecting.is_idle() {
        // While the schedule is closed, the deadline is its opening.
        let due = reconnecting.next_deadline().unwrap_or(now.monotonic + Duration::from_secs(1));
        let ready = reactor.wait(now.monotonic, Some(due))?;
        now = clock.now();
        clock.recalibrate_if_due(now.monotonic);
        reconnecting.process(now, ready, &mut reactor, &mut printer)?;
        step += u32::from(match step {
            0 if printer.backup_established => {
                reconnecting.sender(now).send(&venue::order(1)).is_ok()
            }
            1 if printer.reports == 1 => {
                venue.fail_primary();
                true
            }
            2 if printer.active_again => reconnecting.sender(now).send(&venue::order(2)).is_ok(),
            3 if printer.reports == 2 => {
                reconnecting.stop();
                reconnecting.process(now, Ready::EMPTY, &mut reactor, &mut printer)?;
                true
            }
            _ => false,
        });
    }
    Ok(())
}
