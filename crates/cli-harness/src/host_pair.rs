//! The two hosts of a benchmark: network namespaces, loopback, or a named interface.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::os::fd::AsRawFd;
use std::process::{Child, Command};

use anyhow::{Context, Result, bail};
use hairpin_host::{address_interface, interface_address, interface_driver};
use hairpin_mapped::SharedCounterPage;
use hairpin_testbed::{Host, Testbed};
use hairpin_xdp::Device;
use nix::unistd::geteuid;

use crate::multicast_groups::MulticastGroups;
use crate::transport;

/// The role of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Publishes ticks and answers orders.
    Exchange,
    /// Answers ticks with orders.
    Trader,
    /// Answers the messages of a ping.
    Pong,
    /// Measures round trips to a pong.
    Ping,
    /// Publishes market data for a receiver.
    Sender,
    /// Measures the arrival of a sender's market data.
    Receiver,
    /// Answers a client's orders.
    Gateway,
    /// Measures round trips of orders to a gateway.
    Client,
}

impl Role {
    /// Returns the name of the role.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Exchange => "exchange",
            Self::Trader => "trader",
            Self::Pong => "pong",
            Self::Ping => "ping",
            Self::Sender => "sender",
            Self::Receiver => "receiver",
            Self::Gateway => "gateway",
            Self::Client => "client",
        }
    }

    /// Returns the subcommand that runs the role.
    pub(crate) const fn subcommand(self) -> &'static str {
        match self {
            Self::Exchange => "t2t-exchange",
            Self::Trader => "t2t-trader",
            Self::Pong => "ping-pong",
            Self::Ping => "ping-ping",
            Self::Sender => "bench-sender",
            Self::Receiver => "bench-receiver",
            Self::Gateway => "bench-gateway",
            Self::Client => "bench-client",
        }
    }

    /// Returns the index of the host that the role runs on.
    const fn host(self) -> usize {
        match self {
            Self::Exchange | Self::Pong | Self::Sender | Self::Gateway => 0,
            Self::Trader | Self::Ping | Self::Receiver | Self::Client => 1,
        }
    }
}

/// The two hosts of a benchmark and the multicast groups between them.
pub struct HostPair {
    testbed: Testbed,
    addresses: [Ipv4Addr; 2],
    nic: String,
    /// The named interface, which is this host's.
    interface: Option<String>,
    /// The groups of a channel between the hosts.
    pub groups: MulticastGroups,
    description: String,
}

impl HostPair {
    /// Creates the hosts: the named interface, else network namespaces, else loopback.
    ///
    /// Call it while the process is single-threaded: the namespaces of an ordinary user require
    /// that.
    ///
    /// # Errors
    /// The interface does not exist or has no IPv4 address; no thread or no free port.
    pub fn new(interface: Option<&str>) -> Result<Self> {
        let groups = MulticastGroups::free().context("no free UDP port")?;
        let Some(name) = interface else {
            let testbed =
                Testbed::available().context("neither namespaces nor loopback are available")?;
            let addresses =
                [Role::Exchange, Role::Trader].map(|role| host(&testbed, role).address());
            let nic = match host(&testbed, Role::Exchange).namespace() {
                Some(_) => "veth",
                None => "loopback",
            };
            let (nic, description) = (nic.to_owned(), testbed.describe().to_owned());
            return Ok(Self { testbed, addresses, nic, interface: None, groups, description });
        };
        // Both ends are this host: the kernel loops the packets back on any interface.
        let address = interface_address(name)?;
        let testbed = Testbed::loopback(format_args!("over the address of {name}, {address}"))?;
        let (nic, description) = ("loopback".to_owned(), testbed.describe().to_owned());
        let interface = Some(name.to_owned());
        Ok(Self { testbed, addresses: [address; 2], nic, interface, groups, description })
    }

    /// Returns this host alone, for a process whose peer `remote` runs elsewhere. The local address
    /// is that of the named interface, or the kernel's choice.
    ///
    /// # Errors
    /// The interface does not exist or has no IPv4 address; no route to `remote`; no thread.
    pub fn with_remote(remote: SocketAddrV4, interface: Option<&str>) -> Result<Self> {
        let address = match interface {
            Some(name) => interface_address(name)?,
            None => address_towards(remote).with_context(|| format!("cannot route to {remote}"))?,
        };
        let testbed = Testbed::loopback("one of the two hosts is remote")?;
        let groups = MulticastGroups::free().context("no free UDP port")?;
        let nic = nic_of(address);
        let description = format!("this host, {address}, and {}", remote.ip());
        let interface = interface.map(str::to_owned);
        Ok(Self { testbed, addresses: [address; 2], nic, interface, groups, description })
    }

