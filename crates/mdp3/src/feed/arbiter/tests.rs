//! Tests of the arbiter by packet traces.

use super::*;
use FeedLine::{A, B};
use Verdict::{Ahead, Confirms, Duplicate, Next, OlderEpoch, Suspect};

/// Drives an arbiter with `line sequence @ seconds`, processing all next packets. Packets arrive
/// when they are sent. The clock is correct unless set.
struct Trace {
    arbiter: Arbiter,
    restarts: u32,
    /// The suspect packet.
    pending: Option<(FeedLine, PacketHeader)>,
    clock: Option<u64>,
}

impl Default for Trace {
    fn default() -> Self {
        Self { arbiter: Arbiter::new(8), restarts: 0, pending: None, clock: None }
    }
}

impl Trace {
    #[track_caller]
    fn packet(&mut self, line: FeedLine, sequence: u32, second: u64, verdict: Verdict) {
        let at = |second: u64| Utc::from_nanos(second * 1_000_000_000);
        let header = PacketHeader { sequence, sending_time: at(second) };
        let utc = at(self.clock.unwrap_or(second));
        let arbitration = if self.arbiter.advance_if_next(line, header) {
            Arbitration { verdict: self.arbiter.classify(sequence), restart: None }
        } else {
            self.arbiter.judge(line, header, utc)
        };
        assert_eq!(arbitration.verdict, verdict, "{line}{sequence} at {second} s");
        match verdict {
            Suspect => self.pending = Some((line, header)),
            Confirms => {
                if let Some((first, first_header)) = self.pending.take() {
                    self.accept(first, first_header);
                }
                self.accept(line, header);
            }
            _ => self.process(header, arbitration),
        }
    }

    fn accept(&mut self, line: FeedLine, header: PacketHeader) {
        let arbitration = self.arbiter.accept(line, header);
        self.process(header, arbitration);
    }

    /// Processes the next packet; does not wait for packets ahead.
    fn process(&mut self, header: PacketHeader, arbitration: Arbitration) {
        self.restarts += u32::from(arbitration.restart == Some(Restart::Unannounced));
        if arbitration.verdict == Next {
            self.arbiter.advance_to(header.sequence + 1);
        }
    }

    #[track_caller]
    fn reset(&mut self, line: FeedLine, sequence: u32, second: u64) {
        self.packet(line, sequence, second, Next);
        self.arbiter.record_reset(sequence);
    }
}

#[test]
fn second_copy_is_duplicate_on_either_line() {
    let mut trace = Trace::default();
    trace.packet(A, 7, 1, Next);
    trace.packet(B, 7, 1, Duplicate);
    trace.packet(B, 8, 2, Next);
    trace.packet(A, 8, 2, Duplicate);
}

#[test]
fn packet_after_gap_is_ahead_until_filled() {
    let mut trace = Trace::default();
    trace.packet(A, 1, 1, Next);
    trace.packet(A, 3, 3, Ahead);
    trace.packet(B, 1, 1, Duplicate);
    trace.packet(B, 2, 2, Next);
    trace.packet(B, 3, 3, Next);
}

/// Found by `sim feed`, seeds 1 and 31.
#[test]
fn late_packets_belong_to_previous_epoch() {
    let mut trace = Trace::default();
    trace.packet(A, 50, 50, Next);
    trace.packet(A, 1, 54, Next);
    trace.packet(A, 53, 53, Duplicate);
    trace.packet(A, 2, 52, Duplicate);
    trace.packet(A, 2, 55, Next);
    assert_eq!(trace.restarts, 1);
}

#[test]
fn late_old_packet_is_no_restart() {
    let mut trace = Trace::default();
    trace.packet(A, 100, 100, Next);
    trace.packet(A, 101, 101, Next);
    trace.packet(A, 1, 1, Duplicate);
    trace.packet(A, 102, 102, Next);
    // The publisher's clock stepped while the network reordered packets.
    trace.packet(A, 100, 103, Suspect);
    trace.packet(A, 103, 104, Next);
    trace.packet(A, 101, 105, Suspect);
    assert_eq!(trace.restarts, 0);
}

