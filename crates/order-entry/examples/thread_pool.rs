//! Three sessions on two named threads, and orders sent from a third one.
//!
//! ```text
//! cargo run -p hairpin-order-entry --example thread_pool
//! ```
//!
//! It starts an exchange of its own on loopback. Each session is kept connected, with its backup,
//! on the thread it was given to; its listener is called there alone.
#![forbid(unsafe_code)]

#[allow(dead_code, unreachable_pub, clippy::expect_used, reason = "each example uses its part")]
mod venue;

use std::error::Error as AnyError;
use std::sync::mpsc::{self, channel};

use hairpin_order_entry::*;
use hairpin_reactor::Wait;
use hairpin_time::Duration;
use venue::{Venue, clock, order};

/// Sends an order as soon as it may, and tells the main thread of all that work.
struct Trader {
    account: &'static str,
    tell: mpsc::Sender<String>,
}

impl Listener for Trader {
    fn on_established(&mut self, sender: &mut Sender<'_>, _: &Established) {
        if let Err(error) = sender.send(&order(1)) {
            eprintln!("{}: not sent: {error}", self.account);
        }
    }
    fn on_execution_report_new(
        &mut self,
        _: &mut Sender<'_>,
        report: ExecutionReportNew522<'_>,
        _: &Message<'_>,
    ) {
        let what = format!("{}: order {} is working", self.account, report.cl_ord_id());
        // The main thread may be about to end.
        let _ = self.tell.send(what);
    }
}

fn main() -> Result<(), Box<dyn AnyError>> {
    let venue = Venue::quiet();
    let (tell, told) = channel();
    let session = |account| {
        let listener = Trader { account, tell: tell.clone() };
        ThreadSession { session: venue.kept(account), listener }
    };
    // With cores of their own: `core: Some(2)`, and `wait: Wait::Spin` on no more than there are.
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
        println!("{}", told.recv()?);
    }
    for mailbox in [threads.mailbox(0, 0), threads.mailbox(0, 1), threads.mailbox(1, 0)] {
        mailbox.call(|sender, trader| match sender.send(&order(2)) {
            Ok(sent) => println!("{}: sent under number {}", trader.account, sent.seq_num),
            Err(error) => eprintln!("{}: not sent: {error}", trader.account),
        })?;
        println!("{}", told.recv()?);
    }
    for (name, outcome) in threads.stop(Duration::from_secs(5)) {
        for ThreadSession { session, listener } in outcome? {
            let reports = session.session().inbound_counters().business_messages;
            println!("{name}: {} has ended after {reports} reports", listener.account);
        }
    }
    Ok(())
}
