//! Tests of the connector, written as traces of its steps.

extern crate std;

use std::format;
use std::string::String;
use std::vec;
use std::vec::Vec;

use super::*;
use crate::schedule::{FixedZone, WeekTime};

/// Sunday, 12 November 2023, 00:00 UTC, in seconds.
const SUNDAY: u64 = 1_699_747_200;

struct Trace {
    connector: Connector<&'static str, FixedZone>,
    seconds: u64,
    progress: Progress,
}

fn settings() -> ConnectorSettings<&'static str> {
    ConnectorSettings {
        primary: vec!["p1", "p2"],
        backup: vec![],
        attempts: None,
        interval: Duration::from_secs(5),
        schedule: None,
    }
}

impl Trace {
    fn new(settings: ConnectorSettings<&'static str>) -> Self {
        let connector = Connector::new(settings, FixedZone(0));
        let mut trace = Self { connector, seconds: 0, progress: Progress::default() };
        trace.connector.start(trace.now());
        trace
    }

    fn now(&self) -> Now {
        Now {
            monotonic: Instant::ZERO + Duration::from_secs(self.seconds),
            utc: Utc::from_nanos((SUNDAY + self.seconds) * 1_000_000_000),
        }
    }

    /// Advances to `seconds` and returns the steps as text.
    fn at(&mut self, seconds: u64) -> Vec<String> {
        self.seconds = seconds;
        let now = self.now();
        core::iter::from_fn(|| self.connector.poll_step(now, &self.progress))
            .map(|step| match step {
                Step::Connect { role, host, binding } => format!("{role:?} {host} {binding:?}"),
                other => format!("{other:?}"),
            })
            .collect()
    }

    fn ended(&mut self, role: Role, reason: DisconnectReason) {
        self.connector.handle_ended(self.now(), role, reason);
    }

    fn lost(&mut self) {
        self.ended(Role::Primary, DisconnectReason::Lost);
    }

    fn deadline(&self) -> Option<u64> {
        let deadline = self.connector.poll_timeout()?;
        Some((deadline - Instant::ZERO).as_millis() / 1_000)
    }
}

#[test]
fn retries_with_the_next_host_after_the_interval() {
    let mut trace = Trace::new(settings());
    assert_eq!(trace.at(0), ["Primary p1 New"]);
    assert!(trace.at(1).is_empty(), "one attempt at a time");
    trace.lost();
    assert_eq!(trace.deadline(), Some(6));
    assert!(trace.at(5).is_empty());
    assert_eq!(trace.at(6), ["Primary p2 New"]);
    trace.lost();
    assert_eq!(trace.at(11), ["Primary p1 New"]);
}

#[test]
fn resumes_an_established_session_at_the_same_host() {
    let mut trace = Trace::new(settings());
    trace.at(0);
    trace.connector.handle_established(Role::Primary);
    trace.progress.uuid = 7;
    assert_eq!(trace.deadline(), None);
    trace.lost();
    assert_eq!(trace.at(5), ["Primary p1 Resume"]);
}

#[test]
fn gives_up_after_the_attempt_limit() {
    let mut trace = Trace::new(ConnectorSettings { attempts: Some(2), ..settings() });
    trace.at(0);
    trace.lost();
    trace.at(5);
    trace.lost();
    assert_eq!(trace.at(100), ["GiveUp(Primary)"]);
    assert_eq!(trace.deadline(), None);
    let now = trace.now();
    trace.connector.start(now);
    assert_eq!(trace.at(100), ["Primary p1 New"]);
    // The end of an established session is not a failed attempt.
    trace.lost();
    assert_eq!(trace.at(105), ["Primary p2 New"]);
    trace.connector.handle_established(Role::Primary);
    trace.lost();
    assert_eq!(trace.at(110), ["Primary p2 New"]);
}

#[test]
fn makes_no_fifth_bad_logon_within_a_minute() {
    let interval = Duration::from_secs(1);
    let mut trace = Trace::new(ConnectorSettings { interval, ..settings() });
    let mut attempts = Vec::new();
    for second in 0..200 {
        if !trace.at(second).is_empty() {
            attempts.push(second);
            trace.ended(
                Role::Primary,
                DisconnectReason::Rejected(RejectCode::HMAC_NOT_AUTHENTICATED),
            );
        }
    }
    assert_eq!(attempts[..6], [0, 1, 2, 3, 60, 61]);
    for five in attempts.windows(5) {
        assert!(five[4] - five[0] >= 60, "{five:?}");
    }
}

