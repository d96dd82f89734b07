//! The rules of the connector, as traces of its steps.

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

    /// What is to be done at `seconds`, in words.
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

    fn ended(&mut self, role: Role, ending: Ending) {
        self.connector.handle_ended(self.now(), role, ending);
    }

    fn lost(&mut self) {
        self.ended(Role::Primary, Ending::Lost);
    }

    fn deadline(&self) -> Option<u64> {
        let deadline = self.connector.poll_timeout()?;
        Some((deadline - Instant::ZERO).as_millis() / 1_000)
    }
}

#[test]
fn an_attempt_that_fails_is_made_again_after_the_interval_with_the_next_host() {
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
fn a_connection_that_was_there_is_resumed_at_the_same_host() {
    let mut trace = Trace::new(settings());
    trace.at(0);
    trace.connector.handle_established(Role::Primary);
    trace.progress.uuid = 7;
    assert_eq!(trace.deadline(), None);
    trace.lost();
    assert_eq!(trace.at(5), ["Primary p1 Resume"]);
}

#[test]
fn attempts_in_a_row_are_limited() {
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
    // What was established counts as no failure.
    trace.lost();
    assert_eq!(trace.at(105), ["Primary p2 New"]);
    trace.connector.handle_established(Role::Primary);
    trace.lost();
    assert_eq!(trace.at(110), ["Primary p2 New"]);
}

#[test]
fn five_bad_logons_in_a_minute_are_never_made() {
    let interval = Duration::from_secs(1);
    let mut trace = Trace::new(ConnectorSettings { interval, ..settings() });
    let mut attempts = Vec::new();
    for second in 0..200 {
        if !trace.at(second).is_empty() {
            attempts.push(second);
            trace.ended(Role::Primary, Ending::Rejected(RejectCode::HMAC_NOT_AUTHENTICATED));
        }
    }
    assert_eq!(attempts[..6], [0, 1, 2, 3, 60, 61]);
    for five in attempts.windows(5) {
        assert!(five[4] - five[0] >= 60, "{five:?}");
    }
}

#[test]
fn a_logon_that_the_exchange_terminates_is_a_bad_one() {
    let interval = Duration::from_secs(1);
    let mut trace = Trace::new(ConnectorSettings { interval, ..settings() });
    let mut attempts = Vec::new();
    for second in 0..100 {
        if !trace.at(second).is_empty() {
            attempts.push(second);
            trace.ended(Role::Primary, Ending::Terminated(TerminateCode::FINISHED));
        }
    }
    assert_eq!(attempts, [0, 1, 2, 3, 60, 61, 62, 63]);
    // Of a session that was established the end is none.
    assert_eq!(trace.at(120), ["Primary p1 New"]);
    for second in 121..130 {
        trace.connector.handle_established(Role::Primary);
        trace.ended(Role::Primary, Ending::Terminated(TerminateCode::FINISHED));
        assert_eq!(trace.at(second).len(), 1);
    }
}

#[test]
fn a_backup_that_is_refused_leaves_logons_to_the_primary() {
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
            trace.ended(Role::Backup, Ending::Terminated(TerminateCode::INVALID_NEXT_SEQ_NO));
        }
    }
    assert_eq!(attempts, [0, 1, 60]);
    trace.lost();
    assert_eq!(trace.at(62), ["Primary p1 Resume"]);
    assert_eq!(trace.deadline(), None);
}

#[test]
fn a_lost_connection_is_no_bad_logon() {
    let interval = Duration::from_secs(1);
    let mut trace = Trace::new(ConnectorSettings { interval, ..settings() });
    for second in 0..10 {
        assert_eq!(trace.at(second).len(), 1);
        trace.lost();
    }
}

#[test]
fn the_backup_connects_beside_an_established_primary() {
    let mut trace = Trace::new(ConnectorSettings { backup: vec!["b1"], ..settings() });
    assert_eq!(trace.at(0), ["Primary p1 New"]);
    trace.progress.uuid = 7;
    trace.connector.handle_established(Role::Primary);
    assert_eq!(trace.at(1), ["Backup b1 Backup"]);
    trace.connector.handle_established(Role::Backup);
    // The primary goes, and the exchange terminates the backup.
    trace.lost();
    trace.ended(Role::Backup, Ending::Terminated(TerminateCode::PRIMARY_GONE));
    assert_eq!(trace.at(6), ["Primary p1 Resume"]);
    trace.connector.handle_established(Role::Primary);
    assert_eq!(trace.at(7), ["Backup b1 Backup"]);
}

