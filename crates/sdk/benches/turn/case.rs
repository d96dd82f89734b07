//! A trader that answers ticks, and the run that is counted.

use crate::support::Venue;

/// The ticks that are counted.
const TICKS: u64 = 2_000;
/// The ticks before the count.
const WARM_UP: u64 = 200;

/// A trader that answers ticks, one call per wakeup.
pub(crate) trait Case {
    /// Runs one iteration of the loop.
    fn turn(&mut self);
    /// Runs one iteration of the loop, which is counted.
    fn measured_turn(&mut self);
    /// Returns `true` if the trader can answer a tick.
    fn is_ready(&self) -> bool;
    /// Returns the numbers of orders sent and canceled.
    fn counts(&self) -> (u64, u64);
}

/// Runs a trader until it has answered all ticks.
pub(crate) fn run(venue: &mut Venue, case: &mut impl Case) {
    while !case.is_ready() {
        venue.step();
        case.turn();
    }
    venue.set_paced();
    let mut late = 0;
    for tick in 0..WARM_UP + TICKS {
        venue.tick();
        if tick < WARM_UP {
            case.turn()
        } else {
            case.measured_turn()
        }
        late += u64::from(case.counts().0 <= tick);
        while case.counts().1 <= tick {
            case.turn();
            venue.step();
        }
    }
    assert_eq!(late, 0, "a tick was not in the sockets when its turn began");
    println!("events={TICKS}");
}
