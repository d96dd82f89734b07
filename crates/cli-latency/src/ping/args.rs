//! The arguments of `hairpin ping`.

use std::net::{Ipv4Addr, SocketAddrV4};

use anyhow::{Context, Result, bail};
use hairpin_cli_harness::args::{INTERVAL_US_MAX, parse_address, parse_mac, parse_wait};
use hairpin_cli_harness::output;
use hairpin_cli_harness::transport;
use hairpin_cli_harness::two_numbers::parse_two;
use hairpin_cli_harness::usage::usage_error;
use hairpin_host::allowed_cores;
use hairpin_reactor::{CAPACITY, Wait};

use super::ping_case::PingCase;
use super::ping_loop::Load;
use super::setup::{PongAddress, Protocol, Stamping};
use super::{protocol_detection, raw_args};
use crate::pong::{DEFAULT_PORT, Slowness, SlownessArgs};

/// The longest message: about the limit of UDP over IPv4.
pub(crate) const SIZE_MAX: usize = 65_000;
/// The default message size in bytes: the smallest that sockperf accepts.
const SIZE: usize = 14;
/// The default number of messages recorded per case, over all its rounds.
const SAMPLES: u64 = 20_000;
/// The number of messages recorded per case with --quick.
const QUICK_SAMPLES: u64 = 2_100;
/// The largest number of samples: more would need gigabytes.
const SAMPLES_MAX: u64 = 10_000_000;
/// The pings of each round that are not recorded.
const WARM_UP: u64 = 200;
/// The default number of rounds of each case.
const ROUNDS: u32 = 7;
/// The highest rate: faster than any clock here.
const RATE_MAX: u64 = 1_000_000;
/// The default duration of each round of a flood, in seconds.
const FLOOD_SECONDS: u64 = 2;
const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// `hairpin ping`: measures round trips between two processes over UDP, multicast or TCP, through
/// the kernel or with AF_XDP (--transport xdp), or over raw frames with AF_XDP.
///
/// Without ADDR it starts its own `pong` in a second process. As root, and as an ordinary user
/// where the kernel allows user namespaces, each process has a network namespace, joined by a veth.
/// Otherwise both use loopback. With HOST, a `hairpin pong --listen ADDR:PORT` answers there; the
/// default port is 9200, on which `pong` listens by default. Without --protocol, its protocol is
/// found with one ping over udp, tcp and rds. Raw frames have no address: with --interface, the
/// first pong that answers there is used.
///
/// Without an interval (0) the loop is closed: a ping is sent when the previous one is answered, or
/// lost after a second. With an interval, pings are sent on schedule, and latency is measured from
/// the intended send time (case "ping") and from the actual one ("sent to answer").
///
/// Cases alternate in rounds (A B C A B C ...), each with its own processes. The defaults take
/// about half a minute, --quick less than 20 s with up to ten cases.
#[derive(clap::Args, Debug, Clone)]
pub struct PingArgs {
    /// Address or name of the pong, or its multicast group [default port: 9200] [default: start a
    /// pong]
    #[arg(value_name = "HOST[:PORT]", value_parser = parse_remote)]
    pub(super) remote: Option<SocketAddrV4>,

    /// Protocols: udp, multicast, tcp, raw, rds, rds-ethernet [default: udp,tcp; with HOST that of
    /// the pong]
    #[arg(long, value_enum, value_delimiter = ',')]
    pub(super) protocol: Vec<Protocol>,

    /// Waits of both processes: block, poll, epoll, spin, io_uring [default: all]
    #[arg(long, value_name = "WAIT", value_delimiter = ',', value_parser = parse_wait)]
    pub(super) wait: Vec<Wait>,

    /// Wait of the pong [default: the same]
    #[arg(long, value_name = "WAIT", value_parser = parse_wait, conflicts_with = "remote")]
    pub(super) pong_wait: Option<Wait>,

