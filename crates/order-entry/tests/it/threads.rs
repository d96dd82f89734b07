//! Sessions on dedicated threads, against the exchange on the loopback interface.
use std::net::TcpListener;
use std::sync::mpsc::{Sender as Tx, channel};

use crate::venue::{Venue, clock, order, until};
use hairpin_host::allowed_cores;
use hairpin_mapped::Direction;
use hairpin_order_entry::*;
use hairpin_reactor::Wait;
use hairpin_time::Duration;

const TIMEOUT: Duration = Duration::from_secs(300);

/// Sends an order when established, and records its events and the threads of its callbacks.
#[derive(Debug, Default)]
struct Trader {
    reports: Vec<u64>,
    /// Names and allowed cores of the threads of its callbacks.
    threads: Vec<(String, Vec<usize>)>,
    not_applied: u32,
    active: Vec<Takeover>,
    backups: u32,
    panics_at: Option<u64>,
}

impl Trader {
    fn record_thread(&mut self) {
        let name = std::fs::read_to_string("/proc/thread-self/comm").unwrap();
        let thread = (name.trim_end().to_owned(), allowed_cores().unwrap());
        if self.threads.last() != Some(&thread) {
            self.threads.push(thread);
        }
    }
}

impl Listener for Trader {
    fn on_state(&mut self, _: &mut Sender<'_>, _: State) {
        self.record_thread();
    }
    fn on_established(&mut self, sender: &mut Sender<'_>, _: &Established) {
        sender.send(&order(1)).unwrap();
    }
    fn on_execution_report_new(
        &mut self,
        _: &mut Sender<'_>,
        report: ExecutionReportNew522<'_>,
        _: &Message<'_>,
    ) {
        self.record_thread();
        let id = report.cl_ord_id().to_string().parse().unwrap();
        assert_ne!(Some(id), self.panics_at, "test panic");
        self.reports.push(id);
    }
    fn on_not_applied(&mut self, _: &mut Sender<'_>, _: NotApplied) {
        self.not_applied += 1;
    }
    fn on_takeover(&mut self, _: &mut Sender<'_>, active: Takeover) {
        self.active.push(active);
    }
    fn on_backup(&mut self, notice: &BackupNotice<'_>) {
        self.record_thread();
        self.backups += u32::from(matches!(notice, BackupNotice::State(State::Established)));
    }
}

fn session(venue: &Venue, account: &str) -> ThreadSession<Trader> {
    ThreadSession { session: venue.reconnecting(account), listener: Trader::default() }
}

fn thread<L>(name: &str, wait: Wait, sessions: Vec<ThreadSession<L>>) -> SessionThread<L> {
    SessionThread { name: name.to_owned(), core: None, wait, sessions }
}

/// Evaluates a function of a listener on its thread.
fn query<T: Send + 'static>(
    mailbox: &Mailbox<Trader>,
    read: impl FnOnce(&mut Trader) -> T + Send + 'static,
) -> Option<T> {
    let (tx, rx) = channel();
    mailbox.call(move |_, trader| drop(tx.send(read(trader)))).ok()?;
    rx.recv().ok()
}

fn until_reports(mailbox: &Mailbox<Trader>, count: usize) {
    until("reports", || query(mailbox, |it| it.reports.len()) == Some(count));
}

/// Returns the names of this process's threads with their allowed cores, as listed by the kernel.
fn threads_of_process() -> Vec<(String, String)> {
    let mut threads = Vec::new();
    for task in std::fs::read_dir("/proc/self/task").unwrap() {
        let task = task.unwrap().path();
        // A thread of another test may end meanwhile.
        let Ok(status) = std::fs::read_to_string(task.join("status")) else { continue };
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            line.unwrap().trim().to_owned()
        };
        threads.push((field("Name:"), field("Cpus_allowed_list:")));
    }
    threads
}

#[test]
fn thread_has_its_name_core_and_sessions() {
    let venue = Venue::quiet();
    let core = *allowed_cores().unwrap().last().unwrap();
    let two = vec![session(&venue, "ABC"), session(&venue, "ABD")];
    let equities = SessionThread { core: Some(core), ..thread("equities", Wait::Epoll, two) };
    let rates = thread("rates", Wait::Poll, vec![session(&venue, "ABE")]);
    let threads = SessionThreads::spawn(vec![equities, rates], clock).unwrap();
    assert_eq!((threads.count(), threads.has_failed()), (2, false));
    for (thread, session) in [(0, 0), (0, 1), (1, 0)] {
        until_reports(&threads.mailbox(thread, session), 1);
    }
    let listed = threads_of_process();
    assert!(listed.contains(&("equities".into(), core.to_string())), "{listed:?}");
    assert!(listed.iter().any(|(name, _)| name == "rates"), "{listed:?}");
    let ended = threads.stop(TIMEOUT);
    let names: Vec<&str> = ended.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["equities", "rates"]);
    for ((name, sessions), cores) in ended.iter().zip([vec![core], allowed_cores().unwrap()]) {
        for ThreadSession { session, listener } in sessions.as_ref().unwrap() {
            assert_eq!(listener.threads, [(name.clone(), cores.clone())]);
            assert_eq!(listener.reports, [1]);
            assert!(session.is_idle());
            assert_eq!(session.session().ending(), DisconnectReason::Finished);
        }
    }
    assert_eq!(ended[0].1.as_ref().unwrap().len(), 2);
    assert!(!threads_of_process().iter().any(|(name, _)| name == "equities"));
}

