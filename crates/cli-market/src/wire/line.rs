//! The packet numbers of a line: gaps, duplicates and packets out of order.

/// The gaps of a line that are kept: more than are printed.
const MOST_GAPS: usize = 1_000;

/// A packet that was captured.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrival {
    pub(super) sequence: u32,
    /// SendingTime.
    pub(super) sent: u64,
    pub(super) time: u64,
    /// The number of the packet in the capture.
    pub(super) packet: u64,
}

/// Missing packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Gap {
    pub(super) first: u32,
    pub(super) last: u32,
    /// The time of the packet after it.
    pub(super) time: u64,
}

/// The place of a packet in its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The packet is the highest so far, or fills a gap, or repeats another.
    Usual,
    /// So many packets follow it that it cannot be compared.
    TooLate,
}

/// The figures of a line.
///
/// A line begins with its first packet: packets before it are not missing. The numbering restarts
/// at a packet whose number falls although it was sent later than the highest one.
#[derive(Debug, Default)]
pub(super) struct Line {
    pub(super) packets: u64,
    pub(super) messages: u64,
    /// Packets that are missing.
    pub(super) missing: u64,
    /// The gaps, each of missing packets in succession: those kept, and the number of others.
    pub(super) gaps: Vec<Gap>,
    pub(super) other_gaps: u64,
    pub(super) duplicates: u64,
    /// Packets after one with a higher number.
    pub(super) out_of_order: u64,
    /// Packets so late that they may be duplicates or missing ones.
    pub(super) too_late: u64,
    pub(super) restarts: u64,
    /// The lowest and highest number since the numbering began.
    pub(super) range: Option<(u32, u32)>,
    /// The SendingTime of the highest one.
    sent: u64,
    /// The most by which copies of one packet differ in SendingTime.
    tolerance: u64,
}

impl Line {
    /// Creates the line of both lines together, whose copies differ by up to `tolerance`.
    pub(super) fn merged(tolerance: u64) -> Self {
        Self { tolerance, ..Self::default() }
    }

    /// Records a packet. `seen`: the line has had the packet, of the last `window` ones.
    #[inline]
    pub(super) fn record(&mut self, arrival: Arrival, seen: bool, window: usize) -> Place {
        let Arrival { sequence, sent, time, .. } = arrival;
        let Some((lowest, highest)) = self.range else {
            (self.range, self.sent) = (Some((sequence, sequence)), sent);
            return Place::Usual;
        };
        if sequence > highest && sent.saturating_add(self.tolerance) >= self.sent {
            if sequence - highest > 1 {
                self.missing += u64::from(sequence - highest - 1);
                self.open_gap(Gap { first: highest + 1, last: sequence - 1, time });
            }
            (self.range, self.sent) = (Some((lowest, sequence)), sent);
            return Place::Usual;
        }
        self.handle_old(arrival, seen, window, (lowest, highest))
    }

    #[cold]
    fn handle_old(
        &mut self,
        arrival: Arrival,
        seen: bool,
        window: usize,
        (lowest, highest): (u32, u32),
    ) -> Place {
        let Arrival { sequence, sent, time, .. } = arrival;
        if seen {
            self.duplicates += 1;
        } else if sequence > highest {
            // The packet was sent before the numbering restarted.
            self.too_late += 1;
            return Place::TooLate;
        } else if sent > self.sent.saturating_add(self.tolerance) {
            self.restarts += 1;
            (self.range, self.sent) = (Some((sequence, sequence)), sent);
        } else if (highest - sequence) as usize >= window {
            self.too_late += 1;
            return Place::TooLate;
        } else if sequence < lowest {
            self.out_of_order += 1;
            if lowest - sequence > 1 {
                self.missing += u64::from(lowest - sequence - 1);
                self.open_gap(Gap { first: sequence + 1, last: lowest - 1, time });
            }
            self.range = Some((sequence, highest));
        } else {
            self.out_of_order += 1;
            self.missing = self.missing.saturating_sub(1);
            self.fill(sequence);
        }
        Place::Usual
    }