    /// Message sizes in bytes, 1 to 65000
    #[arg(long, value_name = "BYTES", value_delimiter = ',', default_values_t = [SIZE],
          value_parser = parse_size)]
    size: Vec<usize>,

    /// Intervals between pings in microseconds, 0 for a closed loop [default: 0]
    #[arg(long, value_name = "N", value_delimiter = ',',
          value_parser = clap::value_parser!(u64).range(0..=INTERVAL_US_MAX))]
    interval_us: Vec<u64>,

    /// Pings per second, instead of an interval
    #[arg(long, value_name = "N", conflicts_with = "interval_us",
          value_parser = clap::value_parser!(u64).range(1..=RATE_MAX))]
    rate: Option<u64>,

    /// Connections (UDP: sockets) that pings are distributed over
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = parse_connections)]
    pub(super) connections: usize,

    /// Break the latency down by the timestamps of the packets
    #[arg(long, value_enum, default_value_t = Stamping::None)]
    pub(super) timestamps: Stamping,

    /// Send one way at full speed and measure messages per second, sent and received
    #[arg(long, conflicts_with_all = ["interval_us", "rate", "samples", "timestamps"])]
    pub(super) flood: bool,

    /// Duration of each round of a flood in seconds
    #[arg(long, value_name = "N", default_value_t = FLOOD_SECONDS, requires = "flood",
          value_parser = clap::value_parser!(u64).range(1..=3_600))]
    seconds: u64,

    /// Pings recorded per case, over all its rounds
    #[arg(long, value_name = "N", default_value_t = SAMPLES,
          value_parser = clap::value_parser!(u64).range(1..=SAMPLES_MAX))]
    samples: u64,

    /// Rounds of each case
    #[arg(long, value_name = "N", default_value_t = ROUNDS,
          value_parser = clap::value_parser!(u32).range(1..=1_000))]
    rounds: u32,

    /// Record 2,100 samples per case
    #[arg(long, conflicts_with = "samples")]
    quick: bool,

    /// Pin the pong to core A and the ping to core B [default: the first two allowed]
    #[arg(long, value_name = "A,B", value_parser = parse_pair)]
    cpus: Option<[usize; 2]>,

    /// Run over loopback with the address of this interface; with HOST or raw frames, send from
    /// this interface
    #[arg(long, value_name = "IF")]
    pub(super) interface: Option<String>,

    /// Ethernet address of the pong for raw frames [default: the first that answers]
    #[arg(long, value_name = "MAC", requires = "interface", value_parser = parse_mac)]
    pub(super) peer: Option<[u8; 6]>,

    #[command(flatten)]
    pub(super) transport: transport::TransportArgs,

    #[command(flatten)]
    slowness: SlownessArgs,

    #[command(flatten)]
    pub(super) output: output::OutputArgs,
}

/// The cores of pong and ping; `None` leaves the choice to the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cores {
    pub(crate) pong: Option<usize>,
    pub(crate) ping: Option<usize>,
}

impl PingArgs {
    /// Returns the cases, in the order of the table.
    pub(super) fn plan(&self) -> Vec<PingCase> {
        let protocols = or(&self.protocol, &[Protocol::Udp, Protocol::Tcp]);
        let mut cases = Vec::new();
        for &protocol in protocols {
            for &size in &self.size {
                for interval_ns in self.intervals_ns() {
                    let load = self.load(interval_ns);
                    cases.extend(or(&self.wait, &Wait::ALL).iter().map(|&wait| PingCase {
                        protocol,
                        transport: self.transport,
                        wait,
                        pong_wait: self.pong_wait.unwrap_or(wait),
                        size,
                        load,
                        flood_ms: self.flood.then_some(self.seconds * 1_000),
                    }));
                }
            }
        }
        cases
    }

    /// Returns the number of rounds of each case.
    pub(super) fn rounds(&self) -> usize {
        self.rounds as usize
    }

    /// Returns `true` if messages are sent one way only.
    pub(super) fn is_flood(&self) -> bool {
        self.flood
    }

    /// Returns the injected delays of the pong.
    pub(super) fn slowness(&self) -> Slowness {
        self.slowness.slowness()
    }

    /// Returns `true` if pings are sent as raw frames.
    pub(super) fn is_raw(&self) -> bool {
        self.protocol.contains(&Protocol::Raw)
    }

    /// Returns the address of a running pong, or `None` if one must be started.
    pub(super) fn place(&self) -> Option<PongAddress> {
        let is_behind = self.is_raw() && self.interface.is_some();
        let raw = is_behind.then(|| PongAddress::raw(self.peer));
        self.remote.map(PongAddress::from).or(raw)
    }

    /// Returns the same arguments with the protocol of a pong that runs already, if they have none.
    ///
    /// # Errors
    /// No pong answers there; arguments that conflict with its protocol.
    pub(super) fn with_protocol_of_pong(&self, local: Ipv4Addr) -> Result<Self> {
        let mut known = self.clone();
        if let (Some(remote), true) = (self.remote, self.protocol.is_empty()) {
            known.protocol = vec![protocol_detection::detect(remote, local)?];
            known.check()?;
        }
        Ok(known)
    }