#[test]
fn calls_send_in_order_under_every_wait() {
    let venue = Venue::quiet();
    for wait in Wait::ALL {
        if let Err(reason) = wait.probe() {
            println!("skipped: {wait}: {reason}");
            continue;
        }
        let sessions = vec![session(&venue, "ABC")];
        let threads = SessionThreads::spawn(vec![thread("one", wait, sessions)], clock).unwrap();
        let mailbox = threads.mailbox(0, 0);
        until_reports(&mailbox, 1);
        for id in 2..=200 {
            let send = move |sender: &mut Sender<'_>, _: &mut Trader| {
                sender.send(&order(id)).unwrap();
            };
            until("room", || mailbox.call(send) != Err(CallError::Full));
        }
        until_reports(&mailbox, 200);
        let (_, outcome) = threads.stop(TIMEOUT).pop().unwrap();
        let sessions = outcome.unwrap();
        assert!(sessions[0].listener.reports.iter().copied().eq(1..=200), "{wait}");
        assert_eq!(mailbox.call(|_, _| {}), Err(CallError::Ended));
        let journal = sessions[0].session.session().journal();
        let tags = journal.records().map(|(record, _)| journal.tag(record));
        let outbound = tags.filter(|tag| tag.direction == Direction::Outbound);
        assert!(outbound.map(|tag| tag.seq_num).eq(1..=200));
    }
}

#[test]
fn calls_are_bounded_and_waiting_calls_run() {
    let venue = Venue::quiet();
    let sessions = vec![session(&venue, "ABC")];
    let threads =
        SessionThreads::spawn(vec![thread("busy", Wait::Epoll, sessions)], clock).unwrap();
    let mailbox = threads.mailbox(0, 0);
    let (go, wait) = channel::<()>();
    let (tx, rx) = channel();
    let started_tx = tx.clone();
    mailbox
        .call(move |_, _| {
            started_tx.send(0).unwrap();
            wait.recv().unwrap();
        })
        .unwrap();
    assert_eq!(rx.recv(), Ok(0));
    // The thread is busy with the first call; 64 more calls can wait.
    for number in 1..=64 {
        let tx = tx.clone();
        mailbox.call(move |_, _| tx.send(number).unwrap()).unwrap();
    }
    assert_eq!(mailbox.call(|_, _| {}), Err(CallError::Full));
    go.send(()).unwrap();
    assert!((0..64).map(|_| rx.recv().unwrap()).eq(1..=64));
    drop(threads);
    assert_eq!(mailbox.call(|_, _| {}), Err(CallError::Ended));
}

#[test]
fn panic_ends_only_its_thread_and_is_reported() {
    let venue = Venue::quiet();
    let mut panicking = session(&venue, "ABC");
    panicking.listener.panics_at = Some(2);
    let surviving = vec![session(&venue, "ABD")];
    let threads = vec![
        thread("panics", Wait::Epoll, vec![panicking]),
        thread("survives", Wait::Epoll, surviving),
    ];
    let threads = SessionThreads::spawn(threads, clock).unwrap();
    let (panicking, surviving) = (threads.mailbox(0, 0), threads.mailbox(1, 0));
    until_reports(&panicking, 1);
    until_reports(&surviving, 1);
    panicking.call(|sender, _| assert!(sender.send(&order(2)).is_ok())).unwrap();
    until("the panic", || threads.has_failed());
    assert_eq!(panicking.call(|_, _| {}), Err(CallError::Ended));
    surviving.call(|sender, _| assert_eq!(sender.send(&order(2)).unwrap().seq_num, 2)).unwrap();
    until_reports(&surviving, 2);
    let mut ended = threads.stop(TIMEOUT).into_iter();
    let (name, outcome) = ended.next().unwrap();
    let error = outcome.unwrap_err();
    assert!(matches!(error, ThreadError::Panic(_)));
    assert_eq!(name, "panics");
    let message = error.to_string();
    assert!(message.starts_with("panicked: ") && message.contains("test panic"), "{message}");
    assert_eq!(ended.next().unwrap().1.unwrap()[0].listener.reports, [1, 2]);
}

