//! Logs on to an exchange and off again, and prints the session's states.
//!
//! ```text
//! cargo run -p hairpin-order-entry --example connect
//! ```
#![forbid(unsafe_code)]

#[allow(dead_code, unreachable_pub, clippy::expect_used, reason = "each example uses its part")]
mod venue;

use std::error::Error as AnyError;

use hairpin_host::Clock;
use hairpin_mapped::Journal;
use hairpin_order_entry::*;
use hairpin_reactor::{Reactor, Wait};
use venue::Venue;

/// Prints the session's events.
struct Printer;

impl Listener for Printer {
    fn on_state(&mut self, _: &mut Sender<'_>, state: State) {
        println!("{state}");
    }

    // The session is established: orders may be sent from now on.
    fn on_established(&mut self, sender: &mut Sender<'_>, established: &Established) {
        println!("UUID: {}", established.uuid);
        let Progress { next_outgoing, next_incoming, .. } = sender.progress();
        println!("next message: outbound {next_outgoing}, inbound {next_incoming}");
        sender.terminate();
    }

    fn on_terminate(&mut self, _: &mut Sender<'_>, terminated: &Terminated<'_>) {
        println!("Terminate from the exchange: {:?}", terminated.code);
    }

    fn on_reject(&mut self, _: &mut Sender<'_>, rejected: &Rejected<'_>) {
        println!("rejected: {} {}", rejected.code, rejected.reason);
    }
}

fn main() -> Result<(), Box<dyn AnyError>> {
    let venue = Venue::quiet();
    let clock = Clock::new();
    let mut reactor = Reactor::new(Wait::Epoll)?;
    let mut session = Session::new(venue.settings(), Journal::anonymous(1 << 20)?)?;
    session.connect(clock.now(), Binding::New)?;
    // The whole loop: wait until there is work, read the clock once, process.
    while session.state() != State::Disconnected {
        let ready = reactor.wait(clock.now().monotonic, session.next_deadline())?;
        session.process(clock.now(), ready, &mut reactor, &mut Printer)?;
    }
    match session.last_failure() {
        Some(failure) => Err(failure.to_string().into()),
        None => Ok(()),
    }
}
