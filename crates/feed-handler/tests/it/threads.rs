//! Channels on dedicated threads, over real multicast on the loopback interface.
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::sync::mpsc::channel;
use std::time::Instant as Clock;

use crate::packets::{END, PacketBuilder, YEAR_2026, bid, packet};
use hairpin_endpoint::{Transmit, UdpSender};
use hairpin_feed_handler::{
    CallError, ChannelState, EndOfEvent, FeedThread, FeedThreads, Filter, LateJoin, Lines,
    Listener, Multicast, Settings, ThreadChannel, ThreadError,
};
use hairpin_reactor::Wait;
use hairpin_time::{Duration, Instant, Now};

/// Records the ends of events, and panics at one of them.
#[derive(Debug, Default)]
struct RecordingListener {
    ends: Vec<u32>,
    panics_at: Option<u32>,
    thread: String,
}

impl Listener for RecordingListener {
    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        let sequence = event.packet.sequence;
        assert!(self.panics_at != Some(sequence), "test panic at {sequence}");
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

/// Returns an incremental feed that no other test uses.
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

fn thread(
    name: &str,
    wait: Wait,
    feeds: &[Multicast],
    panics_at: Option<u32>,
) -> FeedThread<RecordingListener> {
    let settings =
        Settings { late_join: LateJoin::Nothing, max_instruments: 8, ..Settings::default() };
    let channel = |addresses: &Multicast| ThreadChannel {
        settings,
        filter: Filter::default(),
        addresses: addresses.clone(),
        listener: RecordingListener { panics_at, ..RecordingListener::default() },
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

/// Returns the number of events that the listeners of a thread have received.
fn ends(threads: &FeedThreads<RecordingListener>, thread: usize) -> Result<usize, CallError> {
    let (tx, rx) = channel();
    threads.call(thread, move |feeds, listeners| {
        assert!(feeds.channels().all(|(_, channel)| channel.state() == ChannelState::InSync));
        tx.send(listeners.iter().map(|listener| listener.ends.len()).sum()).unwrap();
    })?;
    rx.recv().map_err(|_| CallError::Ended)
}

fn until(event: &str, mut done: impl FnMut() -> bool) {
    for _ in 0..60_000 {
        if done() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    panic!("{event} does not happen");
}

#[test]
fn thread_has_its_name_channels_and_listeners() {
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
fn panic_ends_only_its_thread_and_is_reported() {
    let feeds = [feed(4), feed(5)];
    let threads = vec![
        thread("panics", Wait::Epoll, &feeds[..1], Some(2)),
        thread("survives", Wait::Epoll, &feeds[1..], None),
    ];
    let threads = FeedThreads::spawn(threads, clock).unwrap();
    feeds.iter().for_each(|feed| [1, 2].iter().for_each(|&it| send(feed, &quote(it))));
    until("the panic", || threads.has_failed());
    assert_eq!(ends(&threads, 0), Err(CallError::Ended));
    until("the other", || ends(&threads, 1) == Ok(2));
    let mut ended = threads.stop().into_iter();
    let (name, outcome) = ended.next().unwrap();
    assert_eq!(name, "panics");
    let error = outcome.unwrap_err();
    assert!(matches!(error, ThreadError::Panic(_)));
    assert_eq!(error.to_string(), "panicked: test panic at 2");
    assert_eq!(ended.next().unwrap().1.unwrap()[0].ends, [1, 2]);
}

#[test]
fn dropped_threads_have_ended() {
    struct Drops(std::sync::mpsc::Sender<()>);
    impl Listener for Drops {}
    impl Drop for Drops {
        fn drop(&mut self) {
            self.0.send(()).unwrap();
        }
    }
    let (tx, rx) = channel();
    let FeedThread { name, core, wait, channels } = thread("short", Wait::Epoll, &[feed(6)], None);
    let channels =
        channels.into_iter().map(|ThreadChannel { settings, filter, addresses, .. }| {
            ThreadChannel { settings, filter, addresses, listener: Drops(tx.clone()) }
        });
    let channels = channels.collect();
    let threads = FeedThreads::spawn(vec![FeedThread { name, core, wait, channels }], clock);
    drop(threads.unwrap());
    assert_eq!(rx.try_iter().count(), 1);
}

#[test]
fn rejects_impossible_threads_in_one_line() {
    let cores = std::thread::available_parallelism().unwrap().get();
    let spin = |number: usize| thread(&format!("t{number}"), Wait::Spin, &[], None);
    let refused = |threads| FeedThreads::spawn(threads, clock).map(drop).unwrap_err().to_string();
    let error = refused((0..=cores).map(spin).collect());
    let rx =
        format!("cannot spin {} threads on {cores} cores: let some wait with epoll", cores + 1);
    assert_eq!(error, rx);
    if cores > 1 {
        let pinned = |number| FeedThread { core: Some(0), ..spin(number) };
        let error = refused(vec![pinned(0), pinned(1)]);
        assert_eq!(
            error,
            "cannot spin threads t0 and t1 on core 0: a spinning thread needs its own core"
        );
    }
    let unusable = Multicast { interface: Ipv4Addr::new(192, 0, 2, 1), ..feed(7) };
    let error = refused(vec![
        thread("valid", Wait::Epoll, &[feed(8)], None),
        thread("broken", Wait::Epoll, &[unusable], None),
    ]);
    assert!(error.starts_with("thread broken: ") && error.contains("192.0.2.1"), "{error}");
    let other = FeedThread { core: Some(1_023), ..thread("far", Wait::Epoll, &[], None) };
    let error = refused(vec![other]);
    assert!(error.starts_with("cannot start thread far: cannot pin to core 1023: "), "{error}");
}

#[test]
fn call_and_stop_interrupt_an_idle_wait() {
    for wait in Wait::ALL {
        if let Err(reason) = wait.probe() {
            println!("skipped: {wait}: {reason}");
            continue;
        }
        // Without channels there is no deadline: only the call can end the wait.
        let threads = FeedThreads::spawn(vec![thread("idle", wait, &[], None)], clock).unwrap();
        let (tx, rx) = channel();
        threads.call(0, move |feeds, _| tx.send(feeds.count()).unwrap()).unwrap();
        let answer = rx.recv_timeout(std::time::Duration::from_secs(60));
        if answer != Ok(0) {
            // Dropping the threads would wait for them.
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
    let (tx, rx) = channel();
    threads
        .call(0, move |_, _| {
            tx.send(()).unwrap();
            let _ = wait.recv();
        })
        .unwrap();
    rx.recv().unwrap();
    // The thread is busy with the first call; 16 more calls can wait.
    (0..16).for_each(|_| threads.call(0, |_, _| {}).unwrap());
    assert_eq!(threads.call(0, |_, _| {}), Err(CallError::Full));
    go.send(()).unwrap();
    until("room", || threads.call(0, |_, _| {}).is_ok());
}
