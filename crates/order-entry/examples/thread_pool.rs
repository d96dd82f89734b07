//! Three sessions on two named threads, and orders sent from a third thread.
//!
//! ```text
//! cargo run -p hairpin-order-entry --example thread_pool
//! ```
//!
//! Starts an exchange on loopback. Each session reconnects with its backup on its own thread, and
//! its listener is called on that thread only.
#![forbid(unsafe_code)]

#[allow(dead_code, unreachable_pub, clippy::expect_used, reason = "each example uses its part")]
mod venue;

use std::error::Error as AnyError;
use std::sync::mpsc::{self, channel};

use hairpin_order_entry::*;
use hairpin_reactor::Wait;
use hairpin_time::Duration;
use venue::{Venue, clock, order};

/// Sends an order when established, and reports accepted orders to the main thread.
struct Trader {
    account: &'static str,
    reports: mpsc::Sender<String>,
}

impl Listener for Trader {
    fn on_established(&mut self, sender: &mut Sender<'_>, _: &Established) {
        if let Err(error) = sender.send(&order(1)) {
            eprintln!("{}: cannot send: {error}", self.account);
        }
    }
    fn on_execution_report_new(
        &mut self,
        _: &mut Sender<'_>,
        report: ExecutionReportNew522<'_>,
        _: &Message<'_>,
    ) {
        let report = format!("{}: order {} accepted", self.account, report.cl_ord_id());
        // The main thread may have ended.
        let _ = self.reports.send(report);
    }
}

fn main() -> Result<(), Box<dyn AnyError>> {
    let venue = Venue::quiet();
    let (report_sender, reports) = channel();
    let session = |account| {
        let listener = Trader { account, reports: report_sender.clone() };
        ThreadSession { session: venue.reconnecting(account), listener }
    };
    // To pin: `core: Some(2)`. Use `Wait::Spin` on at most as many threads as cores.
    let thread = |name: &str, sessions| SessionThread {
        name: name.to_owned(),
        core: None,
        wait: Wait::Epoll,
        sessions,
    };
    let threads = vec![
        thread("equities", vec![session("ABC"), session("ABD")]),
        thread("rates", vec![session("ABE")]),
    ];
    let threads = SessionThreads::spawn(threads, clock)?;
    for _ in 0..3 {
        println!("{}", reports.recv()?);
    }
    for mailbox in [threads.mailbox(0, 0), threads.mailbox(0, 1), threads.mailbox(1, 0)] {
        mailbox.call(|sender, trader| match sender.send(&order(2)) {
            Ok(sent) => println!("{}: sent as message {}", trader.account, sent.seq_num),
            Err(error) => eprintln!("{}: cannot send: {error}", trader.account),
        })?;
        println!("{}", reports.recv()?);
    }
    for (name, outcome) in threads.stop(Duration::from_secs(5)) {
        for ThreadSession { session, listener } in outcome? {
            let count = session.session().inbound_counters().business_messages;
            println!("{name}: {} ended after {count} reports", listener.account);
        }
    }
    Ok(())
}
