//! Instructions and times of a wakeup through the C ABI: `hairpin_trader_turn` with a table of
//! callbacks.
//!
//! `cargo xtask bench-instructions` runs each case under callgrind, and compares it with the same
//! strategy on `Trader::turn`. `c_turn --time ROUNDS` compares times. The functions are called
//! through pointers, as C calls a shared library.
#![allow(clippy::unwrap_used, reason = "a benchmark may fail by panicking")]

#[path = "../../../sdk/benches/turn/case.rs"]
mod case;
#[allow(dead_code, reason = "the other benchmark uses all strategies")]
#[path = "../../../sdk/benches/turn/facade.rs"]
mod facade;
#[path = "../../../sdk/tests/support/mod.rs"]
mod support;

use std::ffi::{CString, c_int, c_void};
use std::hint::black_box;
use std::process::ExitCode;

use case::{Bench, Case, compare};
use facade::Facade;
use hairpin_capi::*;
use support::Venue;

/// The functions of the library, called as C calls them.
struct Functions {
    turn: unsafe extern "C" fn(hairpin_trader, *const hairpin_callbacks, *mut c_void) -> i32,
    is_ready: extern "C" fn(*mut hairpin_context) -> i32,
    add_ticks: unsafe extern "C" fn(
        *mut hairpin_context,
        i32,
        hairpin_price,
        i64,
        *mut hairpin_price,
    ) -> i32,
    buy: unsafe extern "C" fn(
        *mut hairpin_context,
        i32,
        u64,
        hairpin_price,
        *mut hairpin_cl_ord_id,
    ) -> i32,
    cancel: unsafe extern "C" fn(*mut hairpin_context, *const hairpin_cl_ord_id) -> i32,
}

struct Quoter {
    functions: Functions,
    sent: u64,
    canceled: u64,
    sum: i64,
}

/// Bids 40 ticks below each new best bid.
unsafe extern "C" fn on_book(
    user: *mut c_void,
    book: *const hairpin_book_event,
    context: *mut hairpin_context,
) -> c_int {
    // SAFETY: `user` is the quoter, which only callbacks use while the turn runs; `book` is valid
    // in the callback.
    let (quoter, book) = unsafe { (&mut *user.cast::<Quoter>(), &*book) };
    let Functions { add_ticks, is_ready, buy, .. } = &quoter.functions;
    if !book.best_price_changed || !book.best_bid.is_present || is_ready(context) != 1 {
        return 0;
    }
    let (id, mut price) = (book.security_id, 0);
    // SAFETY: the pointers are valid.
    unsafe {
        if add_ticks(context, id, book.best_bid.price, -40, &mut price) == 0 {
            quoter.sent += u64::from(buy(context, id, 1, price, std::ptr::null_mut()) == 0);
        }
    }
    0
}

/// Cancels each order that works.
unsafe extern "C" fn on_order(
    user: *mut c_void,
    order: *const hairpin_order_event,
    context: *mut hairpin_context,
) -> c_int {
    // SAFETY: as in `on_book`.
    let (quoter, order) = unsafe { (&mut *user.cast::<Quoter>(), &*order) };
    if order.state != hairpin_order_state::Working {
        quoter.canceled += 1;
        return 0;
    }
    // SAFETY: the pointers are valid.
    unsafe { (quoter.functions.cancel)(context, &order.cl_ord_id) }
}

/// Reads the best bid, and sends nothing.
unsafe extern "C" fn read_book(
    user: *mut c_void,
    book: *const hairpin_book_event,
    _: *mut hairpin_context,
) -> c_int {
    // SAFETY: as in `on_book`.
    let (quoter, book) = unsafe { (&mut *user.cast::<Quoter>(), &*book) };
    if book.best_price_changed && book.best_bid.is_present {
        quoter.sum = quoter.sum.wrapping_add(book.best_bid.price);
        (quoter.sent, quoter.canceled) = (quoter.sent + 1, quoter.canceled + 1);
    }
    0
}

struct Table {
    trader: hairpin_trader,
    callbacks: hairpin_callbacks,
    quoter: Quoter,
}

impl Table {
    /// Opens a trader that sends orders.
    fn quoter(venue: &Venue) -> Self {
        let (on_book, on_order) = (Some(on_book as _), Some(on_order as _));
        Self::open(venue, hairpin_callbacks { on_book, on_order, ..hairpin_callbacks::default() })
    }

    /// Opens a trader that reads books.
    fn reader(venue: &Venue) -> Self {
        let on_book = Some(read_book as _);
        Self::open(venue, hairpin_callbacks { on_book, ..hairpin_callbacks::default() })
    }

