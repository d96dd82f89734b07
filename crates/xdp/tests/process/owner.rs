//! The process that is killed: it opens, uses and closes an interface in a loop.

use std::fmt;
use std::time::Duration;

use hairpin_xdp::{Interface, InterfaceError, InterfaceSettings, LinkError, Mode};

use crate::support::{entry, print_line};

/// The environment variable with the owner's [`Plan`].
pub(crate) const PLAN: &str = "HAIRPIN_XDP_DEATH";
const MS: Duration = Duration::from_millis(1);

/// The phases of an owner, printed as they begin.
pub(crate) const PHASES: [&str; 7] =
    ["opening", "entering", "receiving", "sending", "removing", "closing", "closed"];

/// The parameters of an owner.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) mode: Mode,
    /// The phase in which another thread forks, and its delay in microseconds.
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
        let fields: Vec<_> = text.split(' ').collect();
        let mode = if fields[0] == "native" { Mode::Native } else { Mode::Generic };
        let phase = PHASES.into_iter().find(|phase| *phase == fields[1]);
        Self { mode, forks: phase.map(|phase| (phase, fields[2].parse().unwrap())) }
    }
}

/// Forks a child that lives until standard input is closed.
fn fork() {
    // SAFETY: the child makes three system calls and exits.
    if unsafe { libc::fork() } == 0 {
        let (line, mut byte) = (b"\nforked\n", 0_u8);
        // SAFETY: the buffers have the given lengths.
        unsafe {
            libc::write(1, line.as_ptr().cast(), line.len());
            libc::read(0, (&raw mut byte).cast(), 1);
            libc::_exit(0);
        }
    }
}

struct Phases {
    forks: Option<(&'static str, u64)>,
}

impl Phases {
    /// Prints the phase and starts the fork planned for it.
    fn begin(&mut self, phase: &'static str) {
        print_line(phase);
        if let Some((_, wait)) = self.forks.take_if(|(planned, _)| *planned == phase) {
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_micros(wait));
                fork();
            });
        }
    }
}

/// Opens the interface. A child forked just before may keep the previous link attached until it
/// first runs.
fn open(settings: &InterfaceSettings) -> Interface {
    let opened = (0..60_000).find_map(|_| match Interface::open("veth0", settings) {
        Err(InterfaceError::Link { reason: LinkError::Busy(_), .. }) => {
            std::thread::sleep(MS);
            None
        }
        other => Some(other.unwrap()),
    });
    opened.unwrap()
}

/// Runs the loop until the process is killed.
pub(crate) fn own(plan: &Plan) -> ! {
    let settings = InterfaceSettings { mode: plan.mode, ..InterfaceSettings::default() };
    let mut phases = Phases { forks: plan.forks };
    loop {
        phases.begin("opening");
        let mut interface = open(&settings);
        phases.begin("entering");
        interface.redirect(&entry()).unwrap();
        phases.begin("receiving");
        for _ in 0..4 {
            interface.parts().2[0].wait(Some(MS)).unwrap();
            while let Some((queue, mut packet)) = interface.receive().unwrap() {
                interface.bytes_mut(&mut packet)[..12].rotate_left(6);
                if let Err(packet) = interface.transmit(queue, packet) {
                    interface.release(packet.into_frame());
                }
            }
        }
        phases.begin("sending");
        for _ in 0..40 {
            let Some(mut packet) = interface.packet(60) else { break };
            interface.bytes_mut(&mut packet).fill(0xb5);
            if let Err(packet) = interface.transmit(0, packet) {
                interface.release(packet.into_frame());
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
