//! Two hosts, and rounds between them.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::atomic::{AtomicBool, AtomicUsize};

use hairpin_stack::{Mode, StackSettings};
use hairpin_testbed::{Host, Testbed};
use hairpin_xdp::{InterfaceSettings, UmemSettings};

use crate::arguments::{Arguments, Way};
use crate::kernel_udp::KernelUdp;
use crate::minimal::Minimal;
use crate::port::Port;
use crate::rally::{Ending, Rally, Sample, measured_round_trips, ping_all, pong_all};
use crate::raw::Raw;
use crate::udp::Udp;

const PORT: u16 = 7_000;

/// A way, and where in the kernel its filter runs; the kernel's own has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Side {
    pub(crate) way: Way,
    pub(crate) mode: Option<Mode>,
}

impl Side {
    /// All that are to be measured, in the order of the table.
    pub(crate) fn all(arguments: &Arguments) -> Vec<Self> {
        let ways = arguments.ways();
        let kernel = ways.contains(&Way::KernelUdp);
        let kernel = kernel.then_some(Self { way: Way::KernelUdp, mode: None });
        let past = [Mode::Generic, Mode::Native].into_iter().flat_map(|mode| {
            let past = ways.iter().filter(|&&way| way != Way::KernelUdp);
            past.map(move |&way| Self { way, mode: Some(mode) })
        });
        kernel.into_iter().chain(past).collect()
    }

    /// The name of the mode.
    pub(crate) fn mode_name(self) -> &'static str {
        match self.mode {
            None => "-",
            Some(Mode::Generic) => "generic",
            Some(_) => "native",
        }
    }
}

/// Where rounds are run.
#[derive(Debug)]
pub(crate) struct Stand {
    /// One for each side.
    beds: Vec<Testbed>,
    /// Of pong and ping.
    cores: [usize; 2],
    samples: u32,
    umem: UmemSettings,
}

impl Stand {
    pub(crate) fn set_up(arguments: &Arguments, sides: usize) -> io::Result<Self> {
        let cores = hairpin_host::allowed_cores()?;
        let [pong, ping, ..] = cores[..] else {
            return Err(io::Error::other("ping and pong need a core each, and there is one"));
        };
        let mut umem = UmemSettings::default();
        umem.frames = arguments.frames.unwrap_or(umem.frames);
        let beds: Result<_, _> = (0..sides).map(|_| Testbed::namespaces()).collect();
        Ok(Self {
            beds: beds.map_err(io::Error::other)?,
            cores: [pong, ping],
            samples: arguments.samples,
            umem,
        })
    }

    pub(crate) fn describe(&self) -> String {
        let [pong, ping] = self.cores;
        let samples = self.samples;
        format!(
            "{}, for each way and mode; pong on core {pong}, ping on core {ping}; {samples} round \
             trips a round, in turns",
            self.beds.first().map_or("", Testbed::describe)
        )
    }

    /// A round of all sides.
    pub(crate) fn round(&self, sides: &[Side], signalled: &AtomicBool) -> io::Result<Vec<Sample>> {
        let ends = sides.iter().zip(&self.beds).map(|(&side, bed)| self.open(side, bed));
        let (mut pongs, mut pings): (Vec<_>, Vec<_>) =
            ends.collect::<io::Result<Vec<_>>>()?.into_iter().map(<(_, _)>::from).unzip();
        let [pong_core, ping_core] = self.cores;
        let turn = &AtomicUsize::new(0);
        let pin = |core| hairpin_host::pin(core).map_err(io::Error::other);
        std::thread::scope(|scope| {
            let pong = scope.spawn(move || {
                pin(pong_core)?;
                pong_all(&mut pongs, turn)
            });
            let ping = scope.spawn(move || {
                let _ending = Ending(turn);
                pin(ping_core)?;
                ping_all(&mut pings, self.samples, turn, signalled)
            });
            let samples = ping.join().expect("the ping does not panic");
            pong.join().expect("the pong does not panic")?;
            samples
        })
    }

