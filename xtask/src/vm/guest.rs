//! A run of QEMU, without KVM.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::ValueEnum;

use super::cell::{Cell, Driver};
use super::kernel::KernelFiles;
use super::taps;

/// The time after which a guest that reports nothing is ended. A guard, not a verdict on speed: a
/// guest boots within a minute on a busy machine, and each of its steps has a guard of 3 minutes.
const SILENCE_LIMIT: Duration = Duration::from_mins(10);
/// The interval at which the console of a silent guest is read.
const CONSOLE_INTERVAL: Duration = Duration::from_secs(20);
/// What the kernel prints, every 21 s, if QEMU has lost the timer of a processor. Nothing continues
/// in the guest from then on.
const LOST_TIMER: &str = "kthread timer wakeup didn't happen";
/// Two processors: a server and a client that spin. Memory for the unpacked file system.
const MACHINE: [&str; 19] = [
    "-machine",
    "q35",
    "-accel",
    "tcg,thread=multi",
    "-cpu",
    "max",
    "-smp",
    "2",
    "-m",
    "1536",
    "-nodefaults",
    "-no-user-config",
    "-no-reboot",
    "-display",
    "none",
    "-append",
    "console=ttyS0 loglevel=5 panic=-1",
    "-chardev",
    "stdio,id=report,signal=off",
];

/// A running guest. Dropping it ends QEMU.
pub(super) struct Guest {
    child: Child,
    lines: Receiver<String>,
    console: PathBuf,
}

/// What a guest does next.
pub(super) enum Next {
    /// The guest has reported a line.
    Line(String),
    /// QEMU has ended.
    End,
    /// The guest has reported nothing for [`SILENCE_LIMIT`].
    Silence,
    /// QEMU has lost a timer of the guest.
    LostTimer,
}

impl Guest {
    /// Boots a kernel. The console and QEMU's own messages are written to files.
    pub(super) fn boot(
        kernel: &KernelFiles,
        file_system: &Path,
        cells: &[Cell],
        console: &Path,
        messages: &Path,
    ) -> Result<Self> {
        let messages = File::create(messages)
            .with_context(|| format!("cannot create {}", messages.display()))?;
        let has_taps = cells.iter().any(|cell| cell.driver == Driver::VirtioNetMq);
        let mut command = if has_taps { taps::command("setpriv") } else { Command::new("setpriv") };
        // The kernel ends QEMU when this process ends, even by a signal that cannot be handled.
        command.args(["--pdeathsig", "KILL", "qemu-system-x86_64"]).args(MACHINE);
        command.arg("-kernel").arg(&kernel.image).arg("-initrd").arg(file_system);
        command.arg("-serial").arg(format!("file:{}", console.display()));
        command.args(["-serial", "chardev:report"]).args(network_cards(cells));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(messages);
        let mut child = command.spawn().context("cannot run qemu-system-x86_64")?;
        let out = child.stdout.take().expect("standard output is piped");
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(out).split(b'\n') {
                let Ok(line) = line else { break };
                let line = String::from_utf8_lossy(&line).trim_end().to_owned();
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Self { child, lines, console: console.to_owned() })
    }

    /// Waits for the next line.
    pub(super) fn next(&self) -> Next {
        let begun = Instant::now();
        while begun.elapsed() < SILENCE_LIMIT {
            match self.lines.recv_timeout(CONSOLE_INTERVAL) {
                Ok(line) => return Next::Line(line),
                Err(RecvTimeoutError::Disconnected) => return Next::End,
                Err(RecvTimeoutError::Timeout) if self.has_lost_timer() => return Next::LostTimer,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
        Next::Silence
    }

    /// Returns `true` if the console has the kernel's message more than once.
    fn has_lost_timer(&self) -> bool {
        let console = std::fs::read(&self.console).unwrap_or_default();
        String::from_utf8_lossy(&console).matches(LOST_TIMER).count() > 1
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        // A guest that has ended is no error.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the MAC address of a driver's first or second network card.
pub(super) fn mac(driver: Driver, end: u8) -> String {
    format!("52:54:00:00:{:02x}:{end:02x}", driver as u8)
}

/// Returns QEMU's arguments for a pair of network cards of each driver of the cells, each pair on
/// its own hub.
fn network_cards(cells: &[Cell]) -> Vec<String> {
    let mut arguments = Vec::new();
    for &driver in Driver::value_variants() {
        let Some(device) = driver.qemu_device() else { continue };
        if !cells.iter().any(|cell| cell.driver == driver) {
            continue;
        }
        let hub = driver as u8 + 1;
        for end in 0..2 {
            let id = format!("{hub}.{end}");
            arguments.push("-netdev".to_owned());
            // A hub has one queue.
            arguments.push(match driver {
                Driver::VirtioNetMq => taps::netdev(&format!("hub{id}"), end),
                _ => format!("hubport,id=hub{id},hubid={hub}"),
            });
            let mut bus = String::new();
            // An igb occupies the functions of its slot for virtual functions.
            if driver == Driver::Igb {
                arguments.push("-device".to_owned());
                arguments.push(format!("pcie-root-port,id=port{id},chassis={}", end + 1));
                bus = format!(",bus=port{id}");
            }
            let mac = mac(driver, end);
            arguments.push("-device".to_owned());
            arguments.push(format!("{device},netdev=hub{id},mac={mac},romfile={bus}"));
        }
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vm::cell::{Device, Test};

    #[test]
    fn puts_each_igb_behind_its_own_port() {
        let cell = |driver| Cell { driver, device: Device::None, test: Test::Udp };
        let arguments = network_cards(&[cell(Driver::Igb), cell(Driver::Veth)]);
        assert_eq!(arguments.len(), 2 * 6);
        let device = "igb,netdev=hub3.1,mac=52:54:00:00:02:01,romfile=,bus=port3.1";
        assert!(arguments.contains(&device.to_owned()));
    }
}