#[test]
fn a_backup_that_takes_over_is_the_primary_and_the_old_one_becomes_its_backup() {
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
fn the_error_code_says_which_host_is_the_backup_not_its_address() {
    let mut trace = Trace::new(ConnectorSettings { backup: vec!["b1"], ..settings() });
    trace.at(0);
    trace.ended(Role::Primary, Ending::Rejected(RejectCode::DESIGNATED_BACKUP));
    assert_eq!(trace.at(5), ["Primary b1 New"]);
    trace.connector.handle_established(Role::Primary);
    assert_eq!(trace.at(6), ["Backup p1 Backup"]);
}

#[test]
fn a_backup_that_takes_our_number_for_wrong_does_not_end_what_can_be_resumed() {
    let mut trace = Trace::new(ConnectorSettings { backup: vec!["b1"], ..settings() });
    trace.progress.uuid = 7;
    assert_eq!(trace.at(0), ["Primary p1 Resume"]);
    // It is the backup by now, and has not noticed yet that our last connection is gone.
    let number = Ending::Terminated(TerminateCode::INVALID_NEXT_SEQ_NO);
    trace.ended(Role::Primary, number);
    assert_eq!(trace.at(5), ["Primary b1 Resume"]);
    trace.connector.handle_established(Role::Primary);
    assert_eq!(trace.at(6), ["Backup p1 Backup"]);
    trace.ended(Role::Backup, number);
    trace.lost();
    // The second time in a row it is our number that is wrong.
    assert_eq!(trace.at(11), ["Primary b1 Resume"]);
    trace.ended(Role::Primary, number);
    assert_eq!(trace.at(16), ["Primary p1 Resume"]);
    trace.ended(Role::Primary, number);
    // A fifth bad logon within a minute would close the ports.
    assert!(trace.at(59).is_empty());
    assert_eq!(trace.at(60), ["Primary p2 New"]);
}

#[test]
fn hosts_stay_where_they_are_while_one_stands_by_on_the_other() {
    let settings = ConnectorSettings { primary: vec!["p1"], backup: vec!["b1"], ..settings() };
    let mut trace = Trace::new(settings);
    trace.at(0);
    trace.connector.handle_established(Role::Primary);
    trace.progress.uuid = 7;
    trace.at(0);
    trace.connector.handle_established(Role::Backup);
    trace.lost();
    for (second, ending) in [
        (5, Ending::Rejected(RejectCode::DESIGNATED_BACKUP)),
        (10, Ending::Terminated(TerminateCode::INVALID_NEXT_SEQ_NO)),
        (15, Ending::Terminated(TerminateCode::INVALID_NEXT_SEQ_NO)),
    ] {
        assert_eq!(trace.at(second), ["Primary p1 Resume"]);
        trace.ended(Role::Primary, ending);
    }
    // It is told at last that it is the primary.
    let now = trace.now();
    trace.connector.handle_failover(now);
    assert!(trace.at(69).is_empty(), "two bad logons leave two to the primary");
    assert_eq!(trace.at(70), ["Backup p1 Backup"]);
}

#[test]
fn a_backup_that_takes_no_negotiate_says_that_it_is_the_backup() {
    let mut trace = Trace::new(ConnectorSettings { backup: vec!["b1"], ..settings() });
    assert_eq!(trace.at(0), ["Primary p1 New"]);
    trace.ended(Role::Primary, Ending::Rejected(RejectCode::NEGOTIATE_NOT_ALLOWED));
    assert_eq!(trace.at(5), ["Primary b1 New"]);
}

#[test]
fn hosts_of_a_primary_that_cannot_be_reached_are_swapped_with_the_backups() {
    let mut trace = Trace::new(ConnectorSettings { backup: vec!["b1"], ..settings() });
    assert_eq!(trace.at(0), ["Primary p1 New"]);
    trace.lost();
    assert_eq!(trace.at(5), ["Primary p2 New"]);
    trace.lost();
    assert_eq!(trace.at(10), ["Primary b1 New"]);
    // It is the backup and says so: that is no fault of the primary's.
    trace.ended(Role::Primary, Ending::Rejected(RejectCode::DESIGNATED_BACKUP));
    assert_eq!(trace.at(15), ["Primary p1 New"]);
    trace.connector.handle_established(Role::Primary);
    trace.progress.uuid = 7;
    trace.lost();
    assert_eq!(trace.at(20), ["Primary p1 Resume"], "it had been reached");
    trace.ended(Role::Primary, Ending::Rejected(RejectCode::INVALID_TIMESTAMP));
    assert_eq!(trace.at(25), ["Primary p2 Resume"]);
    trace.lost();
    assert_eq!(trace.at(30), ["Primary p1 Resume"], "only one in a row was not reached");
}

#[test]
fn hosts_are_not_swapped_while_a_backup_is_connected() {
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
    trace.ended(Role::Backup, Ending::Terminated(TerminateCode::PRIMARY_GONE));
    assert_eq!(trace.at(20), ["Primary p1 Resume"]);
    trace.lost();
    assert_eq!(trace.at(25), ["Primary b1 Resume"]);
}

#[test]
fn after_a_failover_the_old_primary_is_tried_when_the_new_one_cannot_be_reached() {
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
fn what_cannot_be_resumed_begins_anew() {
    for ending in [
        Ending::Rejected(RejectCode::INVALID_UUID),
        Ending::Terminated(TerminateCode::INVALID_NEXT_SEQ_NO),
        Ending::Terminated(TerminateCode::INVALID_MSG_SEQ_NO),
        Ending::Terminated(TerminateCode::INVALID_UUID),
    ] {
        let mut trace = Trace::new(settings());
        trace.progress.uuid = 7;
        assert_eq!(trace.at(0), ["Primary p1 Resume"]);
        trace.ended(Role::Primary, ending);
        assert_eq!(trace.at(5), ["Primary p2 New"]);
        trace.connector.handle_established(Role::Primary);
        trace.lost();
        assert_eq!(trace.at(10), ["Primary p2 Resume"]);
    }
}

#[test]
fn a_beginning_that_was_refused_is_made_again() {
    let mut trace = Trace::new(settings());
    assert_eq!(trace.at(0), ["Primary p1 New"]);
    // It has used a UUID, which the exchange does not know.
    trace.progress.uuid = 7;
    trace.ended(Role::Primary, Ending::Rejected(RejectCode::INVALID_TIMESTAMP));
    assert_eq!(trace.at(5), ["Primary p2 New"]);
    trace.connector.handle_established(Role::Primary);
    trace.lost();
    assert_eq!(trace.at(10), ["Primary p2 Resume"]);
    let schedule = Some(week());
    let mut trace = Trace::new(ConnectorSettings { schedule, ..settings() });
    trace.progress.uuid = 7;
    assert_eq!(trace.at(15 * 3_600), ["Primary p1 NewWeek"]);
    trace.progress.request_timestamp = trace.now().utc.as_nanos();
    trace.ended(Role::Primary, Ending::Rejected(RejectCode::INVALID_TIMESTAMP));
    assert_eq!(trace.at(15 * 3_600 + 5), ["Primary p2 NewWeek"]);
}

#[test]
fn numbers_that_are_used_up_begin_anew() {
    let mut trace = Trace::new(settings());
    trace.progress = Progress { uuid: 7, next_outgoing: SEQ_NUM_MAX + 1, ..trace.progress };
    assert_eq!(trace.at(0), ["Primary p1 New"]);
}

fn week() -> Schedule {
    let time = |day, hour| WeekTime::new(day, hour, 0).unwrap();
    Schedule::weekly(time(0, 15), &[(time(0, 15), time(5, 16))]).unwrap()
}

#[test]
fn a_schedule_opens_and_closes_the_session() {
    const HOUR: u64 = 3_600;
    let schedule = Some(week());
    let mut trace = Trace::new(ConnectorSettings { schedule, backup: vec!["b1"], ..settings() });
    assert!(trace.at(0).is_empty());
    assert_eq!(trace.deadline(), Some(15 * HOUR), "nothing is tried while closed");
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
    trace.ended(Role::Backup, Ending::Finished);
    trace.ended(Role::Primary, Ending::Finished);
    let opening = (7 * 24 + 15) * HOUR;
    assert_eq!(trace.deadline(), Some(opening));
    assert_eq!(trace.at(opening), ["Primary p1 NewWeek"]);
}

#[test]
fn a_session_of_this_week_is_resumed_within_it() {
    let mut trace = Trace::new(ConnectorSettings { schedule: Some(week()), ..settings() });
    trace.seconds = 20 * 3_600;
    let request_timestamp = trace.now().utc.as_nanos();
    trace.progress = Progress { uuid: 7, request_timestamp, ..trace.progress };
    assert_eq!(trace.at(40 * 3_600), ["Primary p1 Resume"]);
}

#[test]
fn a_connector_that_was_stopped_terminates_and_is_quiet() {
    let mut trace = Trace::new(settings());
    trace.at(0);
    trace.connector.handle_established(Role::Primary);
    trace.connector.stop();
    assert_eq!(trace.at(1), ["Terminate(Primary)"]);
    trace.ended(Role::Primary, Ending::Finished);
    assert!(trace.at(100).is_empty());
    assert_eq!(trace.deadline(), None);
    let now = trace.now();
    trace.connector.start(now);
    assert_eq!(trace.at(100), ["Primary p1 New"]);
}
