//! Primary and backup at the production gateway: whatever of them fails, no message is lost or
//! told twice.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod exchange;
mod house;

use hairpin_exchange::Designation;
use hairpin_mapped::{MemoryStorage, Storage};
use hairpin_order_entry::*;
use hairpin_time::Duration;
use house::{House, World, host};

const BOTH: (State, State) = (State::Established, State::Established);
const ONE: (State, State) = (State::Established, State::Disconnected);
const NONE: (State, State) = (State::Disconnected, State::Disconnected);

/// Three orders are answered, of two the answer is lost, and two never arrive.
fn with_orders_in_flight() -> World {
    let mut world = World::established();
    fill(&mut world);
    world
}

fn fill(world: &mut World) {
    world.send_many(3);
    world.settle();
    world.house.inner().is_mute = true;
    world.send_many(2);
    world.turn();
    world.house.inner().is_deaf = true;
    world.send_many(2);
    world.turn();
    let mut inner = world.house.inner();
    (inner.is_mute, inner.is_deaf) = (false, false);
    assert_eq!(inner.accepted.0, [1, 2, 3, 4, 5]);
}

#[test]
fn the_backup_stands_by_beside_an_established_primary() {
    let mut world = World::established();
    assert_eq!(world.dialled(), [host(1), host(9)]);
    assert_eq!(world.told.backup, ["connecting", "establishing", "established"]);
    world.send().unwrap();
    // For longer than both sides' patience.
    world.pass(45_000);
    assert_eq!(world.states(), BOTH);
    assert_eq!(world.words(), Vec::<String>::new());
    assert!(world.kept.backup_counters().unwrap().bytes_written > 0);
    world.audit();
}

#[test]
fn the_frames_of_the_backup_are_seen_without_credentials() {
    let world = World::established();
    let inner = world.house.inner();
    let ids: Vec<_> = inner.seen.iter().map(|it| exchange::template_id(it)).collect();
    assert_eq!(ids, [500, 503, 503]);
    // The signature is the first of the body's fields.
    assert!(inner.seen.iter().all(|it| it[12..44] == [b'*'; 32]));
}

#[test]
fn the_backup_is_due_before_a_primary_that_has_just_sent() {
    let mut world = World::established();
    world.pass(3_000);
    world.send().unwrap();
    world.settle();
    let (both, primary) = (world.kept.next_deadline(), world.kept.session().next_deadline());
    assert!(both.is_some() && both < primary, "{both:?} {primary:?}");
    world.audit();
}

#[test]
fn what_either_connection_receives_is_seen() {
    let mut world = with_orders_in_flight();
    world.house.fail_primary(false);
    world.settle();
    let inner = world.house.inner();
    assert!(inner.heard.len() > 1_000);
    assert_eq!(inner.heard, inner.given);
}

#[test]
fn while_only_the_backup_is_there_a_send_says_so_and_leaves_nothing() {
    let mut world = World::established();
    world.send().unwrap();
    world.settle();
    world.house.inner().is_mute = true;
    world.house.cut(Designation::Primary);
    world.client();
    assert_eq!(world.states(), (State::Disconnected, State::Established));
    let (before, frames) = (world.kept.session().progress(), world.house.inner().seen.len());
    assert_eq!(world.send(), Err(SendError::Backup));
    assert_eq!(SendError::Backup.to_string(), "the session is the backup");
    assert_eq!(world.kept.session().progress(), before);
    assert_eq!(world.house.inner().seen.len(), frames);
    world.audit_journal();
    // The exchange ends the backup, and there is nothing at all.
    world.house.inner().is_mute = false;
    world.house.cut(Designation::Backup);
    world.client();
    assert_eq!(world.send(), Err(SendError::NotEstablished(State::Disconnected)));
    world.pass(3_000);
    assert_eq!(world.states(), BOTH);
    assert_eq!(world.send().unwrap().seq_num, 2);
    world.settle();
    world.audit();
}

