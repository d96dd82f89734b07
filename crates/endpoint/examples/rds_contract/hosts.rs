//! The two hosts: network namespaces.

use std::fs::File;
use std::net::IpAddr;
use std::os::fd::AsRawFd;
use std::process::Command;

/// A network namespace, and its address and interface.
#[derive(Debug, Clone)]
pub(crate) struct Host {
    path: String,
    pub(crate) address: IpAddr,
    pub(crate) interface: String,
}

/// The host that sends first, and the other one.
pub(crate) struct Hosts(pub(crate) [Host; 2]);

impl Hosts {
    /// Reads path, address and interface of each host.
    pub(crate) fn new(arguments: &[String]) -> Self {
        let [path, address, interface, other_path, other_address, other_interface] = arguments
        else {
            eprintln!("usage: rds_contract NAMESPACE ADDRESS INTERFACE (of two hosts)");
            std::process::exit(2);
        };
        let host = |path: &String, address: &String, interface: &String| Host {
            path: path.clone(),
            address: address.parse().expect("an address"),
            interface: interface.clone(),
        };
        Self([host(path, address, interface), host(other_path, other_address, other_interface)])
    }
}

impl Host {
    /// Moves the calling thread to the host. Sockets stay where they were opened.
    pub(crate) fn enter(&self) {
        let namespace = File::open(&self.path).expect("the namespace's file");
        // SAFETY: the call takes two integers and accesses no memory of the process.
        let entered = unsafe { libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWNET) };
        assert_eq!(entered, 0, "cannot enter {}: {}", self.path, std::io::Error::last_os_error());
    }

    /// Adds an address to the interface.
    pub(crate) fn add_address(&self, address: IpAddr) {
        self.enter();
        let mut command = Command::new("ip");
        command.args(["addr", "add", &format!("{address}/24"), "dev", &self.interface]);
        assert!(command.status().expect("ip").success(), "cannot add {address}");
    }
}
