//! What the application sees of the frames that leave.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod exchange;
mod wire;

use std::cell::RefCell;
use std::rc::Rc;

use exchange::{frames, now, template_id};
use hairpin_mapped::Journal;
use hairpin_order_entry::*;
use hairpin_reactor::{Reactor, Wait};
use wire::{Shared, Told};

type Seen = Rc<RefCell<Vec<Vec<u8>>>>;

/// Runs a session on `dial` from logon to the end of the connection; two orders, one of them
/// repeated, that leave at once, and two in a batch, that wait.
fn run<D: Connect>(dial: D, shared: &Shared) {
    let conduct =
        SessionPolicy { not_applied: NotAppliedAnswer::Replay, ..SessionPolicy::default() };
    let settings = Settings { conduct, ..exchange::settings(1) };
    let journal = Journal::anonymous(1 << 14).unwrap();
    let mut session = Session::with_connect(settings, journal, dial).unwrap();
    let (mut reactor, mut told) = (Reactor::new(Wait::Spin).unwrap(), Told::default());
    session.connect(now(1), Binding::New).unwrap();
    shared.wire().room = usize::MAX >> 1;
    let mut answered = 0;
    let mut turn = |session: &mut Session<D>, time| {
        let ready = reactor.wait(now(time).monotonic, None).unwrap();
        session.process(now(time), ready, &mut reactor, &mut told).unwrap();
        let mut wire = shared.wire();
        let taken = wire.taken[answered..].to_vec();
        answered = wire.taken.len();
        for frame in frames(&taken).into_iter().filter(|frame| template_id(frame) < 514) {
            let answer = wire.exchange.answer(frame);
            wire.incoming.extend(answer);
        }
    };
    (0..6).for_each(|time| turn(&mut session, time + 1));
    assert_eq!(session.state(), State::Established);
    let order = NewOrder::limit(42, SideReq::BUY, Decimal(1), 1, ClOrdId::from(1));
    let mut sender = session.sender(now(9));
    (0..2).for_each(|_| assert_eq!(sender.send(&order).unwrap().delivery, Delivery::Written));
    let not_applied = shared.wire().exchange.not_applied(2, 1);
    shared.wire().incoming = not_applied;
    turn(&mut session, 9);
    turn(&mut session, 9_500_000_000);
    shared.wire().room = 0;
    let mut sender = session.sender(now(9_500_000_000));
    let batched = sender.batch(|sender| [sender.send(&order), sender.send(&order)]);
    assert!(batched.delivery != Delivery::Written && batched.value.iter().all(Result::is_ok));
    shared.wire().room = usize::MAX >> 1;
    turn(&mut session, 9_500_000_001);
    turn(&mut session, 9_500_000_002);
    session.terminate(now(9_500_000_003));
    turn(&mut session, 9_500_000_003);
}

fn templates(frames: &[Vec<u8>]) -> Vec<u16> {
    frames.iter().map(|frame| template_id(frame)).collect()
}

#[test]
fn every_frame_is_seen_once_before_it_leaves_and_in_the_order_of_leaving() {
    let (shared, seen) = (Shared::default(), Seen::default());
    let (wire, log) = (shared.clone(), Rc::clone(&seen));
    let watch = move |frame: &[u8]| {
        let begun: usize = log.borrow().iter().map(Vec::len).sum();
        assert!(wire.wire().taken.len() <= begun, "seen too late");
        log.borrow_mut().push(frame.to_vec());
    };
    run(FrameTap::new(shared.clone(), watch), &shared);
    let seen = seen.borrow();
    assert_eq!(templates(&seen), [500, 503, 514, 514, 514, 506, 514, 514, 507]);
    let taken = shared.wire().taken.clone();
    let taken = frames(&taken);
    assert_eq!(taken.len(), seen.len());
    for (taken, seen) in taken.iter().zip(&*seen) {
        let is_logon = [500, 503].contains(&template_id(taken));
        assert_eq!(taken == seen, !is_logon);
    }
}

#[test]
fn neither_signature_nor_access_key_are_seen() {
    let (shared, seen) = (Shared::default(), Seen::default());
    let log = Rc::clone(&seen);
    let watch = move |frame: &[u8]| log.borrow_mut().push(frame.to_vec());
    run(FrameTap::new(shared.clone(), watch), &shared);
    let (seen, taken) = (seen.borrow(), shared.wire().taken.clone());
    for (taken, seen) in frames(&taken).iter().zip(&seen[..2]) {
        let credentials = 12..12 + 32 + 20;
        assert_eq!(&taken[44..64], b"ACCESS-KEY-ID-123456");
        assert_eq!(seen[credentials.clone()], [b'*'; 52]);
        assert_eq!(seen[..12], taken[..12]);
        assert_eq!(seen[credentials.end..], taken[credentials.end..]);
        // What leaves is signed as ever.
        assert_ne!(taken[12..44], seen[12..44]);
    }
}

#[test]
fn what_is_seen_changes_nothing_of_what_leaves() {
    let (plain, watched) = (Shared::default(), Shared::default());
    run(plain.clone(), &plain);
    run(FrameTap::new(watched.clone(), |_: &[u8]| {}), &watched);
    assert_eq!(plain.wire().taken, watched.wire().taken);
}

#[test]
fn whoever_watches_within_sees_the_same() {
    let (shared, outer, inner) = (Shared::default(), Seen::default(), Seen::default());
    let watch = |seen: &Seen| {
        let seen = Rc::clone(seen);
        move |frame: &[u8]| seen.borrow_mut().push(frame.to_vec())
    };
    run(FrameTap::new(FrameTap::new(shared.clone(), watch(&inner)), watch(&outer)), &shared);
    assert_eq!(outer.borrow().len(), 9);
    assert_eq!(*outer.borrow(), *inner.borrow());
}
