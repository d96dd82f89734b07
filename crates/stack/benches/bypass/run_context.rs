//! The hosts of the benchmark, and the rounds between them.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize};

use hairpin_stack::{Mode, Stack, StackSettings};
use hairpin_testbed::{Host, MinimalSocket, Testbed};
use hairpin_xdp::{InterfaceSettings, UmemSettings};

use crate::args::{BenchArgs, Transport};
use crate::bulk::Rates;
use crate::floor;
use crate::kernel_udp::KernelUdp;
use crate::ping_loop::{Ending, PingLoop, Sample, measured_round_trips, ping_all, pong_all};
use crate::port::Port;
use crate::raw::Raw;
use crate::tcp::{self, KernelTcp, Polled, Tcp};
use crate::udp::Udp;

const PORT: u16 = 7_000;

/// A transport and the mode of its filter; the kernel's own has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BenchCase {
    pub(crate) transport: Transport,
    pub(crate) mode: Option<Mode>,
}

impl BenchCase {
    /// Returns all cases to measure, in the order of the table.
    pub(crate) fn all(args: &BenchArgs) -> Vec<Self> {
        let transports = args.transports();
        let (kernel, past): (Vec<_>, Vec<_>) =
            transports.iter().partition(|transport| transport.is_kernel());
        let kernel = kernel.into_iter().map(|transport| Self { transport, mode: None });
        let past = [Mode::Generic, Mode::Native].into_iter().flat_map(|mode| {
            past.iter().map(move |&transport| Self { transport, mode: Some(mode) })
        });
        kernel.chain(past.collect::<Vec<_>>()).collect()
    }

    /// Returns the name of the mode.
    pub(crate) fn mode_name(self) -> &'static str {
        match self.mode {
            None => "-",
            Some(Mode::Generic) => "generic",
            Some(_) => "native",
        }
    }
}

/// The environment of the rounds.
#[derive(Debug)]
pub(crate) struct RunContext {
    /// The hosts of each case.
    beds: Vec<Testbed>,
    /// The cores of pong and ping.
    cores: [usize; 2],
    samples: u32,
    umem: UmemSettings,
}

