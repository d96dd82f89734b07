//! What is killed: it opens an interface, uses and closes it, again and again.

use std::fmt;
use std::fs::File;
use std::io::Write;
use std::mem::ManuallyDrop;
use std::net::SocketAddr;
use std::os::fd::FromRawFd;
use std::time::Duration;

use hairpin_xdp::{Entry, Interface, InterfaceError, InterfaceSettings, LinkError, Mode, Protocol};

/// Set in the environment of an owner: its [`Plan`].
pub(crate) const PLAN: &str = "HAIRPIN_XDP_DEATH";
pub(crate) const PORT: u16 = 5_000;
const MS: Duration = Duration::from_millis(1);

/// What an owner does, and says that it does.
pub(crate) const PHASES: [&str; 7] =
    ["opening", "entering", "receiving", "sending", "removing", "closing", "closed"];

/// How an owner is to be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) mode: Mode,
    /// In which phase another thread forks, and after how many microseconds.
    pub(crate) forks: Option<(&'static str, u64)>,
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (phase, wait) = self.forks.unwrap_or(("never", 0));
        write!(f, "{} {phase} {wait}", self.mode)
    }
}

impl From<&str> for Plan {
    fn from(text: &str) -> Self {
        let words: Vec<_> = text.split(' ').collect();
        let mode = if words[0] == "native" { Mode::Native } else { Mode::Generic };
        let phase = PHASES.into_iter().find(|phase| *phase == words[1]);
        Self { mode, forks: phase.map(|phase| (phase, words[2].parse().unwrap())) }
    }
}

/// Says a word, past whatever locks another thread had at the time of a fork.
fn say(word: &str) {
    // SAFETY: standard output, which is not closed at the end.
    let mut out = ManuallyDrop::new(unsafe { File::from_raw_fd(1) });
    out.write_all(format!("\n{word}\n").as_bytes()).unwrap();
}

/// Forks a child that lives as long as standard input.
fn fork() {
    // SAFETY: the child makes three system calls and ends.
    if unsafe { libc::fork() } == 0 {
        let (word, mut byte) = (b"\nforked\n", 0_u8);
        // SAFETY: room for one byte, and a word as long as is said.
        unsafe {
            libc::write(1, word.as_ptr().cast(), word.len());
            libc::read(0, (&raw mut byte).cast(), 1);
            libc::_exit(0);
        }
    }
}

struct Phases {
    forks: Option<(&'static str, u64)>,
}

impl Phases {
    /// Says what begins, and has the fork made that is planned for it.
    fn begin(&mut self, phase: &'static str) {
        say(phase);
        if let Some((_, wait)) = self.forks.take_if(|(planned, _)| *planned == phase) {
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_micros(wait));
                fork();
            });
        }
    }
}

fn entry() -> Entry {
    let local = SocketAddr::from(([10, 77, 0, 1], PORT));
    Entry::Local { protocol: Protocol::Udp, vlan: None, local }
}

/// A child that was just forked off may have the last one's link until it runs.
fn open(settings: &InterfaceSettings) -> Interface {
    let opened = (0..5_000).find_map(|_| match Interface::open("veth0", settings) {
        Err(InterfaceError::Link { reason: LinkError::Busy, .. }) => {
            std::thread::sleep(MS);
            None
        }
        other => Some(other.unwrap()),
    });
    opened.unwrap()
}

/// What the copy does until it is killed.
pub(crate) fn own(plan: &Plan) -> ! {
    let settings = InterfaceSettings { mode: plan.mode, ..InterfaceSettings::default() };
    let mut phases = Phases { forks: plan.forks };
    loop {
        phases.begin("opening");
        let mut interface = open(&settings);
        phases.begin("entering");
        interface.enter(&entry()).unwrap();
        phases.begin("receiving");
        for _ in 0..4 {
            interface.parts().2[0].wait(Some(MS)).unwrap();
            while let Some((queue, mut packet)) = interface.receive().unwrap() {
                interface.bytes_mut(&mut packet)[..12].rotate_left(6);
                if let Err(packet) = interface.transmit(queue, packet) {
                    interface.give(packet.into_frame());
                }
            }
        }
        phases.begin("sending");
        for _ in 0..40 {
            let Some(mut packet) = interface.packet(60) else { break };
            interface.bytes_mut(&mut packet).fill(0xb5);
            if let Err(packet) = interface.transmit(0, packet) {
                interface.give(packet.into_frame());
            }
            interface.flush().unwrap();
            std::thread::sleep(MS / 10);
        }
        phases.begin("removing");
        interface.remove(&entry()).unwrap();
        phases.begin("closing");
        drop(interface);
        phases.begin("closed");
    }
}
