//! Programs that are stopped: by SIGSTOP, by a debugger, or in a frozen control group.
//!
//! The kernel would answer the peer's keep-alive probes for such a program. While it is stopped,
//! the keeper sends the peer an acknowledgment with the numbers of the record, which a peer takes
//! for such an answer (RFC 9293, 3.8.4).

use std::fs;
use std::time::{Duration, Instant};

use super::requests::Client;
use crate::tcp::injector::Injector;

/// The time between two looks at the programs, and the shortest interval of a peer's probes on
/// Linux (`TCP_KEEPINTVL`).
const LOOK: Duration = Duration::from_secs(1);
/// The time between two acknowledgments.
const REPEAT: Duration = Duration::from_millis(500);

/// The time of the next look.
#[derive(Debug)]
pub(super) struct Look(Instant);

impl Look {
    pub(super) fn new() -> Self {
        Self(Instant::now())
    }

    /// Returns the time until the next look; `None` while nothing is redirected.
    pub(super) fn due_in(&self, clients: &[Client]) -> Option<Duration> {
        let redirects = |it: &Client| !it.orphans.is_empty() || !it.redirects.is_empty();
        let is_needed = clients.iter().any(redirects);
        is_needed.then(|| self.0.saturating_duration_since(Instant::now()))
    }

    /// Checks what is redirected, and acknowledges for the programs that are stopped, if it is
    /// time.
    pub(super) fn look(&mut self, clients: &mut [Client], injector: &Injector) {
        if self.due_in(clients) != Some(Duration::ZERO) {
            return;
        }
        clients.iter_mut().for_each(Client::recheck);
        let has_connection = |client: &&Client| !client.orphans.is_empty();
        let stopped = clients.iter().filter(has_connection);
        let stopped: Vec<_> = stopped.filter(|client| is_stopped(client.process_id)).collect();
        for client in &stopped {
            for (slot, orphan) in &client.orphans {
                if let Some(mut packet) = orphan.keep_alive(&client.state, *slot) {
                    // The next one follows.
                    let _ = injector.inject(&mut packet);
                }
            }
        }
        self.0 = Instant::now() + if stopped.is_empty() { LOOK } else { REPEAT };
    }
}

/// Returns `true` if no thread of a process can run: see proc_pid_stat(5) and cgroups(7).
fn is_stopped(process: libc::pid_t) -> bool {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let states = threads.filter_map(|thread| {
        let stat = fs::read_to_string(thread.path().join("stat")).ok()?;
        // The second field may contain blanks and brackets.
        stat.rsplit_once(") ")?.1.chars().next()
    });
    // A main thread that has exited remains until the last one has.
    let states: Vec<char> = states.filter(|state| *state != 'Z').collect();
    if !states.is_empty() && states.iter().all(|state| matches!(state, 'T' | 't')) {
        return true;
    }
    read(&format!("/proc/{process}/cgroup")).lines().any(|line| {
        // Of version 2, or of a hierarchy of version 1 with the freezer.
        let (file, frozen) = match line.split_once(':').and_then(|(_, rest)| rest.split_once(':')) {
            Some(("", path)) => (format!("{path}/cgroup.events"), "frozen 1"),
            Some(("freezer", path)) => (format!("/freezer{path}/freezer.state"), "FROZEN"),
            _ => return false,
        };
        read(&format!("/sys/fs/cgroup{file}")).lines().any(|line| line == frozen)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the state of a child after a signal, once it is `expected` or after 10 s.
    fn state_after(child: &std::process::Child, signal: i32, expected: bool) -> bool {
        let process = child.id().cast_signed();
        // SAFETY: the call takes integers, and the child is not waited for yet.
        unsafe { libc::kill(process, signal) };
        let end = Instant::now() + Duration::from_secs(10);
        while is_stopped(process) != expected && Instant::now() < end {
            std::thread::yield_now();
        }
        is_stopped(process)
    }

    #[test]
    fn stopped_process_is_found() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        assert!(!is_stopped(child.id().cast_signed()));
        assert!(state_after(&child, libc::SIGSTOP, true));
        assert!(!state_after(&child, libc::SIGCONT, false));
        let group = format!("/sys/fs/cgroup/freezer/hairpin-{}", std::process::id());
        if fs::create_dir(&group).is_ok() {
            let write =
                |file: &str, text: &str| fs::write(format!("{group}/{file}"), text).unwrap();
            write("cgroup.procs", &child.id().to_string());
            write("freezer.state", "FROZEN");
            assert!(state_after(&child, 0, true));
            write("freezer.state", "THAWED");
            assert!(!state_after(&child, 0, false));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let _ = fs::remove_dir(&group);
        assert!(!is_stopped(child.id().cast_signed()), "there is no such process");
    }
}