#[test]
fn silent_gateway_is_abandoned_after_the_timeout() {
    let gateway = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut venue = Venue::quiet();
    let std::net::SocketAddr::V4(address) = gateway.local_addr().unwrap() else { panic!() };
    venue.primary = address;
    let sessions = vec![session(&venue, "ABC")];
    let threads =
        SessionThreads::spawn(vec![thread("patient", Wait::Epoll, sessions)], clock).unwrap();
    let (connection, _) = gateway.accept().unwrap();
    let negotiating = |it: &Mailbox<Trader>| {
        let (tx, rx) = channel();
        it.call(move |sender, _| tx.send(sender.state()).unwrap()).unwrap();
        rx.recv().unwrap() == State::Negotiating
    };
    let mailbox = threads.mailbox(0, 0);
    until("Negotiate", || negotiating(&mailbox));
    let (_, outcome) = threads.stop(Duration::from_millis(20)).pop().unwrap();
    let sessions = outcome.unwrap();
    assert!(sessions[0].session.is_idle());
    assert_eq!(sessions[0].session.session().ending(), DisconnectReason::Lost);
    drop(connection);
}

#[test]
fn failover_over_sockets_continues_the_numbers() {
    let venue = Venue::quiet();
    let sessions = vec![session(&venue, "ABC")];
    let threads =
        SessionThreads::spawn(vec![thread("trader", Wait::Epoll, sessions)], clock).unwrap();
    let mailbox = threads.mailbox(0, 0);
    until_reports(&mailbox, 1);
    for round in 1..=4 {
        until("the backup", || query(&mailbox, |it| it.backups) >= Some(round));
        venue.fail_primary();
        let round = round as usize;
        until("the failover", || query(&mailbox, |it| it.active.len()) == Some(round));
        mailbox
            .call(move |sender, _| {
                assert_eq!(
                    sender.send(&order(1 + round as u64)).unwrap().seq_num,
                    1 + round as u32
                );
            })
            .unwrap();
        until_reports(&mailbox, 1 + round);
        venue.restore();
    }
    let (_, outcome) = threads.stop(TIMEOUT).pop().unwrap();
    let sessions = outcome.unwrap();
    let ThreadSession { session, listener } = &sessions[0];
    assert_eq!((listener.reports.clone(), listener.not_applied), (vec![1, 2, 3, 4, 5], 0));
    assert_eq!(session.session().inbound_counters().failovers, 4);
    assert_eq!(session.session().outbound_counters().negotiates, 1);
}

#[test]
fn dropped_threads_have_terminated_their_sessions() {
    struct Drops(Tx<&'static str>);
    impl Listener for Drops {
        fn on_established(&mut self, _: &mut Sender<'_>, _: &Established) {
            self.0.send("established").unwrap();
        }
        fn on_terminate(&mut self, _: &mut Sender<'_>, terminated: &Terminated<'_>) {
            assert!(terminated.solicited);
            self.0.send("terminated").unwrap();
        }
    }
    impl Drop for Drops {
        fn drop(&mut self) {
            self.0.send("dropped").unwrap();
        }
    }
    let (tx, rx) = channel();
    let venue = Venue::quiet();
    let sessions = vec![ThreadSession { session: venue.reconnecting("ABC"), listener: Drops(tx) }];
    let threads = SessionThreads::spawn(vec![thread("short", Wait::Epoll, sessions)], clock);
    let threads = threads.unwrap();
    assert_eq!(rx.recv(), Ok("established"));
    drop(threads);
    assert!(rx.try_iter().eq(["terminated", "dropped"]));
}

#[test]
fn rejects_impossible_threads_in_one_line() {
    let cores = std::thread::available_parallelism().unwrap().get();
    let spin = |number: usize| thread::<()>(&format!("t{number}"), Wait::Spin, Vec::new());
    let refused =
        |threads| SessionThreads::spawn(threads, clock).map(drop).unwrap_err().to_string();
    let error = refused((0..=cores).map(spin).collect());
    let rx =
        format!("cannot spin {} threads on {cores} cores: let some wait with epoll", cores + 1);
    assert_eq!(error, rx);
    let far = thread("far", Wait::Epoll, Vec::new());
    let error = refused(vec![SessionThread { core: Some(1_023), ..far }]);
    assert!(error.starts_with("cannot start thread far: cannot pin to core 1023: "), "{error}");
}

#[test]
fn call_reaches_its_session() {
    let venue = Venue::quiet();
    let sessions = ["ABC", "ABD"].map(|account| session(&venue, account)).into();
    let threads = vec![thread("both", Wait::Epoll, sessions)];
    let threads = SessionThreads::spawn(threads, clock).unwrap();
    let (tx, rx) = channel();
    for place in 0..2 {
        let tx = tx.clone();
        let call = move |_: &mut Sender<'_>, trader: &mut Trader| {
            trader.panics_at = Some(1_000 + place);
            tx.send(place).unwrap();
        };
        threads.mailbox(0, place as usize).call(call).unwrap();
    }
    assert_eq!((rx.recv().unwrap(), rx.recv().unwrap()), (0, 1));
    let (_, outcome) = threads.stop(TIMEOUT).remove(0);
    let marks: Vec<_> = outcome.unwrap().iter().map(|it| it.listener.panics_at).collect();
    assert_eq!(marks, [Some(1_000), Some(1_001)]);
}
