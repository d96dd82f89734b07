//! The rules: each message is delivered once and in order, or its loss has a reason.

use std::collections::{BTreeMap, HashMap};

use hairpin_netsim::Census;
use hairpin_rds::{Event, MessageId, Outcome};

/// The number of bytes that identify a message.
pub(super) const NUMBER: usize = 8;

/// Writes the content of a message, which depends on its number.
pub(super) fn write_content(number: u64, bytes: &mut [u8]) {
    let head = number.to_le_bytes();
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = match head.get(at) {
            Some(&byte) => byte,
            None => (number as usize).wrapping_mul(31).wrapping_add(at * 7) as u8,
        };
    }
}

/// The identity of a message: its length and its first bytes.
type Key = (usize, u64);

fn key(bytes: &[u8]) -> Key {
    let mut head = [0; NUMBER];
    let length = bytes.len().min(NUMBER);
    head[..length].copy_from_slice(&bytes[..length]);
    (bytes.len(), u64::from_le_bytes(head))
}

/// An accepted message.
#[derive(Debug)]
struct Sent {
    key: Key,
    number: u64,
    outcome: Option<Outcome>,
    is_cancelled: bool,
    /// `true` if the end of a socket may have lost the message.
    may_be_lost: bool,
    /// `true` if the message was not received before that happened.
    is_optional: bool,
}

/// The messages from one host to another.
#[derive(Debug, Default)]
struct Pair {
    sent: Vec<Sent>,
    by_number: HashMap<u64, usize>,
    received: Vec<Key>,
    /// When each socket of the receiver was closed: the number of messages received, and the first
    /// message sent that was not known to be delivered.
    ends_of_received: Vec<(usize, usize)>,
    last_received: Option<u64>,
    /// The messages up to the last one received, which are delivered or already missing.
    passed: usize,
    /// Messages whose outcome is pending, by the sender's identifier.
    pending: BTreeMap<u64, usize>,
    /// `true` from the end of the receiver's socket until the next one receives a message.
    is_unaware: bool,
    /// Ends of the receiver's sockets that the sender has reported.
    receiver_ends: u64,
}

/// The judge of a run.
#[derive(Debug)]
pub(super) struct Judge {
    hosts: usize,
    pairs: Vec<Pair>,
    /// Per host: `true` if a socket is bound.
    bound: Vec<bool>,
    /// Per host: the times that a socket was closed.
    ends: Vec<u64>,
    evicts: bool,
    next_number: u64,
    pub(super) census: Census,
}

impl Judge {
    pub(super) fn new(hosts: usize, evicts: bool) -> Self {
        Self {
            hosts,
            pairs: (0..hosts * hosts).map(|_| Pair::default()).collect(),
            bound: vec![true; hosts],
            ends: vec![0; hosts],
            evicts,
            next_number: 1,
            census: Census::new(),
        }
    }

    fn pair(&mut self, from: usize, to: usize) -> &mut Pair {
        &mut self.pairs[from * self.hosts + to]
    }