#[test]
fn both_lines_restart_without_reset() {
    let mut trace = Trace::default();
    trace.packet(A, 900, 10, Next);
    trace.packet(B, 900, 10, Duplicate);
    trace.packet(A, 1, 20, Next);
    trace.packet(B, 1, 20, Duplicate);
    trace.packet(A, 2, 21, Next);
    trace.packet(B, 2, 21, Duplicate);
    trace.packet(B, 3, 22, Next);
    assert_eq!(trace.restarts, 1);
}

#[test]
fn ignores_line_that_has_not_restarted() {
    let mut trace = Trace::default();
    trace.packet(A, 10, 10, Next);
    trace.packet(B, 10, 10, Duplicate);
    trace.packet(A, 1, 11, Next);
    trace.packet(B, 11, 11, OlderEpoch);
    trace.packet(B, 2, 9, OlderEpoch);
    trace.packet(A, 2, 12, Next);
    trace.packet(B, 1, 12, Duplicate);
    trace.packet(B, 3, 13, Next);
}

#[test]
fn reset_without_renumbering_is_no_restart() {
    let mut trace = Trace::default();
    trace.packet(A, 9, 9, Next);
    trace.packet(B, 9, 9, Duplicate);
    trace.reset(A, 10, 10);
    trace.packet(A, 11, 11, Next);
    trace.packet(B, 10, 10, Duplicate);
    trace.packet(B, 12, 12, Next);
    trace.packet(A, 12, 12, Duplicate);
    assert_eq!(trace.arbiter.epoch, 0);
}

#[test]
fn restart_after_reset_is_announced_despite_loss() {
    let mut trace = Trace::default();
    trace.packet(A, 9, 9, Next);
    trace.packet(B, 9, 9, Duplicate);
    trace.reset(A, 10, 10);
    trace.packet(A, 3, 11, Ahead);
    trace.packet(B, 10, 11, OlderEpoch);
    trace.packet(B, 1, 12, Next);
    trace.packet(B, 2, 12, Next);
    assert_eq!((trace.arbiter.epoch, trace.restarts), (1, 0));
}

#[test]
fn accepts_line_after_max_lag() {
    let mut trace = Trace::default();
    trace.packet(A, 10, 10, Next);
    trace.packet(B, 10, 10, Duplicate);
    trace.packet(A, 1, 20, Next);
    // B has lost all packets up to its old position, so the old epoch cannot be excluded.
    trace.packet(B, 11, 21, OlderEpoch);
    trace.packet(B, 12, 26, Ahead);
}

#[test]
fn new_line_after_restart_may_be_in_old_epoch() {
    let mut trace = Trace::default();
    trace.packet(A, 10, 10, Next);
    trace.packet(A, 1, 20, Next);
    trace.packet(B, 11, 20, OlderEpoch);
    trace.packet(B, 1, 21, Duplicate);
    trace.packet(B, 2, 21, Next);
}

#[test]
fn second_packet_confirms_far_jump() {
    let mut trace = Trace::default();
    trace.packet(A, 10, 10, Next);
    trace.packet(B, 10, 10, Duplicate);
    trace.packet(A, 5_000, 11, Suspect);
    trace.packet(A, 11, 11, Next);
    trace.packet(A, 5_001, 12, Suspect);
    trace.packet(B, 5_001, 12, Confirms);
    assert_eq!(
        trace.arbiter.expected(),
        12,
        "the reorder window declares the packets between lost"
    );
    trace.packet(A, 5_002, 13, Ahead);
}

#[test]
fn duplicate_on_same_line_does_not_confirm() {
    let mut trace = Trace::default();
    trace.packet(A, 10, 10, Next);
    trace.packet(A, 5_000, 11, Suspect);
    trace.packet(A, 5_000, 11, Suspect);
    trace.packet(A, 11, 12, Next);
}