    /// Both ends of a side, pong's first.
    fn open(&self, side: Side, bed: &Testbed) -> io::Result<[Box<dyn Rally>; 2]> {
        let mode = side.mode;
        Ok(match side.way {
            Way::KernelUdp => boxed(both(bed, open_kernel)?),
            Way::Minimal => boxed(both(bed, |host| open_minimal(host, mode))?),
            Way::Raw => boxed(both(bed, |host| self.open_raw(host, mode))?),
            Way::RawShared => boxed(both(bed, |host| self.open_shared(host, mode))?),
            Way::Udp => boxed(both(bed, |host| self.open_udp(host, mode))?),
        })
    }

    /// Round trips of both ends on one thread, in the mode that is better here.
    pub(crate) fn count(&self, way: Way, round_trips: u32) -> io::Result<String> {
        let mode = Some(Mode::Generic);
        match way {
            Way::KernelUdp => self.count_by(open_kernel, round_trips),
            Way::Minimal => self.count_by(|host| open_minimal(host, mode), round_trips),
            Way::Raw => self.count_by(|host| self.open_raw(host, mode), round_trips),
            Way::RawShared => self.count_by(|host| self.open_shared(host, mode), round_trips),
            Way::Udp => self.count_by(|host| self.open_udp(host, mode), round_trips),
        }
    }

    fn count_by<P: Port + Send>(
        &self,
        open: impl Fn(&Host) -> io::Result<P> + Sync,
        round_trips: u32,
    ) -> io::Result<String> {
        let [mut pong, mut ping] = both(&self.beds[0], open)?;
        hairpin_host::pin(self.cores[1]).map_err(io::Error::other)?;
        let answered = measured_round_trips(&mut ping, &mut pong, round_trips)?;
        Ok(format!("{round_trips} round trips, {answered} answered at once"))
    }

    fn open_raw(&self, host: &Host, mode: Option<Mode>) -> io::Result<Raw> {
        Raw::open(host.interface(), &self.settings(mode).interface)
    }

    fn open_shared(&self, host: &Host, mode: Option<Mode>) -> io::Result<Raw> {
        Raw::shared(host.interface(), &self.settings(mode))
    }

    fn open_udp(&self, host: &Host, mode: Option<Mode>) -> io::Result<Udp> {
        let [local, remote] = addresses(host);
        Udp::open(host.interface(), &self.settings(mode), local, remote)
    }

    fn settings(&self, mode: Option<Mode>) -> StackSettings {
        let (mode, umem) = (mode.unwrap_or_default(), self.umem.clone());
        let interface = InterfaceSettings { mode, umem, ..InterfaceSettings::default() };
        StackSettings { interface, ..StackSettings::default() }
    }
}

fn boxed<P: Rally + 'static>(ends: [P; 2]) -> [Box<dyn Rally>; 2] {
    ends.map(|end| Box::new(end) as Box<dyn Rally>)
}

/// A port on each host, pong's first.
fn both<P: Port + Send>(
    bed: &Testbed,
    open: impl Fn(&Host) -> io::Result<P> + Sync,
) -> io::Result<[P; 2]> {
    let [pong, ping] = bed.hosts();
    let at = |host: &Host| host.run(|| open(host)).flatten();
    let mut ports = [at(pong)?, at(ping)?];
    // What was sent to find the way has arrived by now.
    for port in &mut ports {
        while port.receive()?.is_some() {}
    }
    Ok(ports)
}

fn open_kernel(host: &Host) -> io::Result<KernelUdp> {
    let [local, remote] = addresses(host);
    KernelUdp::open(local, remote)
}

/// Of this host and of the other: the two are .1 and .2 of one network.
fn addresses(host: &Host) -> [SocketAddrV4; 2] {
    let [a, b, c, last] = host.address().octets();
    [last, 3 - last].map(|last| SocketAddrV4::new(Ipv4Addr::new(a, b, c, last), PORT))
}

fn open_minimal(host: &Host, mode: Option<Mode>) -> io::Result<Minimal> {
    Minimal::open(host.interface_index(), mode == Some(Mode::Native))
}