#[test]
fn counts_a_terminated_logon_as_bad() {
    let interval = Duration::from_secs(1);
    let mut trace = Trace::new(ConnectorSettings { interval, ..settings() });
    let mut attempts = Vec::new();
    for second in 0..100 {
        if !trace.at(second).is_empty() {
            attempts.push(second);
            trace.ended(Role::Primary, DisconnectReason::Terminated(TerminateCode::FINISHED));
        }
    }
    assert_eq!(attempts, [0, 1, 2, 3, 60, 61, 62, 63]);
    // The end of an established session is not a bad logon.
    assert_eq!(trace.at(120), ["Primary p1 New"]);
    for second in 121..130 {
        trace.connector.handle_established(Role::Primary);
        trace.ended(Role::Primary, DisconnectReason::Terminated(TerminateCode::FINISHED));
        assert_eq!(trace.at(second).len(), 1);
    }
}

#[test]
fn rejected_backup_leaves_logons_to_the_primary() {
    let interval = Duration::from_secs(1);
    let backup = vec!["b1"];
    let mut trace = Trace::new(ConnectorSettings { backup, interval, ..settings() });
    trace.at(0);
    trace.connector.handle_established(Role::Primary);
    trace.progress.uuid = 7;
    let mut attempts = Vec::new();
    for second in 0..61 {
        if !trace.at(second).is_empty() {
            attempts.push(second);
            trace.ended(
                Role::Backup,
                DisconnectReason::Terminated(TerminateCode::INVALID_NEXT_SEQ_NO),
            );
        }
    }
    assert_eq!(attempts, [0, 1, 60]);
    trace.lost();
    assert_eq!(trace.at(62), ["Primary p1 Resume"]);
    assert_eq!(trace.deadline(), None);
}

#[test]
fn counts_no_lost_connection_as_a_bad_logon() {
    let interval = Duration::from_secs(1);
    let mut trace = Trace::new(ConnectorSettings { interval, ..settings() });
    for second in 0..10 {
        assert_eq!(trace.at(second).len(), 1);
        trace.lost();
    }
}

#[test]
fn backup_connects_only_with_an_established_primary() {
    let mut trace = Trace::new(ConnectorSettings { backup: vec!["b1"], ..settings() });
    assert_eq!(trace.at(0), ["Primary p1 New"]);
    trace.progress.uuid = 7;
    trace.connector.handle_established(Role::Primary);
    assert_eq!(trace.at(1), ["Backup b1 Backup"]);
    trace.connector.handle_established(Role::Backup);
    // The primary is lost, and the exchange terminates the backup.
    trace.lost();
    trace.ended(Role::Backup, DisconnectReason::Terminated(TerminateCode::PRIMARY_DISCONNECTED));
    assert_eq!(trace.at(6), ["Primary p1 Resume"]);
    trace.connector.handle_established(Role::Primary);
    assert_eq!(trace.at(7), ["Backup b1 Backup"]);
}

#[test]
fn failover_swaps_the_roles() {
    let mut trace = Trace::new(ConnectorSettings { backup: vec!["b1"], ..settings() });
    trace.at(0);
    trace.connector.handle_established(Role::Primary);
    trace.at(0);
    trace.connector.handle_established(Role::Backup);
    trace.progress.uuid = 7;
    let now = trace.now();
    trace.connector.handle_failover(now);
    assert!(trace.at(4).is_empty());
    assert_eq!(trace.at(5), ["Backup p1 Backup"]);
    trace.connector.handle_established(Role::Backup);
    trace.lost();
    assert_eq!(trace.at(10), ["Primary b1 Resume"]);
}

#[test]
fn swaps_hosts_if_the_primary_rejects_as_backup() {
    let mut trace = Trace::new(ConnectorSettings { backup: vec!["b1"], ..settings() });
    trace.at(0);
    trace.ended(Role::Primary, DisconnectReason::Rejected(RejectCode::DESIGNATED_BACKUP));
    assert_eq!(trace.at(5), ["Primary b1 New"]);
    trace.connector.handle_established(Role::Primary);
    assert_eq!(trace.at(6), ["Backup p1 Backup"]);
}

#[test]
fn resumes_at_the_other_host_after_a_backup_rejects_a_number() {
    let mut trace = Trace::new(ConnectorSettings { backup: vec!["b1"], ..settings() });
    trace.progress.uuid = 7;
    assert_eq!(trace.at(0), ["Primary p1 Resume"]);
    // The host is the backup by now and does not know yet that our last connection is closed.
    let number = DisconnectReason::Terminated(TerminateCode::INVALID_NEXT_SEQ_NO);
    trace.ended(Role::Primary, number);
    assert_eq!(trace.at(5), ["Primary b1 Resume"]);
    trace.connector.handle_established(Role::Primary);
    assert_eq!(trace.at(6), ["Backup p1 Backup"]);
    trace.ended(Role::Backup, number);
    trace.lost();
    // At the second failure in a row, our number is wrong.
    assert_eq!(trace.at(11), ["Primary b1 Resume"]);
    trace.ended(Role::Primary, number);
    assert_eq!(trace.at(16), ["Primary p1 Resume"]);
    trace.ended(Role::Primary, number);
    // A fifth bad logon within a minute would close the ports.
    assert!(trace.at(59).is_empty());
    assert_eq!(trace.at(60), ["Primary p2 New"]);
}