    fn open(venue: &Venue, callbacks: hairpin_callbacks) -> Self {
        let [config, orders] = ["config.xml", "order.toml"].map(|name| {
            CString::new(venue.folder.path().join(name).into_os_string().into_encoded_bytes())
                .unwrap()
        });
        let channel = 310;
        let settings = hairpin_settings {
            config: config.as_ptr(),
            orders: orders.as_ptr(),
            channels: &channel,
            channel_count: 1,
            wait: hairpin_wait::Spin as i32,
            ..hairpin_settings::default()
        };
        let mut trader = hairpin_trader { id: 0 };
        // SAFETY: the pointers are valid.
        assert_eq!(unsafe { hairpin_open(&settings, &mut trader) }, 0);
        let functions = Functions {
            turn: black_box(hairpin_trader_turn),
            is_ready: black_box(hairpin_is_ready),
            add_ticks: black_box(hairpin_instrument_add_ticks),
            buy: black_box(hairpin_buy),
            cancel: black_box(hairpin_cancel),
        };
        let callbacks = hairpin_callbacks { size: size_of::<hairpin_callbacks>(), ..callbacks };
        Self { trader, callbacks, quoter: Quoter { functions, sent: 0, canceled: 0, sum: 0 } }
    }

    #[inline(always)]
    fn once(&mut self) {
        let turn = self.quoter.functions.turn;
        let user = std::ptr::from_mut(&mut self.quoter).cast();
        // SAFETY: the table has callbacks of the right types, for which `user` is the quoter.
        assert_eq!(unsafe { turn(self.trader, &self.callbacks, user) }, 1);
    }

    #[inline(never)]
    fn measured_c(&mut self) {
        self.once();
    }
}

impl Case for Table {
    fn turn(&mut self) {
        self.once();
    }

    fn measured_turn(&mut self) {
        self.measured_c();
    }

    fn is_ready(&self) -> bool {
        hairpin_trader_is_ready(self.trader) == 1
    }

    fn counts(&self) -> (u64, u64) {
        (self.quoter.sent, self.quoter.canceled)
    }
}

/// Reads the best bid in each callback of a run, and publishes the next tick there.
struct RunReader {
    venue: Venue,
    ticks: u64,
    sum: i64,
}

unsafe extern "C" fn read_book_of_run(
    user: *mut c_void,
    book: *const hairpin_book_event,
    context: *mut hairpin_context,
) -> c_int {
    // SAFETY: `user` is the reader, which only callbacks use during the run; `book` is valid in the
    // callback.
    let (reader, book) = unsafe { (&mut *user.cast::<RunReader>(), &*book) };
    if !book.best_price_changed || !book.best_bid.is_present {
        return 0;
    }
    reader.sum = reader.sum.wrapping_add(book.best_bid.price);
    if reader.ticks == 0 {
        return hairpin_stop_run(context);
    }
    reader.ticks -= 1;
    reader.measured_pause();
    0
}

impl RunReader {
    /// Runs `hairpin_trader_run` with a callback per wakeup.
    fn count() {
        let mut venue = Venue::open("in_memory = true");
        let config = venue.folder.path().join("config.xml");
        let config = CString::new(config.into_os_string().into_encoded_bytes()).unwrap();
        let wait = hairpin_wait::Spin as i32;
        let settings =
            hairpin_settings { config: config.as_ptr(), wait, ..hairpin_settings::default() };
        let mut feed = hairpin_trader { id: 0 };
        // SAFETY: the pointers are valid.
        assert_eq!(unsafe { hairpin_open(&settings, &mut feed) }, 0);
        let size = size_of::<hairpin_callbacks>();
        let none = hairpin_callbacks { size, ..hairpin_callbacks::default() };
        while hairpin_trader_is_ready(feed) != 1 {
            venue.step();
            // SAFETY: the table has no callbacks.
            assert_eq!(unsafe { hairpin_trader_turn(feed, &none, std::ptr::null_mut()) }, 1);
        }
        venue.set_paced();
        venue.tick();
        let on_book = Some(read_book_of_run as _);
        Self { venue, ticks: case::TICKS, sum: 0 }
            .measured_run(feed, &hairpin_callbacks { on_book, ..none });
        println!("events={}", case::TICKS);
    }

    /// Publishes a tick. Callgrind does not count in a measured function within another.
    #[inline(never)]
    fn measured_pause(&mut self) {
        self.venue.tick();
    }

    #[inline(never)]
    fn measured_run(&mut self, feed: hairpin_trader, callbacks: &hairpin_callbacks) {
        let user = std::ptr::from_mut(self).cast();
        // SAFETY: the table has a callback of the right type, for which `user` is the reader.
        assert_eq!(unsafe { hairpin_trader_run(feed, callbacks, user) }, 0);
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["--count", "turn-c"] => Bench::start("c", Table::quoter).count(),
        ["--count", "run-c"] => RunReader::count(),
        ["--count", "book-c"] => Bench::start("c", Table::reader).count(),
        ["--time", rounds] => {
            let rounds = rounds.parse().unwrap();
            println!("a callback that reads the best bid");
            let mut facade = Bench::start("facade", Facade::<facade::Reader>::open);
            compare(rounds, &mut facade, &mut Bench::start("c", Table::reader));
            println!("the same with three functions and an order");
            let mut facade = Bench::start("facade", Facade::<facade::Quoter>::open);
            compare(rounds, &mut facade, &mut Bench::start("c", Table::quoter));
        }
        _ => eprintln!("usage: c_turn --count CASE, or c_turn --time ROUNDS"),
    }
    ExitCode::SUCCESS
}