#[test]
fn distant_stray_does_not_confirm() {
    let mut trace = Trace::default();
    trace.packet(A, 10, 10, Next);
    trace.packet(A, 5_000, 11, Suspect);
    trace.packet(A, 5_033, 12, Suspect);
    trace.packet(A, 5_065, 13, Confirms);
}

#[test]
fn earlier_stray_does_not_confirm() {
    let mut trace = Trace::default();
    trace.packet(A, 10, 10, Next);
    trace.packet(A, 5_000, 12, Suspect);
    trace.packet(A, 5_001, 11, Suspect);
    trace.packet(A, 5_002, 12, Confirms);
}

#[test]
fn suspects_packet_from_future() {
    let mut trace = Trace { clock: Some(10), ..Trace::default() };
    trace.packet(A, 10, 10, Next);
    trace.packet(A, 11, 21, Suspect);
    trace.packet(A, 11, 20, Next);
    trace.packet(A, 12, 11, Next);
    // The restart after the suspect packet is detected; its SendingTime did not count.
    trace.packet(A, 1, 12, Next);
    assert_eq!(trace.restarts, 1);
}

#[test]
fn slow_host_clock_costs_one_packet() {
    let mut trace = Trace { clock: Some(10), ..Trace::default() };
    trace.packet(A, 10, 3_600, Suspect);
    trace.packet(B, 10, 3_600, Confirms);
    trace.packet(A, 11, 3_601, Next);
    // Also after a pause.
    trace.clock = Some(70);
    trace.packet(A, 12, 3_661, Next);
    trace.packet(A, 13, 3_600 + 3_700, Suspect);
}

#[test]
fn accepts_all_times_without_clock() {
    let mut trace = Trace { clock: Some(0), ..Trace::default() };
    trace.packet(A, 10, 3_600, Next);
    trace.packet(A, 11, 7_200, Next);
}

#[test]
fn detects_restart_without_packet_1() {
    let mut trace = Trace::default();
    trace.packet(A, 40, 10, Next);
    trace.packet(B, 40, 10, Duplicate);
    trace.packet(A, 2, 20, Suspect);
    trace.packet(A, 3, 21, Confirms);
    assert_eq!((trace.restarts, trace.arbiter.expected()), (1, 1));
    trace.packet(B, 2, 20, OlderEpoch);
    trace.packet(B, 3, 21, Confirms);
}

#[test]
fn single_low_packet_is_no_restart() {
    let mut trace = Trace::default();
    trace.packet(A, 900, 10, Next);
    trace.packet(A, 7, 11, Suspect);
    trace.packet(A, 901, 11, Next);
    trace.packet(A, 8, 12, Suspect);
    trace.packet(A, 902, 12, Next);
    assert_eq!(trace.restarts, 0);
}

#[test]
fn line_continues_after_stray() {
    let mut trace = Trace::default();
    trace.packet(A, 97, 10, Next);
    trace.packet(B, 97, 10, Duplicate);
    trace.packet(B, 487, 11, Ahead);
    trace.packet(B, 98, 12, Next);
    trace.packet(B, 99, 13, Next);
    assert_eq!(trace.restarts, 0);
}

#[test]
fn second_line_follows_restart() {
    let mut trace = Trace::default();
    trace.packet(A, 40, 10, Next);
    trace.packet(B, 40, 10, Duplicate);
    trace.packet(A, 1, 20, Next);
    // B lost its packets 1 and 2.
    trace.packet(B, 3, 21, OlderEpoch);
    trace.packet(B, 4, 21, Confirms);
    trace.packet(B, 2, 20, Next);
    assert_eq!(trace.restarts, 1);
}

