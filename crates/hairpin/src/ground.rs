//! What the two processes of a row stand on: hosts of our own, loopback, or a given interface.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::os::fd::AsRawFd;
use std::process::{Child, Command};

use anyhow::{Context, Result, bail};
use hairpin_host::{address_interface, interface_address, interface_driver};
use hairpin_mapped::SharedCounterPage;
use hairpin_testbed::{Host, Testbed};
use hairpin_xdp::Device;

use crate::groups::Groups;
use crate::transport;

/// Which of the two processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Exchange,
    Trader,
    Pong,
    Ping,
    /// Publishes for a receiver.
    Sender,
    Receiver,
    /// Answers a client's orders.
    Gateway,
    Client,
}

impl Role {
    /// What it is called.
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

    /// The subcommand that plays it.
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

    /// Which of the two hosts it runs on.
    const fn host(self) -> usize {
        match self {
            Self::Exchange | Self::Pong | Self::Sender | Self::Gateway => 0,
            Self::Trader | Self::Ping | Self::Receiver | Self::Client => 1,
        }
    }
}

/// Two hosts and the multicast groups between them.
pub(crate) struct Ground {
    bed: Testbed,
    addresses: [Ipv4Addr; 2],
    nic: String,
    /// The one that was named, of this host alone.
    interface: Option<String>,
    pub(crate) groups: Groups,
    description: String,
}

impl Ground {
    /// Namespaces where they can be had, else loopback; or the interface that is named.
    ///
    /// To be called while the process is single-threaded: an ordinary user's namespaces need that.
    ///
    /// # Errors
    /// The interface does not exist or has no IPv4 address; no thread, no free port.
    pub(crate) fn make(interface: Option<&str>) -> Result<Self> {
        let groups = Groups::free().context("no free UDP port")?;
        let Some(name) = interface else {
            let bed = Testbed::available().context("neither namespaces nor loopback can be had")?;
            let addresses = [Role::Exchange, Role::Trader].map(|role| host(&bed, role).address());
            let nic = match host(&bed, Role::Exchange).namespace() {
                Some(_) => "veth",
                None => "loopback",
            };
            let (nic, description) = (nic.to_owned(), bed.describe().to_owned());
            return Ok(Self { bed, addresses, nic, interface: None, groups, description });
        };
        // Both ends are this host: whatever the interface, the kernel turns the packets round.
        let address = interface_address(name)?;
        let bed = Testbed::loopback(format_args!("by the address of {name}, {address}"))?;
        let (nic, description) = ("loopback".to_owned(), bed.describe().to_owned());
        let interface = Some(name.to_owned());
        Ok(Self { bed, addresses: [address; 2], nic, interface, groups, description })
    }

    /// This host alone, for a side whose other side, `remote`, is elsewhere; it speaks from the
    /// address of the interface that is named, or from the one that the kernel chooses.
    ///
    /// # Errors
    /// The interface does not exist or has no IPv4 address; no way to `remote`; no thread.
    pub(crate) fn here(remote: SocketAddrV4, interface: Option<&str>) -> Result<Self> {
        let address = match interface {
            Some(name) => interface_address(name)?,
            None => address_towards(remote).with_context(|| format!("no way to {remote}"))?,
        };
        let bed = Testbed::loopback("one of the two hosts is elsewhere")?;
        let groups = Groups::free().context("no free UDP port")?;
        let nic = nic_of(address);
        let description = format!("this host, {address}, and {}", remote.ip());
        let interface = interface.map(str::to_owned);
        Ok(Self { bed, addresses: [address; 2], nic, interface, groups, description })
    }

    /// This host alone, for a side that speaks without addresses to who is behind an interface.
    ///
    /// # Errors
    /// The interface does not exist; no thread.
    pub(crate) fn by(interface: &str) -> Result<Self> {
        let device = Device::from_name(interface)?;
        let bed = Testbed::loopback("one of the two hosts is elsewhere")?;
        let groups = Groups::free().context("no free UDP port")?;
        let nic = device.driver.unwrap_or_else(|| interface.to_owned());
        let description = format!("this host and who is behind {interface}");
        let addresses = [Ipv4Addr::UNSPECIFIED; 2];
        let interface = Some(interface.to_owned());
        Ok(Self { bed, addresses, nic, interface, groups, description })
    }

    /// Whether frames can pass the kernel between the two sides, where `words` ask for that.
    ///
    /// # Errors
    /// There are no two hosts, or the kernel lets nobody load a program there.
    pub(crate) fn check(&self, words: &transport::Arguments) -> Result<()> {
        let has_hosts = host(&self.bed, Role::Exchange).namespace().is_some();
        // There a program cannot be loaded, whatever the capabilities.
        let is_users = self.describe().ends_with("(in a user namespace)");
        if words.is_xdp() && (!has_hosts || is_users) {
            bail!("--transport xdp needs two hosts made by root; here: {}", self.describe());
        }
        Ok(())
    }

    /// The address of one side.
    pub(crate) fn address(&self, role: Role) -> Ipv4Addr {
        self.addresses[role.host()]
    }

    /// The name of the interface of one side.
    pub(crate) fn interface(&self, role: Role) -> &str {
        self.interface.as_deref().unwrap_or_else(|| host(&self.bed, role).interface())
    }

    /// What this is, for a person.
    pub(crate) fn describe(&self) -> &str {
        &self.description
    }

    /// The interface's name in the results file: a driver's, `veth` or `loopback`.
    pub(crate) fn nic(&self) -> &str {
        &self.nic
    }

    /// Starts a process that plays `role`, with `control` as its last argument.
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
        host(&self.bed, role).spawn(command, &[fd])
    }

    /// Starts another program where the process that plays `role` would run.
    ///
    /// # Errors
    /// Those of starting a process.
    pub(crate) fn start(&self, role: Role, command: Command) -> io::Result<Child> {
        host(&self.bed, role).spawn(command, &[])
    }
}

fn host(bed: &Testbed, role: Role) -> &Host {
    &bed.hosts()[role.host()]
}

/// The local address that packets to `remote` leave from. None is sent.
fn address_towards(remote: SocketAddrV4) -> io::Result<Ipv4Addr> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    socket.connect(remote)?;
    match socket.local_addr()? {
        SocketAddr::V4(local) => Ok(*local.ip()),
        SocketAddr::V6(_) => Err(io::ErrorKind::AddrNotAvailable.into()),
    }
}

/// The driver of the interface that has this address, as far as that is known.
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
        let here = address_towards("127.0.0.1:9".parse().unwrap()).unwrap();
        assert_eq!((here, nic_of(here).as_str()), (Ipv4Addr::LOCALHOST, "loopback"));
        assert_eq!(nic_of(Ipv4Addr::new(192, 0, 2, 77)), "unknown");
    }

    #[test]
    fn the_sides_of_a_pair_are_on_different_hosts() {
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