#[test]
fn the_requests_of_the_backup_are_in_the_journal() {
    let world = World::established();
    let journal = world.kept.session().journal();
    let records = std::iter::successors(journal.next(None), |&it| journal.next(Some(it)));
    let kept: Vec<_> = records.map(|it| exchange::template_id(journal.bytes(it))).collect();
    assert_eq!(kept, [500, 503, 503]);
    world.audit();
}

#[test]
fn requests_of_both_in_one_moment_have_timestamps_of_their_own() {
    let mut world = World::established();
    world.house.cut(Designation::Backup);
    world.turn();
    let noticed = world.millis;
    world.send_many(3);
    world.turn();
    // What is missing is found when the backup is due again.
    world.house.lose_frame(0);
    world.millis = noticed + 1_000;
    world.client();
    assert_eq!(world.kept.session().outbound_counters().retransmit_requests, 1);
    world.settle();
    assert_eq!(world.states(), BOTH);
    assert!(!world.told.backup.iter().any(|told| told.starts_with("rejected")));
    world.audit();
}

#[test]
fn a_request_of_the_backup_is_above_one_that_the_primary_has_just_made() {
    let mut world = World::established();
    world.send_many(2);
    world.turn();
    world.house.lose_frame(0);
    world.client();
    assert_eq!(world.kept.session().outbound_counters().retransmit_requests, 1);
    // Both terminate in the same moment, the backup first.
    world.kept.stop();
    world.client();
    world.audit_journal();
}

#[test]
fn a_sign_of_life_that_the_promotion_meets_on_its_way_does_no_harm() {
    // Of 26 bytes none, some, or all have left.
    for room in [0, 5, 26] {
        let mut world = World::established();
        world.await_sign_of_life();
        world.house.inner().is_deaf = true;
        world.house.inner().room = room;
        world.pass(20);
        world.house.fail_primary(false);
        world.turn();
        world.client();
        assert!(world.told.active.is_some(), "{room}");
        world.house.inner().room = usize::MAX;
        world.house.inner().is_deaf = false;
        world.settle();
        assert_eq!(world.kept.session().state(), State::Established, "{room}");
        world.send().unwrap();
        world.settle();
        assert_eq!(world.house.inner().gateway.counters().terminates, 0);
        // One of which nothing had left would have the number of a backup on the primary.
        let expected: &[u16] = if room == 0 { &[503, 514] } else { &[503, 506, 514] };
        assert_eq!(world.house.taken(Designation::Backup), expected, "{room}");
        world.audit();
    }
}

/// Established, and of the backup's sign of life the first bytes have left.
fn with_half_a_sign_of_life() -> World {
    let mut world = World::established();
    world.await_sign_of_life();
    world.house.inner().room = 5;
    world.pass(20);
    assert_eq!(world.house.inner().room, 0);
    world
}

#[test]
fn what_a_backup_connection_had_left_to_write_stays_with_it() {
    let mut world = with_half_a_sign_of_life();
    world.house.cut(Designation::Backup);
    world.turn();
    world.house.inner().room = usize::MAX;
    world.pass(1_050);
    assert_eq!(world.states(), BOTH);
    assert_eq!(world.house.taken(Designation::Backup), [503]);
    world.audit();
}

#[test]
fn a_control_message_of_the_backup_waits_for_the_rest_of_another() {
    let mut world = with_half_a_sign_of_life();
    world.kept.stop();
    world.turn();
    world.house.inner().room = usize::MAX;
    world.settle();
    assert_eq!(world.states(), NONE);
    assert_eq!(world.house.taken(Designation::Backup), [503, 506, 507]);
    let told = ["terminating", "terminated 0", "disconnected"];
    assert!(world.told.backup.ends_with(&told.map(String::from)), "{:?}", world.told.backup);
}

#[test]
fn a_backup_that_is_promoted_with_its_last_bytes_takes_over() {
    let mut world = with_orders_in_flight();
    world.house.fail_primary(true);
    world.house.turn(house::now(world.millis));
    world.house.cut(Designation::Backup);
    world.client();
    assert_eq!(world.words(), ["failover from 6", "active 8", "gap 4 to 5"]);
    world.dialled();
    world.pass(1_500);
    assert_eq!(world.dialled()[0], host(9), "the one that was the backup is the primary");
    assert_eq!(world.kept.session().state(), State::Established);
    world.send().unwrap();
    world.settle();
    world.audit();
}