#[test]
fn sequence_passed_earlier_starts_new_epoch() {
    let mut trace = Trace::default();
    trace.packet(A, 99, 9, Next);
    trace.packet(B, 99, 9, Duplicate);
    trace.packet(A, 100, 10, Next);
    trace.reset(A, 101, 10);
    // Packet 1 is lost on A. Since 99 was sent earlier, 2 cannot belong to its epoch.
    trace.packet(A, 2, 10, Ahead);
    trace.packet(A, 3, 10, Ahead);
    trace.packet(B, 101, 10, OlderEpoch);
    trace.packet(B, 1, 10, Next);
    trace.packet(B, 2, 10, Next);
    assert_eq!((trace.arbiter.epoch, trace.restarts), (1, 0));
}

#[test]
fn sequence_passed_at_same_time_is_duplicate() {
    let mut trace = Trace::default();
    trace.packet(A, 99, 9, Next);
    trace.packet(A, 100, 10, Next);
    trace.reset(A, 101, 10);
    trace.packet(A, 100, 10, Duplicate);
    trace.packet(A, 101, 10, Duplicate);
    trace.packet(A, 102, 10, Next);
    assert_eq!(trace.arbiter.epoch, 0);
}

#[test]
fn packet_1_after_reset_restarts_at_same_time() {
    let mut trace = Trace::default();
    trace.packet(A, 9, 10, Next);
    trace.packet(B, 9, 10, Duplicate);
    trace.reset(A, 10, 10);
    trace.packet(B, 10, 10, Duplicate);
    // Two restarts, the second by the first packet of the new epoch.
    for _ in 0..2 {
        trace.reset(A, 1, 10);
        trace.packet(B, 1, 10, Duplicate);
    }
    trace.packet(A, 1, 10, Next);
    trace.packet(A, 2, 10, Next);
    trace.packet(B, 1, 10, Duplicate);
    trace.packet(B, 2, 10, Duplicate);
    trace.packet(B, 3, 10, Next);
    assert_eq!((trace.arbiter.epoch, trace.restarts), (3, 0));
}

#[test]
fn repeated_packet_1_is_no_restart() {
    let mut trace = Trace::default();
    trace.reset(A, 1, 10);
    trace.packet(A, 2, 10, Next);
    trace.packet(A, 1, 10, Duplicate);
    trace.packet(A, 3, 10, Next);
    assert_eq!(trace.arbiter.epoch, 0);
}

#[test]
fn drops_late_packets_of_previous_epoch() {
    let mut trace = Trace::default();
    trace.packet(A, 98, 9, Next);
    trace.packet(A, 99, 10, Next);
    trace.reset(A, 100, 10);
    trace.packet(A, 1, 10, Next);
    trace.packet(A, 98, 9, Duplicate);
    trace.packet(A, 99, 10, Suspect);
    // With the exact time of the restart the epoch is unknown, and one such packet does not confirm
    // another.
    trace.packet(A, 100, 10, Suspect);
    trace.packet(A, 2, 10, Next);
    trace.packet(A, 101, 10, Ahead);
}

#[test]
fn new_epoch_may_pass_old_sequence_at_same_time() {
    let mut trace = Trace::default();
    trace.packet(A, 1, 9, Next);
    trace.packet(A, 2, 10, Next);
    trace.reset(A, 3, 10);
    for sequence in 1..10 {
        trace.packet(A, sequence, 10, Next);
    }
    assert_eq!(trace.arbiter.epoch, 1);
}

#[test]
fn first_packets_of_epoch_may_arrive_late() {
    let mut trace = Trace::default();
    trace.packet(A, 40, 10, Next);
    trace.reset(A, 41, 11);
    trace.packet(A, 3, 14, Ahead);
    trace.packet(A, 1, 12, Next);
    trace.packet(A, 2, 13, Next);
}

#[test]
fn sequences_before_loss_detect_new_epoch() {
    let mut trace = Trace::default();
    trace.packet(A, 99, 9, Next);
    trace.packet(B, 100, 10, Next);
    trace.packet(A, 101, 10, Next);
    trace.reset(A, 102, 10);
    trace.packet(A, 2, 10, Ahead);
}

