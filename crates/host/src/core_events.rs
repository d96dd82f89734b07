//! What the kernel counts of the interruptions of a core: interrupts, softirqs, other threads, and
//! time stolen by the hypervisor.

use std::fs;
use std::io;

use hairpin_time::Duration;

use crate::core_counters::steal_time;

/// A kind of interruption, with the number of times since boot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoreEvent {
    /// `interrupt` or `softirq`.
    pub kind: &'static str,
    /// The kernel's name: `LOC`, `33`, `NET_RX`.
    pub name: String,
    /// The kernel's description of an interrupt, or its device; empty for a softirq.
    pub description: String,
    /// The number of times.
    pub count: u64,
}

/// The counters of a core since boot, or the difference of two readings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoreEvents {
    /// Interrupts and softirqs.
    pub events: Vec<CoreEvent>,
    /// Time stolen by the hypervisor; `None` if the kernel does not count it.
    pub stolen: Option<Duration>,
}

impl CoreEvents {
    /// Reads the counters of a core.
    ///
    /// # Errors
    /// `/proc/interrupts`, `/proc/softirqs` or `/proc/stat` cannot be read.
    pub fn read(core: usize) -> io::Result<Self> {
        let mut events = parse("interrupt", &text("/proc/interrupts")?, core);
        events.extend(parse("softirq", &text("/proc/softirqs")?, core));
        Ok(Self { events, stolen: steal_time(core)? })
    }

    /// Returns what was counted since `before`, the most frequent first, without what was not.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        let counted = |event: &CoreEvent| {
            let same =
                before.events.iter().find(|it| (it.kind, &it.name) == (event.kind, &event.name));
            event.count.saturating_sub(same.map_or(0, |it| it.count))
        };
        let mut events: Vec<CoreEvent> =
            self.events.iter().map(|it| CoreEvent { count: counted(it), ..it.clone() }).collect();
        events.retain(|event| event.count > 0);
        events.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.name.cmp(&b.name)));
        let stolen = self.stolen.zip(before.stolen).map(|(now, then)| now.saturating_sub(then));
        Self { events, stolen }
    }
}

/// Reads a file. The error names it.
fn text(path: &str) -> io::Result<String> {
    let named =
        |error: io::Error| io::Error::new(error.kind(), format!("cannot read {path}: {error}"));
    fs::read_to_string(path).map_err(named)
}

/// Parses `/proc/interrupts` or `/proc/softirqs`: a column per online core, then a description.
/// Lines without a number for the core count events of the whole machine and are skipped.
fn parse(kind: &'static str, text: &str, core: usize) -> Vec<CoreEvent> {
    let mut lines = text.lines();
    let heading: Vec<&str> = lines.next().unwrap_or_default().split_whitespace().collect();
    let wanted = format!("CPU{core}");
    let Some(column) = heading.iter().position(|name| *name == wanted) else { return Vec::new() };
    let event = |line: &str| {
        let (name, rest) = line.split_once(':')?;
        let mut words = rest.split_whitespace();
        let counts: Vec<&str> = words.by_ref().take(heading.len()).collect();
        let counts: Vec<u64> = counts.into_iter().map_while(|it| it.parse().ok()).collect();
        let count = *counts.get(column).filter(|_| counts.len() == heading.len())?;
        let description = words.collect::<Vec<_>>().join(" ");
        Some(CoreEvent { kind, name: name.trim().to_owned(), description, count })
    };
    lines.filter_map(event).collect()
}

/// Returns how often the calling thread lost its core to another one, and how long it waited for a
/// core, since it started.
///
/// # Errors
/// `/proc/thread-self` cannot be read. A kernel without `CONFIG_SCHED_INFO` has no waiting time.
pub fn displacements() -> io::Result<(u64, Duration)> {
    let status = text("/proc/thread-self/status")?;
    let switches = status
        .lines()
        .find_map(|line| line.strip_prefix("nonvoluntary_ctxt_switches:")?.trim().parse().ok());
    let times = text("/proc/thread-self/schedstat")?;
    let waited = times.split_whitespace().nth(1).and_then(|nanos| nanos.parse().ok());
    let (switches, waited) = switches.zip(waited).ok_or(io::ErrorKind::InvalidData)?;
    Ok((switches, Duration::from_nanos(waited)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERRUPTS: &str = "           CPU0       CPU2       \n\
        \x20 1:          9         10   IO-APIC   1-edge      i8042\n\
        \x2033:        100        200   PCI-MSI 524288-edge      nic0-rx-0\n\
        NMI:          0          0   Non-maskable interrupts\n\
        LOC:     111111     222222   Local timer interrupts\n\
        ERR:          7\n";

    fn event(kind: &'static str, name: &str, description: &str, count: u64) -> CoreEvent {
        CoreEvent { kind, name: name.to_owned(), description: description.to_owned(), count }
    }

    #[test]
    fn columns_are_those_of_the_heading() {
        let events = parse("interrupt", INTERRUPTS, 2);
        for core in [0, 2] {
            let names: Vec<String> =
                parse("interrupt", INTERRUPTS, core).into_iter().map(|it| it.name).collect();
            assert_eq!(names, ["1", "33", "NMI", "LOC"], "that of the whole machine is skipped");
        }
        let device = "PCI-MSI 524288-edge nic0-rx-0";
        assert_eq!(events[1], event("interrupt", "33", device, 200));
        assert_eq!(events[3], event("interrupt", "LOC", "Local timer interrupts", 222_222));
        assert_eq!(parse("interrupt", INTERRUPTS, 1), [], "the core is offline");
        assert_eq!(parse("interrupt", "", 0), []);
        let softirqs = "                    CPU0\n          HI:          3\n      NET_RX:     42\n";
        let expected = [event("softirq", "HI", "", 3), event("softirq", "NET_RX", "", 42)];
        assert_eq!(parse("softirq", softirqs, 0), expected);
    }

    #[test]
    fn difference_has_the_most_frequent_first() {
        let of = |local, timer, stolen| CoreEvents {
            events: vec![event("interrupt", "9", "", local), event("softirq", "TIMER", "", timer)],
            stolen: Some(Duration::from_millis(stolen)),
        };
        let since = of(12, 130, 30).since(&of(10, 100, 10));
        assert_eq!(
            since.events,
            [event("softirq", "TIMER", "", 30), event("interrupt", "9", "", 2)]
        );
        assert_eq!(since.stolen, Some(Duration::from_millis(20)));
        assert_eq!(of(1, 1, 0).since(&of(1, 1, 0)).events, []);
    }

    #[test]
    fn reads_this_machine() {
        let core = crate::allowed_cores().unwrap()[0];
        let before = CoreEvents::read(core).unwrap();
        assert!(!before.events.is_empty());
        assert!(CoreEvents::read(core).unwrap().since(&before).events.len() <= before.events.len());
        let (switches, waited) = displacements().unwrap();
        let after = displacements().unwrap();
        assert!(after.0 >= switches && after.1 >= waited);
    }
}