    /// Checks for arguments that conflict with each other or with the host.
    ///
    /// # Errors
    /// One line for each conflict.
    pub(super) fn check(&self) -> Result<()> {
        self.transport.check()?;
        raw_args::check(self)?;
        self.check_transport()?;
        let has = |protocol| self.protocol.contains(&protocol);
        if has(Protocol::RdsEthernet) && !self.transport.is_xdp() {
            usage_error!("rds-ethernet needs --transport xdp");
        }
        if has(Protocol::RdsEthernet) && self.connections > 1 {
            usage_error!(
                "rds-ethernet takes the whole interface: --connections is for udp and tcp"
            );
        }
        if self.protocol.iter().any(|protocol| protocol.is_rds())
            && self.timestamps != Stamping::None
        {
            usage_error!("reliable datagrams have no timestamps: --timestamps is for udp and tcp");
        }
        if self.protocol.contains(&Protocol::Multicast) && self.connections > 1 {
            usage_error!("multicast has one group of pings: --connections is for udp and tcp");
        }
        let Some(remote) = self.remote else { return Ok(()) };
        if self.protocol.len() > 1 {
            usage_error!("the pong at {remote} has one protocol: --protocol has several");
        }
        if self.protocol.is_empty() && self.flood {
            usage_error!(
                "a pong that counts a flood answers nothing: give its protocol, such as \
                 --protocol udp"
            );
        }
        if self.slowness() != Slowness::default() {
            usage_error!(
                "only the pong itself can be slowed: give --delay-ns to the pong at {remote}"
            );
        }
        let is_group = remote.ip().is_multicast();
        let is_multicast = self.protocol.first().map_or(is_group, |it| *it == Protocol::Multicast);
        match (is_group, is_multicast) {
            (false, true) => usage_error!("{} is not a multicast group (224.0.0.0/4)", remote.ip()),
            (true, false) => {
                usage_error!("{} is a multicast group: --protocol multicast", remote.ip())
            }
            _ if remote.port() == 0 => usage_error!("{remote}: port 0 is not a destination"),
            _ => Ok(()),
        }
    }

    /// Checks the arguments for the datapath.
    fn check_transport(&self) -> Result<()> {
        if !self.transport.bypasses_kernel() {
            return Ok(());
        }
        if self.timestamps != Stamping::None && self.transport.is_xdp() {
            usage_error!(
                "kernel timestamps need kernel sockets: --timestamps conflicts with --transport xdp"
            );
        }
        let interface = self.interface.as_deref();
        match self.place() {
            Some(_) => self.transport.check_interface(interface),
            None => self.transport.check_between_hosts(interface),
        }
    }

    /// Returns the cores of the arguments, else the first two allowed cores, or none if there is
    /// only one.
    ///
    /// # Errors
    /// A core that is not allowed.
    pub(super) fn cores(&self) -> Result<Cores> {
        let allowed = allowed_cores().context("cannot read the allowed cores")?;
        let chosen = match (self.cpus, &allowed[..]) {
            (Some(pair), _) => Some(pair),
            (None, &[pong, ping, ..]) => Some([pong, ping]),
            _ => None,
        };
        if let Some(core) = chosen.iter().flatten().find(|core| !allowed.contains(core)) {
            bail!("cannot pin to core {core}: allowed cores are {allowed:?}");
        }
        let [pong, ping] = chosen.map_or([None; 2], |cores| cores.map(Some));
        Ok(Cores { pong: pong.filter(|_| self.place().is_none()), ping })
    }

    fn intervals_ns(&self) -> Vec<u64> {
        match self.rate {
            Some(rate) => vec![NANOS_PER_SECOND / rate],
            None => or(&self.interval_us, &[0]).iter().map(|us| us * 1_000).collect(),
        }
    }

    fn load(&self, interval_ns: u64) -> Load {
        Load {
            interval_ns,
            warm_up: WARM_UP.max(self.connections as u64),
            samples: if self.quick { QUICK_SAMPLES } else { self.samples },
            connections: self.connections,
        }
    }
}

impl Cores {
    /// Returns the pinned cores, the pong's first.
    pub(super) fn chosen(self) -> Vec<usize> {
        [self.pong, self.ping].into_iter().flatten().collect()
    }

    /// Describes the pinning in a line.
    pub(super) fn describe(self) -> String {
        match self {
            Self { pong: Some(pong), ping: Some(ping) } => {
                format!("pong on core {pong}, ping on core {ping}")
            }
            Self { pong: None, ping: Some(ping) } => format!("ping on core {ping}"),
            _ => "nothing is pinned, so values mean little".to_owned(),
        }
    }
}

fn or<'a, T>(given: &'a [T], otherwise: &'a [T]) -> &'a [T] {
    if given.is_empty() { otherwise } else { given }
}