    /// Returns the number of the next message.
    pub(super) fn next_number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number
    }

    /// Records an accepted message.
    pub(super) fn on_accepted(
        &mut self,
        (from, to): (usize, usize),
        number: u64,
        length: usize,
        tracked: Option<MessageId>,
    ) {
        let mut content = vec![0; length.min(NUMBER)];
        write_content(number, &mut content);
        let key = (length, key(&content).1);
        let may_be_lost = !self.bound[to] || self.evicts;
        let pair = self.pair(from, to);
        let may_be_lost = may_be_lost || pair.is_unaware;
        let index = pair.sent.len();
        pair.sent.push(Sent {
            key,
            number,
            outcome: None,
            is_cancelled: false,
            may_be_lost,
            is_optional: may_be_lost,
        });
        pair.by_number.insert(number, index);
        if let Some(MessageId(id)) = tracked {
            pair.pending.insert(id, index);
        }
    }

    /// Records a cancel of all messages from one host to another.
    pub(super) fn on_cancelled(&mut self, from: usize, to: usize) {
        let pair = self.pair(from, to);
        pair.open().for_each(|sent| sent.is_cancelled = true);
        pair.make_optional();
    }

    /// Checks a received message.
    pub(super) fn on_message(&mut self, from: usize, to: usize, bytes: &[u8]) {
        let key = key(bytes);
        let pair = &mut self.pairs[from * self.hosts + to];
        pair.is_unaware = false;
        pair.received.push(key);
        self.census.count("messages delivered");
        self.census.add("empty messages delivered", u64::from(bytes.is_empty()));
        if bytes.len() < NUMBER {
            return;
        }
        let index = pair.by_number.get(&key.1).copied();
        let index = index.unwrap_or_else(|| panic!("{from} to {to}: {key:?} was not sent"));
        let sent = &pair.sent[index];
        assert_eq!(sent.key, key, "{from} to {to}: wrong length");
        let mut expected = vec![0; bytes.len()];
        write_content(sent.number, &mut expected);
        assert!(bytes == expected, "{from} to {to}: wrong content of {}", sent.number);
        let last = pair.last_received.replace(sent.number);
        assert!(
            last.is_none_or(|last| last < sent.number),
            "{from} to {to}: {} was delivered after {last:?}",
            sent.number
        );
        assert_ne!(sent.outcome, Some(Outcome::NotDelivered), "{} was delivered", sent.number);
        pair.passed = index + 1;
    }

    /// Checks an event of host `from` about host `to`.
    pub(super) fn on_event(&mut self, from: usize, to: Option<usize>, event: Event) {
        if let Event::Outcome { id, outcome } = event {
            self.on_outcome(from, id, outcome);
            return;
        }
        let to = to.expect("the event names a host");
        let (ends, evicts) = (self.ends[to], self.evicts);
        let pair = self.pair(from, to);
        match event {
            Event::PeerRestarted(_) => {
                assert!(pair.receiver_ends < ends || evicts, "{from}: {to} has not restarted");
                pair.receiver_ends += 1;
            }
            Event::Undeliverable(_) => assert!(ends > 0, "{from}: {to} was always bound"),
            Event::Writable(_) => self.census.count("writable after congestion"),
            _ => {}
        }
    }

    fn on_outcome(&mut self, from: usize, id: MessageId, outcome: Outcome) {
        let found = (0..self.hosts).find_map(|to| {
            let index = self.pair(from, to).pending.remove(&id.0)?;
            Some((to, index))
        });
        let (to, index) = found.unwrap_or_else(|| panic!("{from}: unexpected outcome {id:?}"));
        let evicts = self.evicts;
        let sent = &mut self.pair(from, to).sent[index];
        assert_eq!(sent.outcome, None, "{from} to {to}: second outcome of {}", sent.number);
        sent.outcome = Some(outcome);
        let has_reason = sent.is_cancelled || sent.may_be_lost || evicts;
        let number = sent.number;
        assert!(
            outcome == Outcome::Delivered || has_reason,
            "{from} to {to}: {outcome:?} of {number} without a reason"
        );
        self.census.count(match outcome {
            Outcome::Delivered => "outcomes: delivered",
            Outcome::NotDelivered => "outcomes: not delivered",
            Outcome::Unknown => "outcomes: unknown",
        });
    }

    /// Records the end of a host's socket. Messages in flight from and to the socket may be lost.
    pub(super) fn on_closed(&mut self, host: usize) {
        self.bound[host] = false;
        self.ends[host] += 1;
        for other in 0..self.hosts {
            let to = self.pair(other, host);
            to.is_unaware = true;
            to.open().for_each(|sent| sent.may_be_lost = true);
            to.make_optional();
            to.ends_of_received.push((to.received.len(), to.first_open()));
            to.last_received = None;
            let ends = self.ends[other];
            let from = self.pair(host, other);
            from.open().for_each(|sent| sent.may_be_lost = true);
            from.make_optional();
            from.pending.clear();
            // The next socket knows nothing about the peer.
            from.is_unaware = false;
            from.receiver_ends = ends;
        }
    }

    pub(super) fn on_bound(&mut self, host: usize) {
        self.bound[host] = true;
    }

    /// Returns `true` if no tracked message waits for its outcome.
    pub(super) fn has_all_outcomes(&self) -> bool {
        self.pairs.iter().all(|pair| pair.pending.is_empty())
    }

    /// Checks that the messages received are those sent, in order, without those that may be lost.
    pub(super) fn check_end(&self) {
        assert!(self.has_all_outcomes(), "an outcome is missing");
        for (at, pair) in self.pairs.iter().enumerate() {
            let (from, to) = (at / self.hosts, at % self.hosts);
            let received = pair.received.iter().enumerate();
            let positions = received.fold(vec![0], |mut positions, (number, key)| {
                for &(_, first_open) in pair.ends_of_received.iter().filter(|end| end.0 == number) {
                    pair.add_repeatable(first_open, &mut positions);
                }
                let next = pair.positions_after(&positions, key);
                assert!(!next.is_empty(), "{from} to {to}: unexpected message {key:?}");
                next
            });
            let is_complete =
                |&position: &usize| pair.sent[position..].iter().all(Sent::may_be_missing);
            let missing = || {
                let first = positions.iter().min().copied().unwrap_or(0);
                pair.sent[first..].iter().find(|sent| !sent.may_be_missing())
            };
            assert!(positions.iter().any(is_complete), "{from} to {to}: missing {:?}", missing());
        }
    }
}

impl Sent {
    fn may_be_missing(&self) -> bool {
        match self.outcome {
            Some(Outcome::Delivered) => false,
            Some(_) => true,
            None => self.is_optional,
        }
    }
}

impl Pair {
    /// Returns the messages that have no outcome yet.
    fn open(&mut self) -> impl Iterator<Item = &mut Sent> {
        self.sent.iter_mut().filter(|sent| sent.outcome.is_none())
    }

    /// Records that the messages behind the last one received need not arrive.
    fn make_optional(&mut self) {
        self.sent[self.passed..].iter_mut().for_each(|sent| sent.is_optional = true);
    }

    /// Returns the first message such that it and all later ones are not known to be delivered.
    fn first_open(&self) -> usize {
        let delivered = |sent: &Sent| sent.outcome == Some(Outcome::Delivered);
        self.sent.iter().rposition(delivered).map_or(0, |last| last + 1)
    }

    /// Adds the positions from which the next socket of the receiver may start: a message without
    /// an outcome when the last one ended may be delivered to both, to each once.
    fn add_repeatable(&self, first_open: usize, positions: &mut Vec<usize>) {
        if let Some(&first) = positions.iter().min() {
            positions.extend(first_open..first);
        }
    }

    /// Returns the possible numbers of messages passed after one more message was received. Short
    /// messages can be equal, so that there are several.
    fn positions_after(&self, positions: &[usize], key: &Key) -> Vec<usize> {
        let mut next = Vec::new();
        for &position in positions {
            for (index, sent) in self.sent.iter().enumerate().skip(position) {
                if sent.key == *key && sent.outcome != Some(Outcome::NotDelivered) {
                    next.push(index + 1);
                }
                if !sent.may_be_missing() {
                    break;
                }
            }
        }
        next.sort_unstable();
        next.dedup();
        next
    }
}