#[test]
fn a_backup_that_is_established_and_promoted_at_once_gets_a_backup_of_its_own() {
    let mut world = World::new();
    world.kept.start(house::now(0));
    while world.kept.backup_state() != State::Establishing {
        world.turn();
    }
    world.house.fail_primary(false);
    world.house.turn(house::now(world.millis));
    world.client();
    assert_eq!(world.told.backup.last().unwrap(), "established");
    assert_eq!((world.states(), world.told.active.is_some()), (ONE, true));
    world.house.inner().gateway.restore();
    world.pass(1_500);
    assert_eq!(world.states(), BOTH);
    world.send().unwrap();
    world.settle();
    world.audit();
}

#[test]
fn a_backup_that_is_established_and_lost_within_one_turn_has_not_failed() {
    let mut world = World::trying(1);
    world.kept.start(house::now(0));
    while world.kept.backup_state() != State::Establishing {
        world.turn();
    }
    world.house.cut(Designation::Backup);
    world.client();
    let told = ["established", "connection lost while established", "disconnected"];
    assert!(world.told.backup.ends_with(&told.map(String::from)), "{:?}", world.told.backup);
    world.pass(1_050);
    assert_eq!((world.states(), world.kept.has_given_up_backup()), (BOTH, false));
}

/// Established on a primary that has forgotten it, which only the backup says.
fn with_a_backup_that_is_refused() -> World {
    let mut world = World::new();
    world.house.inner().dead = vec![host(9)];
    world.kept.start(house::now(0));
    world.settle();
    assert_eq!(world.states(), ONE);
    world.house.hang(Designation::Primary);
    world.house.inner().dead.clear();
    world.dialled();
    world
}

#[test]
fn a_refusal_of_the_backup_is_told() {
    let mut world = with_a_backup_that_is_refused();
    world.pass(1_050);
    assert!(world.told.backup.contains(&"rejected 27".into()), "{:?}", world.told.backup);
    assert_eq!(world.words().last().unwrap(), "established");
}

#[test]
fn a_backup_that_is_refused_leaves_the_primary_its_logons() {
    let mut world = with_a_backup_that_is_refused();
    world.pass(10_000);
    assert_eq!(world.dialled(), [host(9); 2], "a third could close the ports");
    assert_eq!(world.kept.session().state(), State::Established);
}

#[test]
fn a_warning_of_the_backup_is_told_as_one() {
    let mut world = World::established();
    world.house.inner().is_mute = true;
    world.pass(12_000);
    assert!(world.told.backup.contains(&"Warning(Silence)".into()), "{:?}", world.told.backup);
    let silence = format!("warning: {}", Warning::Silence);
    assert_eq!(world.words(), [silence], "that is the primary's");
}

#[test]
fn a_backup_that_has_given_up_leaves_the_session() {
    let mut world = World::trying(2);
    world.house.inner().dead = vec![host(9)];
    world.kept.start(house::now(0));
    world.pass(5_000);
    assert_eq!(world.dialled(), [host(1), host(9), host(9)]);
    assert_eq!((world.kept.has_given_up_backup(), world.kept.has_given_up()), (true, false));
    assert_eq!(world.states(), ONE);
    world.house.inner().dead.clear();
    world.kept.start(house::now(world.millis));
    assert!(!world.kept.has_given_up_backup());
    world.settle();
    assert_eq!(world.states(), BOTH);
}

