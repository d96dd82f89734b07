//! What the two processes of a row stand on: hosts of our own, loopback, or a given interface.

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::AsRawFd;
use std::process::{Child, Command};

use anyhow::{Context, Result};
use hairpin_host::interface_address;
use hairpin_mapped::Control;
use hairpin_testbed::{Bed, Host};

use crate::groups::Groups;

/// Which of the two processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Exchange,
    Trader,
}

impl Role {
    /// What it is called.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Exchange => "exchange",
            Self::Trader => "trader",
        }
    }

    /// The subcommand that plays it.
    pub(crate) const fn subcommand(self) -> &'static str {
        match self {
            Self::Exchange => "t2t-exchange",
            Self::Trader => "t2t-trader",
        }
    }
}

/// Two hosts and the multicast groups between them.
pub(crate) struct Ground {
    bed: Bed,
    addresses: [Ipv4Addr; 2],
    nic: &'static str,
    pub(crate) groups: Groups,
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
            let bed = Bed::available().context("neither namespaces nor loopback can be had")?;
            let addresses = [Role::Exchange, Role::Trader].map(|role| host(&bed, role).address());
            let nic = match host(&bed, Role::Exchange).namespace() {
                Some(_) => "veth",
                None => "loopback",
            };
            return Ok(Self { bed, addresses, nic, groups });
        };
        // Both ends are this host: whatever the interface, the kernel turns the packets round.
        let address = interface_address(name)?;
        let bed = Bed::loopback(format_args!("by the address of {name}, {address}"))?;
        Ok(Self { bed, addresses: [address; 2], nic: "loopback", groups })
    }

    /// The address of one side.
    pub(crate) fn address(&self, role: Role) -> Ipv4Addr {
        self.addresses[role as usize]
    }

    /// What this is, for a person.
    pub(crate) fn describe(&self) -> &str {
        self.bed.describe()
    }

    /// The interface's name in the results file: `veth` or `loopback`.
    pub(crate) fn nic(&self) -> &'static str {
        self.nic
    }

    /// Starts a process that plays `role`, with `control` as its last argument.
    ///
    /// # Errors
    /// Those of starting a process.
    pub(crate) fn spawn(
        &self,
        role: Role,
        mut command: Command,
        control: &Control,
    ) -> io::Result<Child> {
        let fd = control.fd();
        command.arg("--control").arg(fd.as_raw_fd().to_string());
        host(&self.bed, role).spawn(command, &[fd])
    }
}

fn host(bed: &Bed, role: Role) -> &Host {
    &bed.hosts()[role as usize]
}
