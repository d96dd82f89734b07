//! Writes a journal, reads it, and resumes it like the next process.
//!
//! ```text
//! cargo run -p hairpin-order-entry --example storage
//! ```
#![forbid(unsafe_code)]

#[allow(dead_code, unreachable_pub, clippy::expect_used, reason = "each example uses its part")]
mod venue;

use std::error::Error as AnyError;

use hairpin_host::Clock;
use hairpin_mapped::{Journal, JournalSettings, Retention, SyncPolicy};
use hairpin_order_entry::*;
use hairpin_reactor::{Reactor, Wait};
use hairpin_time::Duration;
use venue::{INSTRUMENT, Venue};

/// Sends an order and terminates when it is accepted.
struct Buyer {
    order: u64,
}

impl Listener for Buyer {
    fn on_established(&mut self, sender: &mut Sender<'_>, established: &Established) {
        println!("logged on with UUID {}", established.uuid);
        // CME wire price (PRICE9): integer mantissa, implied exponent -9. This is 900.
        let price = Decimal(900_000_000_000);
        let id = ClOrdId::from(self.order);
        let order = NewOrder::limit(INSTRUMENT, SideReq::BUY, price, 1, id);
        if let Err(error) = sender.send(&order) {
            println!("cannot send the order: {error}");
        }
    }

    fn on_execution_report_new(
        &mut self,
        sender: &mut Sender<'_>,
        report: ExecutionReportNew522<'_>,
        _: &Message<'_>,
    ) {
        println!("order {} accepted", report.cl_ord_id());
        sender.terminate();
    }
}

/// Runs one process's session. Every message is in the journal before it is sent or delivered.
fn trade(venue: &Venue, journal: Journal, order: u64) -> Result<Session, Box<dyn AnyError>> {
    let (clock, mut buyer) = (Clock::new(), Buyer { order });
    let mut reactor = Reactor::new(Wait::Epoll)?;
    let mut session = Session::new(venue.settings(), journal)?;
    session.connect(clock.now(), Binding::New)?;
    while session.state() != State::Disconnected {
        let ready = reactor.wait(clock.now().monotonic, session.next_deadline())?;
        session.process(clock.now(), ready, &mut reactor, &mut buyer)?;
    }
    Ok(session)
}

fn main() -> Result<(), Box<dyn AnyError>> {
    let venue = Venue::quiet();
    let parent = tempfile::tempdir()?;
    let folder = parent.path().join("journal");
    let settings = JournalSettings {
        // Four segments of 1 MiB; committed records are on disk after 10 ms.
        segment_bytes: 1 << 20,
        retention: Retention { segments: 4, age: None },
        sync: SyncPolicy::Interval(Duration::from_millis(10)),
        ..JournalSettings::default()
    };
    drop(trade(&venue, Journal::create_with(&folder, settings)?, 1)?);

    // The next process continues with the UUID and sequence numbers in the journal.
    let journal = Journal::open_with(&folder, settings)?;
    println!("records in the journal: {}", records(&journal));
    let session = trade(&venue, journal, 2)?;

    let journal = session.journal();
    let mut last = None;
    while let Some(record) = journal.next(last) {
        let (tag, bytes) = (journal.tag(record), journal.bytes(record).len());
        println!("{:?} {} number {}: {bytes} bytes", tag.direction, tag.uuid, tag.seq_num);
        last = Some(record);
    }
    // Every callback has returned, so another process would redeliver nothing.
    println!("records with an unfinished callback: {}", journal.unmarked().count());
    Ok(())
}

fn records(journal: &Journal) -> usize {
    std::iter::successors(journal.next(None), |&record| journal.next(Some(record))).count()
}