#[test]
fn when_the_primary_fails_the_session_goes_on_over_the_backup() {
    for hangs in [false, true] {
        let mut world = with_orders_in_flight();
        world.house.fail_primary(hangs);
        world.settle();
        assert_eq!(world.states(), ONE);
        let mut expected = vec!["failover from 6", "active 8", "gap 4 to 5"];
        if !hangs {
            let lost = ["connection lost while established", "disconnected"];
            expected.splice(0..0, lost);
            expected.insert(3, "established");
        }
        assert_eq!(world.words(), expected);
        assert!(world.told.active.unwrap().in_doubt);
        // The next order shows what has not arrived, and is not applied either.
        assert_eq!(world.send().unwrap().seq_num, 8);
        world.settle();
        assert_eq!(world.told.not_applied, [6, 7, 8]);
        assert_eq!(world.send().unwrap().seq_num, 9);
        world.settle();
        assert_eq!(world.house.inner().accepted.0, [1, 2, 3, 4, 5, 9]);
        world.audit();
    }
}

#[test]
fn how_long_nothing_could_be_sent_is_told() {
    let mut world = World::established();
    world.house.inner().is_mute = true;
    world.house.cut(Designation::Primary);
    world.pass(300);
    // The exchange finds out what it was that ended.
    assert_eq!(world.states(), (State::Disconnected, State::Established));
    let world = World::established();
    let mut world = world;
    world.house.fail_primary(false);
    world.client();
    assert_eq!(world.kept.session().state(), State::Disconnected);
    world.house.turn(house::now(world.millis));
    world.millis += 250;
    world.client();
    assert_eq!(world.told.active.unwrap().down_for, Duration::from_millis(250));
}

#[test]
fn what_is_in_doubt_is_settled_by_a_logon_if_nothing_is_sent() {
    let mut world = with_orders_in_flight();
    world.house.fail_primary(false);
    world.settle();
    world.words();
    world.pass(12_000);
    assert_eq!(world.told.not_applied, [6, 7]);
    assert_eq!(world.dialled()[2..4], [host(1), host(1)], "as the backup, in vain");
    assert_eq!(world.kept.session().state(), State::Established);
    world.send().unwrap();
    world.settle();
    world.audit();
}

#[test]
fn messages_that_waited_for_the_dead_connection_are_settled_too() {
    for hangs in [false, true] {
        let mut world = World::established();
        world.send().unwrap();
        world.settle();
        world.house.inner().room = 100;
        assert!(matches!(world.send().unwrap().delivery, Delivery::Waiting { .. }));
        world.send().unwrap();
        world.house.fail_primary(hangs);
        // The dead connection takes nothing until the other is the primary.
        world.turn();
        world.turn();
        world.house.inner().room = usize::MAX;
        world.settle();
        assert_eq!(world.kept.session().counters().unsent_records, 2);
        assert_eq!(world.kept.session().waiting(), 0);
        world.send().unwrap();
        world.settle();
        assert_eq!(world.told.not_applied, [2, 3, 4]);
        world.audit();
    }
}

#[test]
fn what_was_not_applied_is_sent_again_on_the_new_primary_if_that_is_wanted() {
    let conduct =
        SessionPolicy { not_applied: NotAppliedAnswer::Replay, ..SessionPolicy::default() };
    let settings = Settings { conduct, ..exchange::settings(9) };
    let mut world = World::with(settings).establish();
    fill(&mut world);
    world.house.fail_primary(false);
    world.settle();
    world.send().unwrap();
    world.settle();
    assert_eq!(world.told.not_applied, [6, 7, 8]);
    assert_eq!(world.house.inner().accepted.0, [1, 2, 3, 4, 5, 6, 7, 8]);
    world.told.not_applied.clear();
    world.audit();
}

#[test]
fn a_throttle_counts_what_left_before_the_failover() {
    let rates = Rates { others: Some(Rate::per_second(1)), ..Rates::default() };
    let beyond = WhenThrottled::Refuse;
    let settings =
        Settings { throttle: Some(ThrottleSettings { rates, beyond }), ..exchange::settings(9) };
    let mut world = World::with(settings).establish();
    world.send_many(2);
    world.settle();
    world.house.fail_primary(false);
    world.settle();
    world.send().unwrap();
    assert!(matches!(world.send(), Err(SendError::Throttled { .. })));
    world.settle();
    world.audit();
}

