//! Warnings before the secret key expires.

use super::*;
use crate::KeyExpiry;

const DAY: u64 = 86_400_000_000_000;

/// Creates a session whose key has `left` nanoseconds left at logon, with warnings for two days.
fn expiring(left: u64) -> Trace {
    let at = Utc::from_nanos(UTC + left);
    let key_expires = Some(KeyExpiry { at, warning_days: 2 });
    let policy = SessionPolicy { key_expires, ..SessionPolicy::default() };
    let mut trace = Trace::with_policy(Progress::default(), policy);
    trace.connect(Binding::New);
    let requested = trace.sent_request();
    trace.receive(&negotiation_response(UUID, requested));
    let ack = trace.ack();
    trace.events();
    trace.receive(&establishment_ack(&ack));
    trace
}

/// Returns the warnings within `nanos` nanoseconds as seconds and text, with a Sequence from the
/// exchange every five seconds.
fn warnings(trace: &mut Trace, nanos: u64) -> Vec<(u64, String)> {
    let begun = trace.now.monotonic;
    let mut events = Vec::new();
    let mut received = 0;
    trace.events();
    while (trace.now.monotonic - begun).as_nanos() < nanos {
        let due = trace.session.poll_timeout().unwrap();
        let step = (due.saturating_since(trace.now.monotonic)).as_nanos().clamp(1, 5_000_000_000);
        trace.now.monotonic += Duration::from_nanos(step);
        trace.now.utc = trace.now.utc + Duration::from_nanos(step);
        let (now, is_due) = (trace.now, trace.session.is_due(trace.now));
        assert_eq!(is_due, trace.session.poll_timeout().unwrap() <= now.monotonic);
        trace.session.handle_timeout(now, &mut trace.sink, &mut trace.log);
        trace.transmitted();
        received += step;
        if received >= 5_000_000_000 {
            received = 0;
            trace.receive(&sequence(UUID, 1, KeepAliveLapsed::NOT_LAPSED));
        }
        let second = (now.monotonic - begun).as_nanos() / 1_000_000_000;
        events.extend(trace.events().into_iter().map(|line| (second, line)));
    }
    events
}

fn events(days: u32) -> String {
    let unit = if days == 1 { "day" } else { "days" };
    format!("warning the secret key expires in {days} {unit}: request a new one")
}

#[test]
fn warns_at_logon_if_few_days_are_left() {
    assert_eq!(expiring(2 * DAY + 1).events(), ["state established"]);
    for (left, days) in [(2 * DAY - 1, 1), (DAY, 1), (DAY - 1, 0), (0, 0)] {
        assert_eq!(expiring(left).events(), ["state established".to_string(), events(days)]);
    }
}

#[test]
fn warns_once_a_day_afterwards() {
    let mut trace = expiring(3 * DAY);
    let warned = warnings(&mut trace, 4 * DAY + DAY / 2);
    let expected = [(86_400, events(1)), (2 * 86_400, events(0)), (3 * 86_400, events(0))];
    assert_eq!(warned[..3], expected);
    assert_eq!(warned[3..], [(4 * 86_400, events(0))]);
}

#[test]
fn unset_expiry_never_warns() {
    let mut trace = Trace::established();
    assert_eq!(warnings(&mut trace, 2 * DAY), []);
}
