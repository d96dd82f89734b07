//! Channels on threads of their own, over real multicast on the loopback interface.
#![allow(clippy::unwrap_used, reason = "a socket that cannot be had fails the test")]

#[allow(dead_code, unreachable_pub, reason = "the packets of another crate's tests")]
#[path = "../../mdp3/tests/support/packets.rs"]
mod packets;

use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::sync::mpsc::channel;
use std::time::Instant as Clock;

use hairpin_endpoint::{Transmit, UdpSender};
use hairpin_feed_handler::{
    CallError, ChannelState, EndOfEvent, FeedThread, FeedThreads, Filter, LateJoin, Lines,
    Listener, Multicast, Settings, ThreadChannel, ThreadError,
};
use hairpin_reactor::Wait;
use hairpin_time::{Duration, Instant, Now};
use packets::{END, PacketBuilder, YEAR_2026, bid, packet};

/// Counts the ends of events, and panics at one.
#[derive(Debug, Default)]
struct Told {
    ends: Vec<u32>,
    panics_at: Option<u32>,
    thread: String,
}

impl Listener for Told {
    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        let sequence = event.packet.sequence;
        assert!(self.panics_at != Some(sequence), "enough at {sequence}");
        self.ends.push(sequence);
        self.thread = std::fs::read_to_string("/proc/thread-self/comm").unwrap();
    }
}

fn clock() -> impl FnMut() -> Now {
    let start = Clock::now();
    move || {
        let span = Duration::from_nanos(start.elapsed().as_nanos() as u64);
        let utc = YEAR_2026 + Duration::from_secs(3_600) + span;
        Now { monotonic: Instant::ZERO + span, utc }
    }
}

/// An incremental feed that nobody else has.
fn feed(number: u8) -> Multicast {
    let port = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let [.., low] = std::process::id().to_be_bytes();
    let group = SocketAddrV4::new(Ipv4Addr::new(239, 194, low, number), port);
    Multicast {
        incremental: Lines::only_a(group),
        instrument: Lines::default(),
        snapshot: Lines::default(),
        snapshot_orders: Lines::default(),
        interface: Ipv4Addr::LOCALHOST,
        transport: Default::default(),
        replay: None,
    }
}

fn thread(name: &str, wait: Wait, feeds: &[Multicast], panics_at: Option<u32>) -> FeedThread<Told> {
    let settings =
        Settings { late_join: LateJoin::Nothing, max_instruments: 8, ..Settings::default() };
    let channel = |addresses: &Multicast| ThreadChannel {
        settings,
        filter: Filter::default(),
        addresses: addresses.clone(),
        listener: Told { panics_at, ..Told::default() },
    };
    let channels = feeds.iter().map(channel).collect();
    FeedThread { name: name.to_owned(), core: None, wait, channels }
}

fn send(to: &Multicast, packet: &PacketBuilder) {
    let group = to.incremental.a.as_ref().unwrap().address;
    let mut sender = UdpSender::new(group, Ipv4Addr::LOCALHOST, 0).unwrap();
    let bytes = packet.bytes();
    sender.transmit(bytes.len(), |buffer| buffer.copy_from_slice(bytes)).unwrap();
}

fn quote(sequence: u32) -> PacketBuilder {
    packet(sequence).book(END, &[bid(7, sequence).add(1, 100, 5)])
}

/// How many events the listeners of a thread have seen.
fn ends(threads: &FeedThreads<Told>, thread: usize) -> Result<usize, CallError> {
    let (tell, told) = channel();
    threads.call(thread, move |feeds, listeners| {
        assert!(feeds.channels().all(|(_, channel)| channel.state() == ChannelState::InSync));
        tell.send(listeners.iter().map(|listener| listener.ends.len()).sum()).unwrap();
    })?;
    told.recv().map_err(|_| CallError::Ended)
}

fn until(what: &str, mut done: impl FnMut() -> bool) {
    for _ in 0..2_000 {
        if done() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    panic!("{what} does not come");
}

#[test]
fn each_thread_has_its_name_its_channels_and_its_listeners() {
    let feeds = [feed(1), feed(2), feed(3)];
    let threads = vec![
        thread("equities", Wait::Epoll, &feeds[..2], None),
        thread("rates", Wait::Poll, &feeds[2..], None),
    ];
    let threads = FeedThreads::spawn(threads, clock).unwrap();
    assert_eq!((threads.count(), threads.has_failed()), (2, false));
    for (feed, count) in feeds.iter().zip(1..) {
        (1..=count).for_each(|sequence| send(feed, &quote(sequence)));
    }
    until("all", || ends(&threads, 0) == Ok(3) && ends(&threads, 1) == Ok(3));
    assert_eq!(threads.errors().count(), 0);
    let ended = threads.stop();
    let names: Vec<&str> = ended.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["equities", "rates"]);
    for (name, listeners) in &ended {
        for listener in listeners.as_ref().unwrap() {
            assert_eq!(listener.thread.trim_end(), name);
        }
    }
    assert_eq!(ended[0].1.as_ref().unwrap()[1].ends, [1, 2]);
}