impl RunContext {
    pub(crate) fn new(args: &BenchArgs, cases: usize) -> io::Result<Self> {
        let cores = hairpin_host::allowed_cores()?;
        let [pong, ping, ..] = cores[..] else {
            return Err(io::Error::other(
                "cannot run ping and pong: two cores are required, one is allowed",
            ));
        };
        let mut umem = UmemSettings::default();
        umem.frames = args.frames.unwrap_or(umem.frames);
        let beds: Result<_, _> = (0..cases).map(|_| Testbed::namespaces()).collect();
        Ok(Self {
            beds: beds.map_err(io::Error::other)?,
            cores: [pong, ping],
            samples: args.samples,
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

    /// Runs a round of all cases.
    pub(crate) fn round(
        &self,
        cases: &[BenchCase],
        signalled: &AtomicBool,
    ) -> io::Result<Vec<Sample>> {
        let ends = cases.iter().zip(&self.beds).map(|(&case, testbed)| self.open(case, testbed));
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
            let samples = ping.join().expect("the ping thread does not panic");
            pong.join().expect("the pong thread does not panic")?;
            samples
        })
    }

    /// Opens both ends of a case, pong's first.
    fn open(&self, case: BenchCase, testbed: &Testbed) -> io::Result<[Box<dyn PingLoop>; 2]> {
        let mode = case.mode;
        Ok(match case.transport {
            Transport::KernelUdp => boxed(both(testbed, open_kernel)?),
            Transport::Minimal => boxed(both(testbed, |host| open_minimal(host, mode))?),
            Transport::Raw => boxed(both(testbed, |host| self.open_raw(host, mode))?),
            Transport::RawShared => boxed(both(testbed, |host| self.open_shared(host, mode))?),
            Transport::Udp => boxed(both(testbed, |host| self.open_udp(host, mode))?),
            Transport::KernelTcp => boxed(connect(testbed)?.map(KernelTcp::new)),
            Transport::Tcp => boxed(self.open_tcp(testbed, mode)?),
        })
    }

    /// Does round trips of both ends on one thread, in generic mode, which is faster on a veth.
    pub(crate) fn count(
        &self,
        transport: Transport,
        round_trips: u32,
        connections: Option<u32>,
    ) -> io::Result<String> {
        let mode = Some(Mode::Generic);
        match transport {
            Transport::Tcp if let Some(connections) = connections => {
                self.count_polled(connections, round_trips)
            }
            Transport::KernelUdp => self.count_by(open_kernel, round_trips),
            Transport::Minimal => self.count_by(|host| open_minimal(host, mode), round_trips),
            Transport::Raw => self.count_by(|host| self.open_raw(host, mode), round_trips),
            Transport::RawShared => self.count_by(|host| self.open_shared(host, mode), round_trips),
            Transport::Udp => self.count_by(|host| self.open_udp(host, mode), round_trips),
            Transport::KernelTcp => {
                self.count_between(connect(&self.beds[0])?.map(KernelTcp::new), round_trips)
            }
            Transport::Tcp => self.count_between(self.open_tcp(&self.beds[0], mode)?, round_trips),
        }
    }

    /// Does round trips over one connection of many that are taken over and polled together.
    fn count_polled(&self, connections: u32, round_trips: u32) -> io::Result<String> {
        let testbed = &self.beds[0];
        let [pong_host, ping_host] = testbed.hosts();
        let settings = self.settings(Some(Mode::Generic));
        let [pong, ping] = connect(testbed)?;
        let open = || Tcp::open(pong_host.interface(), &settings, pong);
        let mut pong = pong_host.run(open).flatten()?;
        let open = || Stack::open(ping_host.interface(), &settings).map_err(io::Error::other);
        let mut ping = Polled::new(ping_host.run(open).flatten()?, ping)?;
        let mut peers = Vec::new();
        for _ in 1..connections {
            let [far, near] = connect(testbed)?;
            ping.add(near)?;
            peers.push(far);
        }
        hairpin_host::pin(self.cores[1]).map_err(io::Error::other)?;
        measured_round_trips(&mut ping, &mut pong, round_trips)?;
        Ok(format!("{round_trips} round trips, {} connections taken over", ping.taken_over()))
    }

    /// Measures takeovers and handbacks in both modes.
    pub(crate) fn transitions(&self, count: u32) -> io::Result<String> {
        let pin = |core| hairpin_host::pin(core).map_err(io::Error::other);
        pin(self.cores[1])?;
        let mut text = format!("{count} takeovers and handbacks in request and response, µs\n");
        for (mode, testbed) in [Mode::Generic, Mode::Native].into_iter().zip(&self.beds) {
            let [pong, ping] = connect(testbed)?;
            let host = &testbed.hosts()[1];
            let settings = self.settings(Some(mode));
            let mut tcp = host.run(|| Tcp::open(host.interface(), &settings, ping)).flatten()?;
            tcp.0.hand_back()?;
            let pong_core = self.cores[0];
            let pin_pong = || drop(pin(pong_core));
            let times = tcp::transitions(&mut tcp, KernelTcp::new(pong), count, pin_pong)?;
            append(&mut text, &mode.to_string(), &times);
        }
        let [pong, ping] = connect(&self.beds[0])?.map(KernelTcp::new);
        let (mut ping, pong_core) = (ping, self.cores[0]);
        let pin_pong = || drop(pin(pong_core));
        let times = tcp::between_requests(&mut ping, pong, count, pin_pong, floor::transition)?;
        append(&mut text, "kernel's calls alone", &times);
        Ok(text)
    }

    /// Measures bulk transfers.
    pub(crate) fn bulk(&self, rounds: u32) -> io::Result<String> {
        let mut rates = Rates::default();
        for _ in 0..rounds {
            rates.add_round(&self.beds, |mode| self.settings(Some(mode)), connect)?;
        }
        Ok(rates.render())
    }

    fn count_by<P: Port + Send>(
        &self,
        open: impl Fn(&Host) -> io::Result<P> + Sync,
        round_trips: u32,
    ) -> io::Result<String> {
        self.count_between(both(&self.beds[0], open)?, round_trips)
    }

    fn count_between<P: Port>(
        &self,
        [mut pong, mut ping]: [P; 2],
        round_trips: u32,
    ) -> io::Result<String> {
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

    /// Opens connections that are taken over at both ends.
    fn open_tcp(&self, testbed: &Testbed, mode: Option<Mode>) -> io::Result<[Tcp; 2]> {
        let [pong, ping] = connect(testbed)?;
        let settings = self.settings(mode);
        let open = |host: &Host, stream| {
            host.run(|| Tcp::open(host.interface(), &settings, stream)).flatten()
        };
        let hosts = testbed.hosts();
        Ok([open(&hosts[0], pong)?, open(&hosts[1], ping)?])
    }

    fn settings(&self, mode: Option<Mode>) -> StackSettings {
        let (mode, umem) = (mode.unwrap_or_default(), self.umem.clone());
        let interface = InterfaceSettings { mode, umem, ..InterfaceSettings::default() };
        StackSettings { interface, ..StackSettings::default() }
    }
}

/// Appends the times of takeovers and handbacks.
fn append(text: &mut String, of: &str, times: &[Vec<u128>; 2]) {
    for (name, times) in ["takeover", "handback"].into_iter().zip(times) {
        let at = |part: usize| times[(times.len() - 1) * part / 100] as f64 / 1e3;
        *text += &format!("{of:<20} {name} p50 {:.3} p99 {:.3}\n", at(50), at(99));
    }
}

fn boxed<P: PingLoop + 'static>(ends: [P; 2]) -> [Box<dyn PingLoop>; 2] {
    ends.map(|end| Box::new(end) as Box<dyn PingLoop>)
}

/// Opens a port on each host, pong's first.
fn both<P: Port + Send>(
    testbed: &Testbed,
    open: impl Fn(&Host) -> io::Result<P> + Sync,
) -> io::Result<[P; 2]> {
    let [pong, ping] = testbed.hosts();
    let at = |host: &Host| host.run(|| open(host)).flatten();
    let mut ports = [at(pong)?, at(ping)?];
    // Discards the datagrams that were sent to resolve the neighbor.
    for port in &mut ports {
        while port.receive()?.is_some() {}
    }
    Ok(ports)
}

/// Connects both hosts over TCP, pong's end first.
fn connect(testbed: &Testbed) -> io::Result<[TcpStream; 2]> {
    let [local, _] = addresses(&testbed.hosts()[0]);
    tcp::connect(testbed.hosts(), *local.ip())
}

fn open_kernel(host: &Host) -> io::Result<KernelUdp> {
    let [local, remote] = addresses(host);
    KernelUdp::open(local, remote)
}

/// Returns the addresses of this host and of the other: .1 and .2 of one network.
fn addresses(host: &Host) -> [SocketAddrV4; 2] {
    let [a, b, c, last] = host.address().octets();
    [last, 3 - last].map(|last| SocketAddrV4::new(Ipv4Addr::new(a, b, c, last), PORT))
}

fn open_minimal(host: &Host, mode: Option<Mode>) -> io::Result<MinimalSocket> {
    MinimalSocket::open(host.interface_index(), mode == Some(Mode::Native))
}
