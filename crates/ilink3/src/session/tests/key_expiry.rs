//! Warnings before the secret key expires.

use super::*;
use crate::KeyExpiry;

const DAY: u64 = 86_400_000_000_000;

/// A session whose key has so many nanoseconds left when it logs on, and two days to warn.
fn expiring(left: u64) -> Trace {
    let at = Utc::from_nanos(UTC + left);
    let key_expires = Some(KeyExpiry { at, warning_days: 2 });
    let conduct = SessionPolicy { key_expires, ..SessionPolicy::default() };
    let mut trace = Trace::conducted(Progress::default(), conduct);
    trace.connect(Binding::New);
    let requested = trace.sent_request();
    trace.receive(&negotiation_response(UUID, requested));
    let ack = trace.ack();
    trace.told();
    trace.receive(&establishment_ack(&ack));
    trace
}

/// What is told in so many nanoseconds, as seconds and days left, with signs of life from the
/// other side every five seconds.
fn warnings(trace: &mut Trace, nanos: u64) -> Vec<(u64, String)> {
    let begun = trace.now.monotonic;
    let mut told = Vec::new();
    let mut heard = 0;
    trace.told();
    while (trace.now.monotonic - begun).as_nanos() < nanos {
        let due = trace.session.poll_timeout().unwrap();
        let step = (due.saturating_since(trace.now.monotonic)).as_nanos().clamp(1, 5_000_000_000);
        trace.now.monotonic += Duration::from_nanos(step);
        trace.now.utc = trace.now.utc + Duration::from_nanos(step);
        let (now, is_due) = (trace.now, trace.session.is_due(trace.now));
        assert_eq!(is_due, trace.session.poll_timeout().unwrap() <= now.monotonic);
        trace.session.handle_timeout(now, &mut trace.wire, &mut trace.log);
        trace.transmitted();
        heard += step;
        if heard >= 5_000_000_000 {
            heard = 0;
            trace.receive(&sequence(UUID, 1, KeepAliveLapsed::NOT_LAPSED));
        }
        let second = (now.monotonic - begun).as_nanos() / 1_000_000_000;
        told.extend(trace.told().into_iter().map(|line| (second, line)));
    }
    told
}

fn told(days: u32) -> String {
    format!("warning the secret key expires in {days} days: have it renewed")
}

#[test]
fn a_key_with_few_days_left_is_told_at_logon() {
    assert_eq!(expiring(2 * DAY + 1).told(), ["state established"]);
    for (left, days) in [(2 * DAY - 1, 1), (DAY, 1), (DAY - 1, 0), (0, 0)] {
        assert_eq!(expiring(left).told(), ["state established".to_string(), told(days)]);
    }
}

#[test]
fn a_key_is_told_of_once_a_day_from_then_on() {
    let mut trace = expiring(3 * DAY);
    let warned = warnings(&mut trace, 4 * DAY + DAY / 2);
    let expected = [(86_400, told(1)), (2 * 86_400, told(0)), (3 * 86_400, told(0))];
    assert_eq!(warned[..3], expected);
    assert_eq!(warned[3..], [(4 * 86_400, told(0))]);
}

#[test]
fn without_a_date_there_is_no_warning() {
    let mut trace = Trace::established();
    assert_eq!(warnings(&mut trace, 2 * DAY), []);
}