    #[cold]
    fn open_gap(&mut self, gap: Gap) {
        if self.gaps.len() < MOST_GAPS {
            self.gaps.push(gap);
        } else {
            self.other_gaps += 1;
        }
    }

    /// Removes a packet from the gaps. The last one with its number counts: numbers may restart.
    fn fill(&mut self, sequence: u32) {
        let has = |gap: &Gap| (gap.first..=gap.last).contains(&sequence);
        let Some(place) = self.gaps.iter().rposition(has) else {
            // Most gaps that are not kept have one packet.
            self.other_gaps = self.other_gaps.saturating_sub(1);
            return;
        };
        let gap = self.gaps[place];
        let parts =
            [Gap { last: sequence.wrapping_sub(1), ..gap }, Gap { first: sequence + 1, ..gap }];
        let is_left = [gap.first < sequence, gap.last > sequence];
        let left = parts.into_iter().zip(is_left).filter(|it| it.1).map(|it| it.0);
        let is_full = self.gaps.len() >= MOST_GAPS && is_left == [true; 2];
        self.other_gaps += u64::from(is_full);
        self.gaps.splice(place..=place, left.take(if is_full { 1 } else { 2 }));
    }

    /// Returns the number of gaps.
    pub(super) fn gap_count(&self) -> u64 {
        self.gaps.len() as u64 + self.other_gaps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records packets that were sent in the order of their numbers, or later with `+`.
    fn line(arrivals: &[(u32, u64)]) -> Line {
        let mut line = Line::default();
        let mut seen = Vec::new();
        for (&(sequence, sent), packet) in arrivals.iter().zip(1..) {
            let arrival = Arrival { sequence, sent, time: packet, packet };
            line.record(arrival, seen.contains(&(sequence, sent)), 100);
            seen.push((sequence, sent));
        }
        line
    }

    #[test]
    fn late_packets_fill_their_gap() {
        let line = line(&[(10, 10), (15, 15), (12, 12), (11, 11), (16, 16), (12, 12)]);
        assert_eq!((line.missing, line.out_of_order, line.duplicates), (2, 2, 1));
        assert_eq!(line.gaps, [Gap { first: 13, last: 14, time: 2 }]);
    }

    #[test]
    fn gap_is_split_by_a_packet_in_it() {
        let line = line(&[(10, 10), (15, 15), (13, 13)]);
        let gaps = [Gap { first: 11, last: 12, time: 2 }, Gap { first: 14, last: 14, time: 2 }];
        assert_eq!((line.missing, &line.gaps[..]), (3, &gaps[..]));
    }

    #[test]
    fn packet_in_a_gap_that_is_not_kept_fills_it() {
        let last = 2 * (MOST_GAPS as u32 + 1);
        let mut arrivals: Vec<_> = (0..=last).step_by(2).map(|it| (it, it.into())).collect();
        assert_eq!((line(&arrivals).gap_count(), line(&arrivals).missing), (1_001, 1_001));
        arrivals.push((last - 1, u64::from(last) - 1));
        assert_eq!((line(&arrivals).gap_count(), line(&arrivals).missing), (1_000, 1_000));
    }

    #[test]
    fn packets_before_the_first_are_not_missing() {
        let line = line(&[(10, 10), (7, 7), (11, 11)]);
        assert_eq!((line.missing, line.out_of_order, line.restarts), (2, 1, 0));
        assert_eq!(line.gaps, [Gap { first: 8, last: 9, time: 2 }]);
    }

    #[test]
    fn lower_number_that_was_sent_later_restarts() {
        let line = line(&[(10, 10), (12, 12), (1, 13), (11, 11), (3, 15), (2, 14)]);
        assert_eq!((line.restarts, line.missing, line.out_of_order), (1, 1, 1));
        assert_eq!((line.range, line.too_late), (Some((1, 3)), 1));
    }

    #[test]
    fn packet_beyond_the_window_is_not_judged() {
        let line = line(&[(10, 10), (111, 111), (11, 11), (12, 12)]);
        assert_eq!((line.too_late, line.missing, line.out_of_order), (1, 99, 1));
    }
}
