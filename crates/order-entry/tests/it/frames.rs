//! The frames that a tap receives.

use std::cell::RefCell;
use std::rc::Rc;

use crate::mock_exchange::{self, frames, now, template_id};
use crate::session_harness::{RecordedEvents, TestConnector};
use hairpin_mapped::Journal;
use hairpin_order_entry::*;
use hairpin_reactor::{Reactor, Wait};

type Seen = Rc<RefCell<Vec<Vec<u8>>>>;

/// Runs a session on `tapped` from logon to termination: two orders sent at once, of which one is
/// replayed, and two orders in a batch that waits.
fn run<D: Connect>(tapped: D, connector: &TestConnector) {
    let conduct =
        SessionPolicy { not_applied: NotAppliedAnswer::Replay, ..SessionPolicy::default() };
    let settings = Settings { conduct, ..mock_exchange::settings(1) };
    let journal = Journal::anonymous(1 << 14).unwrap();
    let mut session = Session::with_connect(settings, journal, tapped).unwrap();
    let (mut reactor, mut events) = (Reactor::new(Wait::Spin).unwrap(), RecordedEvents::default());
    session.connect(now(1), Binding::New).unwrap();
    connector.connection().room = usize::MAX >> 1;
    let mut answered = 0;
    let mut turn = |session: &mut Session<D>, time| {
        let ready = reactor.wait(now(time).monotonic, None).unwrap();
        session.process(now(time), ready, &mut reactor, &mut events).unwrap();
        let mut connection = connector.connection();
        let written = connection.written[answered..].to_vec();
        answered = connection.written.len();
        for frame in frames(&written).into_iter().filter(|frame| template_id(frame) < 514) {
            let answer = connection.exchange.answer(frame);
            connection.incoming.extend(answer);
        }
    };
    (0..6).for_each(|time| turn(&mut session, time + 1));
    assert_eq!(session.state(), State::Established);
    let order = NewOrder::limit(42, SideReq::BUY, Decimal(1), 1, ClOrdId::from(1));
    let mut sender = session.sender(now(9));
    (0..2).for_each(|_| assert_eq!(sender.send(&order).unwrap().delivery, Delivery::Written));
    let not_applied = connector.connection().exchange.not_applied(2, 1);
    connector.connection().incoming = not_applied;
    turn(&mut session, 9);
    turn(&mut session, 9_500_000_000);
    connector.connection().room = 0;
    let mut sender = session.sender(now(9_500_000_000));
    let batched = sender.batch(|sender| [sender.send(&order), sender.send(&order)]);
    assert!(batched.delivery != Delivery::Written && batched.value.iter().all(Result::is_ok));
    connector.connection().room = usize::MAX >> 1;
    turn(&mut session, 9_500_000_001);
    turn(&mut session, 9_500_000_002);
    session.terminate(now(9_500_000_003));
    turn(&mut session, 9_500_000_003);
}

fn templates(frames: &[Vec<u8>]) -> Vec<u16> {
    frames.iter().map(|frame| template_id(frame)).collect()
}

#[test]
fn tap_sees_every_frame_once_before_its_first_byte() {
    let (connector, seen) = (TestConnector::default(), Seen::default());
    let (connection, log) = (connector.clone(), Rc::clone(&seen));
    let tap = move |frame: &[u8]| {
        let tapped_before: usize = log.borrow().iter().map(Vec::len).sum();
        assert!(connection.connection().written.len() <= tapped_before, "tapped too late");
        log.borrow_mut().push(frame.to_vec());
    };
    run(FrameTap::new(connector.clone(), tap), &connector);
    let seen = seen.borrow();
    assert_eq!(templates(&seen), [500, 503, 514, 514, 514, 506, 514, 514, 507]);
    let written = connector.connection().written.clone();
    let written = frames(&written);
    assert_eq!(written.len(), seen.len());
    for (written, seen) in written.iter().zip(&*seen) {
        let is_logon = [500, 503].contains(&template_id(written));
        assert_eq!(written == seen, !is_logon);
    }
}

#[test]
fn tap_sees_neither_signature_nor_access_key() {
    let (connector, seen) = (TestConnector::default(), Seen::default());
    let log = Rc::clone(&seen);
    let tap = move |frame: &[u8]| log.borrow_mut().push(frame.to_vec());
    run(FrameTap::new(connector.clone(), tap), &connector);
    let (seen, written) = (seen.borrow(), connector.connection().written.clone());
    for (written, seen) in frames(&written).iter().zip(&seen[..2]) {
        let credentials = 12..12 + 32 + 20;
        assert_eq!(&written[44..64], b"ACCESS-KEY-ID-123456");
        assert_eq!(seen[credentials.clone()], [b'*'; 52]);
        assert_eq!(seen[..12], written[..12]);
        assert_eq!(seen[credentials.end..], written[credentials.end..]);
        // The sent frame has the real signature.
        assert_ne!(written[12..44], seen[12..44]);
    }
}

#[test]
fn tap_does_not_change_the_sent_bytes() {
    let (plain, tapped) = (TestConnector::default(), TestConnector::default());
    run(plain.clone(), &plain);
    run(FrameTap::new(tapped.clone(), |_: &[u8]| {}), &tapped);
    assert_eq!(plain.connection().written, tapped.connection().written);
}

#[test]
fn nested_taps_see_the_same_frames() {
    let (connector, outer, inner) = (TestConnector::default(), Seen::default(), Seen::default());
    let tap = |seen: &Seen| {
        let seen = Rc::clone(seen);
        move |frame: &[u8]| seen.borrow_mut().push(frame.to_vec())
    };
    run(FrameTap::new(FrameTap::new(connector.clone(), tap(&inner)), tap(&outer)), &connector);
    assert_eq!(outer.borrow().len(), 9);
    assert_eq!(*outer.borrow(), *inner.borrow());
}