#[test]
fn sequences_before_restart_do_not_apply_after_it() {
    let mut trace = Trace::default();
    trace.packet(A, 98, 9, Next);
    trace.reset(A, 99, 10);
    trace.packet(A, 1, 10, Next);
    trace.packet(A, 3, 10, Ahead);
    trace.packet(A, 2, 10, Next);
    assert_eq!(trace.arbiter.epoch, 1);
}

#[test]
fn suspects_packet_of_either_epoch() {
    let mut trace = Trace::default();
    trace.packet(A, 3, 9, Next);
    trace.reset(A, 4, 10);
    trace.packet(A, 1, 10, Next);
    trace.packet(A, 2, 10, Next);
    // 3 is lost; this could be the reset again.
    trace.packet(A, 4, 10, Suspect);
    trace.packet(A, 5, 10, Ahead);
}

#[test]
fn packet_of_either_epoch_replaces_suspect() {
    let mut trace = Trace::default();
    trace.packet(A, 3, 9, Next);
    trace.reset(A, 4, 10);
    trace.packet(A, 1, 10, Next);
    trace.packet(A, 5_000, 10, Suspect);
    trace.packet(A, 4, 10, Suspect);
    trace.packet(A, 5_001, 10, Suspect);
    trace.packet(A, 5_002, 10, Confirms);
}

#[test]
fn follows_clock_set_back_after_restart() {
    let mut trace = Trace::default();
    trace.packet(A, 40, 10, Next);
    trace.packet(A, 1, 20, Next);
    // Only slightly earlier, the packet may belong to the previous epoch.
    trace.packet(A, 2, 8, Duplicate);
    trace.packet(A, 2, 3, Next);
    trace.packet(A, 3, 4, Next);
    // The clock is followed even after a loss.
    trace.packet(A, 5, 3, Ahead);
}

#[test]
fn reset_does_not_announce_later_restart() {
    let mut trace = Trace::default();
    trace.reset(A, 10, 10);
    trace.packet(A, 11, 11, Next);
    trace.packet(A, 1, 12, Next);
    assert_eq!(trace.restarts, 1);
}

#[test]
fn line_may_follow_into_intermediate_epoch() {
    let mut trace = Trace::default();
    trace.packet(A, 40, 10, Next);
    trace.packet(B, 40, 10, Duplicate);
    trace.packet(A, 1, 20, Next);
    trace.packet(A, 1, 30, Next);
    trace.packet(B, 1, 20, OlderEpoch);
    trace.packet(B, 2, 20, OlderEpoch);
    trace.packet(B, 1, 30, Duplicate);
    trace.packet(B, 2, 30, Next);
}

#[test]
fn lines_restart_at_time_of_last_packets() {
    let mut trace = Trace::default();
    trace.packet(A, 899, 9, Next);
    trace.packet(B, 899, 9, Duplicate);
    trace.packet(A, 900, 10, Next);
    trace.packet(B, 900, 10, Duplicate);
    trace.packet(A, 1, 10, Next);
    trace.packet(A, 2, 10, Next);
    trace.packet(B, 1, 10, Duplicate);
    trace.packet(B, 2, 10, Duplicate);
    trace.packet(B, 3, 11, Next);
    assert_eq!(trace.restarts, 1);
}

#[test]
fn stray_does_not_restart_line() {
    let mut trace = Trace::default();
    trace.packet(A, 900, 10, Next);
    trace.packet(B, 900, 10, Duplicate);
    trace.packet(A, 1, 20, Next);
    trace.packet(B, 2, 20, OlderEpoch);
    trace.packet(B, 901, 20, OlderEpoch);
    trace.packet(B, 3, 21, OlderEpoch);
    trace.packet(B, 902, 21, OlderEpoch);
    // A stray does not make the line's own packets look like a restart.
    trace.packet(B, 1 << 30, 21, OlderEpoch);
    trace.packet(B, 903, 22, OlderEpoch);
    trace.packet(B, 904, 22, OlderEpoch);
    trace.packet(A, 2, 21, Next);
}