#[test]
fn a_backup_that_fails_is_connected_again_and_nobody_is_disturbed() {
    let mut world = World::established();
    world.house.cut(Designation::Backup);
    world.settle();
    assert_eq!(world.states(), ONE);
    world.send().unwrap();
    world.pass(1_000);
    assert_eq!(world.states(), BOTH);
    assert_eq!(world.words(), Vec::<String>::new());
    assert_eq!(world.dialled(), [host(1), host(9), host(9)]);
    assert!(world.told.backup.contains(&"connection lost while established".into()));
    world.audit();
}

#[test]
fn a_failover_of_the_past_does_not_disturb_the_primary() {
    let mut world = World::established();
    world.send_many(2);
    world.settle();
    let progress = world.kept.session().progress();
    assert_eq!(progress.next_incoming, 3);
    let promotion = exchange::Exchange::promotion(progress.uuid, 2);
    world.house.say(Designation::Backup, &promotion);
    world.settle();
    assert_eq!(world.words(), Vec::<String>::new());
    assert!(world.told.backup.contains(&"NextSeqNo 2 where 3 was next".into()));
    assert_eq!(world.send().unwrap().seq_num, 3);
    // The connection that brought it is made again.
    world.pass(2_000);
    assert_eq!(world.states(), BOTH);
    assert_eq!(world.words(), Vec::<String>::new());
    world.audit();
}

#[test]
fn a_primary_connection_that_breaks_takes_the_backup_with_it_and_both_come_back() {
    let mut world = World::established();
    world.send().unwrap();
    world.settle();
    world.house.cut(Designation::Primary);
    world.settle();
    assert_eq!(world.states(), NONE);
    assert!(world.told.backup.contains(&"terminated 26".into()));
    world.pass(1_000);
    assert_eq!(world.states(), BOTH);
    world.send().unwrap();
    world.settle();
    world.audit();
}

#[test]
fn when_both_fail_whichever_comes_back_is_resumed() {
    for (back, gone) in [(1, 9), (9, 1)] {
        let mut world = with_orders_in_flight();
        let uuid = world.kept.session().progress().uuid;
        world.house.inner().dead = vec![host(1), host(9)];
        world.house.cut(Designation::Backup);
        world.house.fail_primary(false);
        if back == 1 {
            // It was the backup that had gone first.
            world.house.fail_primary(false);
            world.house.inner().gateway.restore();
        }
        world.pass(4_000);
        assert_eq!(world.states(), NONE);
        world.house.inner().dead = vec![host(gone)];
        world.pass(4_000);
        assert_eq!(world.kept.session().state(), State::Established, "{back}");
        assert_eq!(world.kept.session().progress().uuid, uuid);
        assert_eq!(world.told.not_applied, [6, 7]);
        world.send().unwrap();
        world.settle();
        world.audit();
    }
}

#[test]
fn a_primary_that_is_not_there_at_the_start_is_looked_for_among_the_backups() {
    let mut world = World::new();
    world.house.fail_primary(false);
    world.house.inner().dead = vec![host(1)];
    world.kept.start(house::now(0));
    world.pass(1_200);
    assert_eq!(world.dialled()[..2], [host(1), host(9)]);
    assert_eq!(world.kept.session().state(), State::Established);
    // The other one is its backup when it is there.
    world.house.inner().dead.clear();
    world.house.inner().gateway.restore();
    world.pass(2_000);
    assert_eq!(world.states(), BOTH);
    world.send().unwrap();
    world.settle();
    world.audit();
}

#[test]
fn the_error_code_says_which_gateway_is_the_backup() {
    let mut world = World::new();
    world.house.fail_primary(false);
    world.house.inner().gateway.restore();
    world.kept.start(house::now(0));
    world.pass(2_500);
    assert!(world.words().contains(&"rejected 27".into()));
    assert_eq!(world.states(), BOTH);
    assert_eq!(world.dialled(), [host(1), host(9), host(1)]);
}