#[test]
fn keeps_hosts_while_the_backup_is_established() {
    let settings = ConnectorSettings { primary: vec!["p1"], backup: vec!["b1"], ..settings() };
    let mut trace = Trace::new(settings);
    trace.at(0);
    trace.connector.handle_established(Role::Primary);
    trace.progress.uuid = 7;
    trace.at(0);
    trace.connector.handle_established(Role::Backup);
    trace.lost();
    for (second, reason) in [
        (5, DisconnectReason::Rejected(RejectCode::DESIGNATED_BACKUP)),
        (10, DisconnectReason::Terminated(TerminateCode::INVALID_NEXT_SEQ_NO)),
        (15, DisconnectReason::Terminated(TerminateCode::INVALID_NEXT_SEQ_NO)),
    ] {
        assert_eq!(trace.at(second), ["Primary p1 Resume"]);
        trace.ended(Role::Primary, reason);
    }
    // The backup is promoted at last.
    let now = trace.now();
    trace.connector.handle_failover(now);
    assert!(trace.at(69).is_empty(), "two bad logons leave two for the primary");
    assert_eq!(trace.at(70), ["Backup p1 Backup"]);
}

#[test]
fn swaps_hosts_if_negotiate_is_not_allowed() {
    let mut trace = Trace::new(ConnectorSettings { backup: vec!["b1"], ..settings() });
    assert_eq!(trace.at(0), ["Primary p1 New"]);
    trace.ended(Role::Primary, DisconnectReason::Rejected(RejectCode::NEGOTIATE_NOT_ALLOWED));
    assert_eq!(trace.at(5), ["Primary b1 New"]);
}

#[test]
fn swaps_hosts_if_the_primary_is_unreachable() {
    let mut trace = Trace::new(ConnectorSettings { backup: vec!["b1"], ..settings() });
    assert_eq!(trace.at(0), ["Primary p1 New"]);
    trace.lost();
    assert_eq!(trace.at(5), ["Primary p2 New"]);
    trace.lost();
    assert_eq!(trace.at(10), ["Primary b1 New"]);
    // The host is the backup and rejects the logon; this is not a failure of the primary.
    trace.ended(Role::Primary, DisconnectReason::Rejected(RejectCode::DESIGNATED_BACKUP));
    assert_eq!(trace.at(15), ["Primary p1 New"]);
    trace.connector.handle_established(Role::Primary);
    trace.progress.uuid = 7;
    trace.lost();
    assert_eq!(trace.at(20), ["Primary p1 Resume"], "a reachable host resets the count");
    trace.ended(Role::Primary, DisconnectReason::Rejected(RejectCode::INVALID_TIMESTAMP));
    assert_eq!(trace.at(25), ["Primary p2 Resume"]);
    trace.lost();
    assert_eq!(trace.at(30), ["Primary p1 Resume"], "only one consecutive host was unreachable");
}

#[test]
fn keeps_hosts_of_an_unreachable_primary_with_a_backup() {
    let settings = ConnectorSettings { primary: vec!["p1"], backup: vec!["b1"], ..settings() };
    let mut trace = Trace::new(settings);
    trace.at(0);
    trace.connector.handle_established(Role::Primary);
    trace.progress.uuid = 7;
    assert_eq!(trace.at(0), ["Backup b1 Backup"]);
    trace.connector.handle_established(Role::Backup);
    trace.lost();
    for second in [5, 10, 15] {
        assert_eq!(trace.at(second), ["Primary p1 Resume"]);
        trace.lost();
    }
    trace.ended(Role::Backup, DisconnectReason::Terminated(TerminateCode::PRIMARY_DISCONNECTED));
    assert_eq!(trace.at(20), ["Primary p1 Resume"]);
    trace.lost();
    assert_eq!(trace.at(25), ["Primary b1 Resume"]);
}

#[test]
fn tries_the_old_primary_if_the_new_one_is_unreachable() {
    let settings = ConnectorSettings { primary: vec!["p1"], backup: vec!["b1"], ..settings() };
    let mut trace = Trace::new(settings);
    trace.at(0);
    trace.connector.handle_established(Role::Primary);
    trace.progress.uuid = 7;
    trace.at(0);
    trace.connector.handle_established(Role::Backup);
    let now = trace.now();
    trace.connector.handle_failover(now);
    trace.lost();
    assert_eq!(trace.at(5), ["Primary b1 Resume"]);
    trace.lost();
    assert_eq!(trace.at(10), ["Primary p1 Resume"]);
}