    /// Returns this host alone, for a process that exchanges raw frames over an interface.
    ///
    /// # Errors
    /// The interface does not exist; no thread.
    pub fn with_interface(interface: &str) -> Result<Self> {
        let device = Device::from_name(interface)?;
        let testbed = Testbed::loopback("one of the two hosts is remote")?;
        let groups = MulticastGroups::free().context("no free UDP port")?;
        let nic = device.driver.unwrap_or_else(|| interface.to_owned());
        let description = format!("this host and the peer at {interface}");
        let addresses = [Ipv4Addr::UNSPECIFIED; 2];
        let interface = Some(interface.to_owned());
        Ok(Self { testbed, addresses, nic, interface, groups, description })
    }

    /// Checks that `args` can be used between the hosts.
    ///
    /// # Errors
    /// AF_XDP without two hosts created by root.
    pub fn check(&self, args: &transport::TransportArgs) -> Result<()> {
        match args.bypasses_kernel() {
            true => self.check_bypass(&format!("--transport {}", args.transport.name())),
            false => Ok(()),
        }
    }

    /// Checks that programs on the hosts can bypass the kernel. `what` needs it.
    ///
    /// # Errors
    /// No two hosts created by root.
    pub fn check_bypass(&self, what: &str) -> Result<()> {
        let has_hosts = host(&self.testbed, Role::Exchange).namespace().is_some();
        // XDP programs cannot be loaded in a user namespace, whatever the capabilities.
        let is_users = self.describe().ends_with("(in a user namespace)");
        if !has_hosts || is_users {
            let advice = if geteuid().is_root() { "" } else { "; run it as root" };
            bail!("{what} needs two hosts made by root; here: {}{advice}", self.describe());
        }
        Ok(())
    }

    /// Returns the address of the host of a role.
    pub fn address(&self, role: Role) -> Ipv4Addr {
        self.addresses[role.host()]
    }

    /// Returns the interface name of the host of a role.
    pub fn interface(&self, role: Role) -> &str {
        self.interface.as_deref().unwrap_or_else(|| host(&self.testbed, role).interface())
    }

    /// Describes the hosts in a line.
    pub fn describe(&self) -> &str {
        &self.description
    }

    /// Returns the interface's name in the results file: a driver's, `veth` or `loopback`.
    pub fn nic(&self) -> &str {
        &self.nic
    }

    /// Starts a process for `role`, with the descriptor of `control` as its last argument.
    ///
    /// # Errors
    /// Those of starting a process.
    pub(crate) fn spawn(
        &self,
        role: Role,
        mut command: Command,
        control: &SharedCounterPage,
    ) -> io::Result<Child> {
        let fd = control.fd();
        command.arg("--control").arg(fd.as_raw_fd().to_string());
        host(&self.testbed, role).spawn(command, &[fd])
    }

    /// Runs `body` with the index of the interface on the host of `role`, on a thread of its own.
    ///
    /// # Errors
    /// Those of `body`; the thread cannot be started or cannot enter the host.
    pub fn run<R: Send>(
        &self,
        role: Role,
        body: impl FnOnce(u32) -> io::Result<R> + Send,
    ) -> io::Result<R> {
        let host = host(&self.testbed, role);
        host.run(|| body(host.interface_index())).flatten()
    }

    /// Starts another program on the host of `role`.
    ///
    /// # Errors
    /// Those of starting a process.
    pub fn start(&self, role: Role, command: Command) -> io::Result<Child> {
        host(&self.testbed, role).spawn(command, &[])
    }
}

fn host(testbed: &Testbed, role: Role) -> &Host {
    &testbed.hosts()[role.host()]
}

/// Returns the local address of packets to `remote`, without sending one.
fn address_towards(remote: SocketAddrV4) -> io::Result<Ipv4Addr> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    socket.connect(remote)?;
    match socket.local_addr()? {
        SocketAddr::V4(local) => Ok(*local.ip()),
        SocketAddr::V6(_) => Err(io::ErrorKind::AddrNotAvailable.into()),
    }
}

/// Returns the driver of the interface with this address, as far as it can be determined.
fn nic_of(address: Ipv4Addr) -> String {
    match address_interface(address) {
        Ok(name) if name == "lo" => "loopback".to_owned(),
        Ok(name) => interface_driver(&name).ok().flatten().unwrap_or(name),
        Err(_) => "unknown".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_where_packets_to_it_leave_from() {
        let with_remote = address_towards("127.0.0.1:9".parse().unwrap()).unwrap();
        assert_eq!((with_remote, nic_of(with_remote).as_str()), (Ipv4Addr::LOCALHOST, "loopback"));
        assert_eq!(nic_of(Ipv4Addr::new(192, 0, 2, 77)), "unknown");
    }

    #[test]
    fn places_processes_on_different_hosts() {
        for [one, other] in [
            [Role::Exchange, Role::Trader],
            [Role::Pong, Role::Ping],
            [Role::Sender, Role::Receiver],
            [Role::Gateway, Role::Client],
        ] {
            assert_ne!(one.host(), other.host());
        }
    }
}