fn parse_size(text: &str) -> Result<usize, String> {
    let size = text.trim().parse().ok().filter(|size| (1..=SIZE_MAX).contains(size));
    size.ok_or_else(|| format!("expected a number of bytes from 1 to {SIZE_MAX}"))
}

/// Parses the number of connections; a pong that listens needs one more source.
fn parse_connections(text: &str) -> Result<usize, String> {
    let count = text.trim().parse().ok().filter(|count| (1..CAPACITY).contains(count));
    count.ok_or_else(|| format!("expected a number from 1 to {}", CAPACITY - 1))
}

fn parse_pair(text: &str) -> Result<[usize; 2], String> {
    match parse_two(text, "two core numbers, such as 0,1")? {
        (a, b) if a == b => Err("ping and pong need a core each".to_owned()),
        (a, b) => Ok([a, b]),
    }
}

/// Parses `HOST:PORT`, or `HOST` for the default port of a pong.
fn parse_remote(text: &str) -> Result<SocketAddrV4, String> {
    parse_address(text, Some(DEFAULT_PORT))
}

#[cfg(test)]
mod tests {
    use hairpin_cli_harness::args::parse_line;

    use super::*;

    fn line(words: &str) -> Result<PingArgs, clap::Error> {
        parse_line(words.split_whitespace())
    }

    fn plan(words: &str) -> Vec<PingCase> {
        line(words).unwrap().plan()
    }

    #[test]
    fn runs_udp_and_tcp_under_every_wait_in_a_closed_loop() {
        let cases = plan("");
        assert_eq!(cases.len(), 2 * Wait::ALL.len());
        let is_default = |case: &PingCase| {
            case.size == SIZE && case.load.interval_ns == 0 && case.wait == case.pong_wait
        };
        assert!(cases.iter().all(is_default));
    }

    #[test]
    fn takes_lists() {
        let words = "--protocol udp,multicast,tcp --wait spin,epoll --size 1,65000 \
                     --interval-us 0,100";
        assert_eq!(plan(words).len(), 3 * 2 * 2 * 2);
    }

    #[test]
    fn converts_rate_to_interval() {
        assert_eq!(plan("--rate 40000 --wait spin")[0].load.interval_ns, 25_000);
        assert!(line("--rate 40000 --interval-us 5").is_err());
    }

    #[test]
    fn sizes_are_those_of_a_datagram() {
        for words in ["--size 0", "--size 65001", "--size x", "--connections 0"] {
            assert!(line(words).is_err(), "{words}");
        }
        assert_eq!(plan("--size 1,65000 --wait spin --protocol udp")[1].size, 65_000);
    }

    #[test]
    fn remote_pong_has_one_protocol_and_its_own_arguments() {
        let check = |words: &str| line(words).unwrap().check();
        assert!(check("10.0.0.1:5000 --protocol tcp").is_ok());
        assert!(check("239.1.1.1:5000 --protocol multicast").is_ok());
        assert!(check("10.0.0.1:5000").is_ok() && check("239.1.1.1:5000").is_ok());
        for words in [
            "10.0.0.1:5000 --flood",
            "10.0.0.1:5000 --protocol udp,tcp",
            "10.0.0.1:5000 --protocol multicast",
            "239.1.1.1:5000 --protocol udp",
            "10.0.0.1:0 --protocol udp",
            "10.0.0.1:5000 --protocol udp --delay-ns 5",
            "--protocol multicast --connections 2",
        ] {
            assert!(check(words).is_err(), "{words}");
        }
    }

    #[test]
    fn assigns_one_core_each() {
        assert!(["1,1", "1", "a,b"].iter().all(|cpus| line(&format!("--cpus {cpus}")).is_err()));
        assert_eq!(line("--cpus 1,0").unwrap().cpus, Some([1, 0]));
    }

    #[test]
    fn flood_has_duration_and_no_samples() {
        assert_eq!(plan("--flood --seconds 3 --wait spin")[0].flood_ms, Some(3_000));
        assert_eq!(plan("--wait spin")[0].flood_ms, None);
        assert!(line("--flood --samples 5").is_err() && line("--seconds 3").is_err());
    }

    #[test]
    fn uses_default_port_for_address_without_port() {
        let remote = |words: &str| line(words).map(|args| args.remote.unwrap().to_string());
        assert_eq!(remote("10.0.0.7").unwrap(), "10.0.0.7:9200");
        assert_eq!(remote("10.0.0.7:80").unwrap(), "10.0.0.7:80");
        for wrong in ["10.0.0", "10.0.0.7:", ":80", "10.0.0.7:65536"] {
            assert!(remote(wrong).is_err(), "{wrong}");
        }
    }
}