#[test]
fn a_failover_amid_a_retransmission_loses_nothing() {
    for answered in [0, 1, 2] {
        let mut world = World::established();
        world.send().unwrap();
        world.settle();
        world.send_many(5);
        world.turn();
        // Reports 3 and 4 are lost: 5 and 6 are held, and 3 and 4 asked for.
        (0..2).for_each(|_| world.house.lose_frame(1));
        world.client();
        if answered > 0 {
            // The announcement and the first come, of two.
            world.house.turn(house::now(world.millis));
            if answered == 1 {
                world.house.lose_frame(2);
            }
            world.client();
        }
        world.house.fail_primary(false);
        world.settle();
        assert_eq!(world.states(), ONE);
        world.send().unwrap();
        world.settle();
        assert_eq!(world.told.not_applied, Vec::<u32>::new());
        world.audit();
        assert_eq!(world.told.reports.len(), 7, "{answered}");
    }
}

#[test]
fn the_next_process_goes_on_after_a_failover() {
    let mut world = with_orders_in_flight();
    world.house.fail_primary(false);
    world.house.inner().dead = vec![host(1)];
    world.settle();
    world.send().unwrap();
    world.settle();
    world.house.inner().is_deaf = true;
    world.send().unwrap();
    world.turn();
    world.house.inner().is_deaf = false;
    let before = world.kept.session().progress();
    let mut world = world.restart();
    let after = world.kept.session().progress();
    assert_eq!((after.uuid, after.next_outgoing), (before.uuid, before.next_outgoing));
    world.pass(1_500);
    assert_eq!(world.kept.session().state(), State::Established);
    assert_eq!(world.told.not_applied, [6, 7, 8, 9]);
    world.send().unwrap();
    world.settle();
    world.audit();
}

#[test]
fn the_old_primary_stands_by_when_it_is_back_and_takes_over_in_its_turn() {
    let mut world = with_orders_in_flight();
    for round in 0..3 {
        world.house.fail_primary(round == 1);
        world.settle();
        assert_eq!(world.kept.session().state(), State::Established);
        world.send().unwrap();
        world.settle();
        world.house.inner().gateway.restore();
        world.pass(1_500);
        assert_eq!(world.states(), BOTH);
        world.send().unwrap();
        world.settle();
    }
    assert_eq!(world.told.not_applied, [6, 7, 8]);
    assert_eq!(world.kept.session().inbound_counters().failovers, 3);
    world.audit();
}

#[test]
fn stopped_it_terminates_both() {
    let mut world = World::established();
    world.kept.stop();
    world.settle();
    assert_eq!(world.states(), NONE);
    assert!(world.kept.is_idle());
    assert_eq!(world.words(), ["terminating", "terminated 0", "disconnected"]);
    world.pass(3_000);
    assert_eq!(world.dialled(), [host(1), host(9)]);
}

#[test]
fn abandoned_it_has_left_the_reactor() {
    let mut world = World::established();
    world.abandon();
    assert!(world.kept.is_idle());
    assert_eq!(world.sources(), 0);
}

#[test]
fn without_hosts_for_a_backup_there_is_none() {
    let house = House::new();
    let settings = exchange::settings(9);
    let session = Session::with_connect(settings, MemoryStorage::new(false), house).unwrap();
    let connector = ConnectorSettings { backup: Vec::new(), ..house::connector() };
    let kept = ReconnectingSession::new(session, connector, FixedZone(0));
    assert!(kept.backup_counters().is_none() && kept.last_backup_failure().is_none());
    assert_eq!(kept.backup_state(), State::Disconnected);
}

#[test]
fn a_backup_that_cannot_be_reached_is_told_with_its_reason() {
    let mut world = World::new();
    world.house.inner().dead = vec![host(9)];
    world.kept.start(house::now(0));
    world.settle();
    assert_eq!(world.states(), ONE);
    assert_eq!(world.told.backup[1], "connection lost while connecting");
    let failure = world.kept.last_backup_failure().unwrap();
    assert_eq!(failure.kind(), std::io::ErrorKind::ConnectionRefused);
    assert_eq!(world.kept.backup_counters().unwrap().failures, 1);
}

#[test]
fn abandoned_it_connects_no_more() {
    let mut world = World::established();
    world.dialled();
    world.abandon();
    world.pass(5_000);
    assert_eq!((world.states(), world.dialled().len()), (NONE, 0));
}