#[test]
fn negotiates_if_the_session_cannot_be_resumed() {
    for reason in [
        DisconnectReason::Rejected(RejectCode::INVALID_UUID),
        DisconnectReason::Terminated(TerminateCode::INVALID_NEXT_SEQ_NO),
        DisconnectReason::Terminated(TerminateCode::INVALID_MSG_SEQ_NO),
        DisconnectReason::Terminated(TerminateCode::INVALID_UUID),
    ] {
        let mut trace = Trace::new(settings());
        trace.progress.uuid = 7;
        assert_eq!(trace.at(0), ["Primary p1 Resume"]);
        trace.ended(Role::Primary, reason);
        assert_eq!(trace.at(5), ["Primary p2 New"]);
        trace.connector.handle_established(Role::Primary);
        trace.lost();
        assert_eq!(trace.at(10), ["Primary p2 Resume"]);
    }
}

#[test]
fn repeats_a_rejected_new_session() {
    let mut trace = Trace::new(settings());
    assert_eq!(trace.at(0), ["Primary p1 New"]);
    // The session used a UUID that the exchange does not know.
    trace.progress.uuid = 7;
    trace.ended(Role::Primary, DisconnectReason::Rejected(RejectCode::INVALID_TIMESTAMP));
    assert_eq!(trace.at(5), ["Primary p2 New"]);
    trace.connector.handle_established(Role::Primary);
    trace.lost();
    assert_eq!(trace.at(10), ["Primary p2 Resume"]);
    let schedule = Some(week());
    let mut trace = Trace::new(ConnectorSettings { schedule, ..settings() });
    trace.progress.uuid = 7;
    assert_eq!(trace.at(15 * 3_600), ["Primary p1 NewWeek"]);
    trace.progress.request_timestamp = trace.now().utc.as_nanos();
    trace.ended(Role::Primary, DisconnectReason::Rejected(RejectCode::INVALID_TIMESTAMP));
    assert_eq!(trace.at(15 * 3_600 + 5), ["Primary p2 NewWeek"]);
}

#[test]
fn negotiates_after_the_last_number() {
    let mut trace = Trace::new(settings());
    trace.progress = Progress { uuid: 7, next_outgoing: SEQ_NUM_MAX + 1, ..trace.progress };
    assert_eq!(trace.at(0), ["Primary p1 New"]);
}

fn week() -> Schedule {
    let time = |day, hour| WeekTime::new(day, hour, 0).unwrap();
    Schedule::weekly(time(0, 15), &[(time(0, 15), time(5, 16))]).unwrap()
}

#[test]
fn schedule_connects_and_terminates() {
    const HOUR: u64 = 3_600;
    let schedule = Some(week());
    let mut trace = Trace::new(ConnectorSettings { schedule, backup: vec!["b1"], ..settings() });
    assert!(trace.at(0).is_empty());
    assert_eq!(trace.deadline(), Some(15 * HOUR), "no attempt while the schedule is closed");
    assert_eq!(trace.at(15 * HOUR), ["Primary p1 NewWeek"]);
    trace.connector.handle_established(Role::Primary);
    trace.progress.uuid = 7;
    trace.progress.request_timestamp = trace.now().utc.as_nanos();
    trace.at(15 * HOUR);
    trace.connector.handle_established(Role::Backup);
    let closing = (5 * 24 + 16) * HOUR;
    assert_eq!(trace.deadline(), Some(closing));
    assert!(trace.at(closing - 1).is_empty());
    assert_eq!(trace.at(closing), ["Terminate(Backup)", "Terminate(Primary)"]);
    trace.ended(Role::Backup, DisconnectReason::Finished);
    trace.ended(Role::Primary, DisconnectReason::Finished);
    let opening = (7 * 24 + 15) * HOUR;
    assert_eq!(trace.deadline(), Some(opening));
    assert_eq!(trace.at(opening), ["Primary p1 NewWeek"]);
}

#[test]
fn resumes_only_within_the_week() {
    let mut trace = Trace::new(ConnectorSettings { schedule: Some(week()), ..settings() });
    trace.seconds = 20 * 3_600;
    let request_timestamp = trace.now().utc.as_nanos();
    trace.progress = Progress { uuid: 7, request_timestamp, ..trace.progress };
    assert_eq!(trace.at(40 * 3_600), ["Primary p1 Resume"]);
}

#[test]
fn stop_terminates_and_ends_all_steps() {
    let mut trace = Trace::new(settings());
    trace.at(0);
    trace.connector.handle_established(Role::Primary);
    trace.connector.stop();
    assert_eq!(trace.at(1), ["Terminate(Primary)"]);
    trace.ended(Role::Primary, DisconnectReason::Finished);
    assert!(trace.at(100).is_empty());
    assert_eq!(trace.deadline(), None);
    let now = trace.now();
    trace.connector.start(now);
    assert_eq!(trace.at(100), ["Primary p1 New"]);
}