#[test]
fn a_panic_ends_its_thread_alone_and_comes_out_with_its_words() {
    let feeds = [feed(4), feed(5)];
    let threads = vec![
        thread("doomed", Wait::Epoll, &feeds[..1], Some(2)),
        thread("sound", Wait::Epoll, &feeds[1..], None),
    ];
    let threads = FeedThreads::spawn(threads, clock).unwrap();
    feeds.iter().for_each(|feed| [1, 2].iter().for_each(|&it| send(feed, &quote(it))));
    until("the panic", || threads.has_failed());
    assert_eq!(ends(&threads, 0), Err(CallError::Ended));
    until("the other", || ends(&threads, 1) == Ok(2));
    let mut ended = threads.stop().into_iter();
    let (name, outcome) = ended.next().unwrap();
    assert_eq!(name, "doomed");
    let error = outcome.unwrap_err();
    assert!(matches!(error, ThreadError::Panic(_)));
    assert_eq!(error.to_string(), "panicked: enough at 2");
    assert_eq!(ended.next().unwrap().1.unwrap()[0].ends, [1, 2]);
}

#[test]
fn threads_that_are_dropped_have_ended() {
    struct Drops(std::sync::mpsc::Sender<()>);
    impl Listener for Drops {}
    impl Drop for Drops {
        fn drop(&mut self) {
            self.0.send(()).unwrap();
        }
    }
    let (tell, told) = channel();
    let FeedThread { name, core, wait, channels } = thread("short", Wait::Epoll, &[feed(6)], None);
    let channels =
        channels.into_iter().map(|ThreadChannel { settings, filter, addresses, .. }| {
            ThreadChannel { settings, filter, addresses, listener: Drops(tell.clone()) }
        });
    let channels = channels.collect();
    let threads = FeedThreads::spawn(vec![FeedThread { name, core, wait, channels }], clock);
    drop(threads.unwrap());
    assert_eq!(told.try_iter().count(), 1);
}

#[test]
fn threads_that_cannot_be_are_refused_in_one_line() {
    let cores = std::thread::available_parallelism().unwrap().get();
    let spin = |number: usize| thread(&format!("t{number}"), Wait::Spin, &[], None);
    let refused = |threads| FeedThreads::spawn(threads, clock).map(drop).unwrap_err().to_string();
    let error = refused((0..=cores).map(spin).collect());
    let told =
        format!("{} threads cannot spin on {cores} cores; let some wait by epoll", cores + 1);
    assert_eq!(error, told);
    if cores > 1 {
        let pinned = |number| FeedThread { core: Some(0), ..spin(number) };
        let error = refused(vec![pinned(0), pinned(1)]);
        assert_eq!(error, "threads t0 and t1 cannot both spin on core 0");
    }
    let nowhere = Multicast { interface: Ipv4Addr::new(192, 0, 2, 1), ..feed(7) };
    let error = refused(vec![
        thread("sound", Wait::Epoll, &[feed(8)], None),
        thread("lost", Wait::Epoll, &[nowhere], None),
    ]);
    assert!(error.starts_with("thread lost: ") && error.contains("192.0.2.1"), "{error}");
    let elsewhere = FeedThread { core: Some(1_023), ..thread("far", Wait::Epoll, &[], None) };
    let error = refused(vec![elsewhere]);
    assert!(error.starts_with("thread far: core 1023"), "{error}");
}

#[test]
fn a_call_and_an_end_reach_a_thread_to_which_nothing_comes() {
    for wait in Wait::ALL {
        if let Err(reason) = wait.probe() {
            println!("skipped: {wait}: {reason}");
            continue;
        }
        // Without channels nothing is ever due: only the call can end its wait.
        let threads = FeedThreads::spawn(vec![thread("idle", wait, &[], None)], clock).unwrap();
        let (tell, told) = channel();
        threads.call(0, move |feeds, _| tell.send(feeds.count()).unwrap()).unwrap();
        let answer = told.recv_timeout(std::time::Duration::from_secs(20));
        if answer != Ok(0) {
            // Dropped, they would be waited for.
            std::mem::forget(threads);
            panic!("{wait}: {answer:?}");
        }
        assert!(threads.stop()[0].1.is_ok(), "{wait}");
    }
}

#[test]
fn calls_are_bounded() {
    let threads = vec![thread("busy", Wait::Epoll, &[feed(9)], None)];
    let threads = FeedThreads::spawn(threads, clock).unwrap();
    let (go, wait) = channel::<()>();
    let (tell, told) = channel();
    threads
        .call(0, move |_, _| {
            tell.send(()).unwrap();
            let _ = wait.recv();
        })
        .unwrap();
    told.recv().unwrap();
    // It is busy with the first; so many more may wait.
    (0..16).for_each(|_| threads.call(0, |_, _| {}).unwrap());
    assert_eq!(threads.call(0, |_, _| {}), Err(CallError::Full));
    go.send(()).unwrap();
    until("room", || threads.call(0, |_, _| {}).is_ok());
}
