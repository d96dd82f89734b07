//! The cells of the table: a test of a driver, with a device on top of the network card.

use std::fmt;

use clap::ValueEnum;

use super::kernel::Kernel;

/// The drivers, each with a pair of network cards on a hub of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(super) enum Driver {
    /// virtio-net, one queue
    VirtioNet,
    /// virtio-net, 2 queues in use, behind tap devices, which need root
    VirtioNetMq,
    /// Intel 82576
    Igb,
    /// Intel 82574
    E1000e,
    /// VMware's network card
    Vmxnet3,
    /// Intel 82540
    E1000,
    /// Realtek 8139, driver 8139cp
    Rtl8139,
    /// A pair of virtual Ethernet interfaces
    Veth,
}

/// The devices on top of a network card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(super) enum Device {
    /// The network card itself
    None,
    /// A VLAN of 802.1Q
    Vlan,
    /// A VLAN of 802.1Q in a VLAN of 802.1ad
    Qinq,
    /// A bond, active-backup
    Bond,
    /// A bond, 802.3ad
    BondLacp,
    /// A macvlan in bridge mode
    Macvlan,
    /// A bridge with the network card as its only port
    Bridge,
    /// An ipvlan of layer 2
    Ipvlan,
    /// An ipvlan of layer 3
    IpvlanL3,
    /// The network card with an MTU of 9000
    Mtu9000,
    /// The network card, with addresses of IPv6
    Ipv6,
    /// The network card, with netem on what it sends: 5 % lost, 3 % twice, 3 % early, 0.1 % damaged
    Netem,
    /// The network card, with a firewall of nftables that accepts what the tests send
    Nftables,
}

/// The tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(super) enum Test {
    /// hairpin ping and pong over UDP
    Udp,
    /// hairpin ping and pong over TCP
    Tcp,
    /// The same over UDP, with the filter in the driver
    UdpNative,
    /// The same over TCP, with the filter in the driver
    TcpNative,
    /// The same over UDP, with the filter after the driver
    UdpGeneric,
    /// The same over TCP, with the filter after the driver
    TcpGeneric,
    /// The kernel's ping of a host whose interface pong has
    HostPing,
    /// The same while pongs over TCP have the interfaces of both hosts
    HostPingBoth,
    /// The same while a stopped pong receives nothing of a flood
    HostPingStopped,
    /// sockperf over UDP, started by hairpin run
    RunUdp,
    /// sockperf over TCP, started by hairpin run
    RunTcp,
    /// redis-server and redis-benchmark, started by hairpin run
    RunRedis,
    /// curl started by hairpin run, of a web server's file
    RunCurl,
    /// iperf3 over TCP, started by hairpin run
    RunIperf3,
    /// hairpin ping and pong over RDS
    Rds,
    /// The same with RDS in Ethernet frames
    RdsEthernet,
    /// The contract of RDS, by sockets of the kernel and by ours, and the round trips of both
    RdsKernel,
    /// The same with Ethernet frames
    Raw,
    /// Market data of a capture, compared by messages, or after losses by final prices
    Feed,
    /// The same with line A on the network card, and line B on another interface
    FeedAb,
    /// A session of hairpin order, whose order fills
    Order,
    /// An exchange and a trader, both over AF_XDP
    Trader,
    /// pong is killed by SIGKILL, and started again
    Kill,
    /// The link goes down and up under a pong
    LinkDown,
    /// The driver is unbound under a pong, and bound again
    Unbind,
    /// The guest is suspended under a pong, and wakes up
    Suspend,
}

impl Driver {
    /// Returns QEMU's device with its properties, or `None` if QEMU has no part in it.
    pub(super) fn qemu_device(self) -> Option<&'static str> {
        match self {
            // Native mode requires that the device merges no segments, a bond of 802.3ad a speed.
            Self::VirtioNet => Some(
                "virtio-net-pci,guest_tso4=off,guest_tso6=off,guest_ufo=off,guest_ecn=off,\
                 speed=10000,duplex=full",
            ),
            // Two queues for processors, two for what their filters send; two vectors for each
            // queue, and two more.
            Self::VirtioNetMq => Some(
                "virtio-net-pci,guest_tso4=off,guest_tso6=off,guest_ufo=off,guest_ecn=off,\
                 mq=on,vectors=10",
            ),
            Self::Igb => Some("igb"),
            Self::E1000e => Some("e1000e"),
            Self::Vmxnet3 => Some("vmxnet3"),
            Self::E1000 => Some("e1000"),
            Self::Rtl8139 => Some("rtl8139"),
            Self::Veth => None,
        }
    }

    /// Returns the kernel's modules.
    pub(super) fn modules(self) -> &'static [&'static str] {
        match self {
            Self::VirtioNet | Self::VirtioNetMq => &["virtio_pci", "virtio_net"],
            Self::Igb => &["igb"],
            Self::E1000e => &["e1000e"],
            Self::Vmxnet3 => &["vmxnet3"],
            Self::E1000 => &["e1000"],
            Self::Rtl8139 => &["8139cp"],
            Self::Veth => &["veth"],
        }
    }
}

impl Device {
    /// Returns the kernel's modules.
    pub(super) fn modules(self) -> &'static [&'static str] {
        match self {
            Self::None | Self::Mtu9000 | Self::Ipv6 => &[],
            Self::Vlan | Self::Qinq => &["8021q"],
            Self::Bond | Self::BondLacp => &["bonding"],
            Self::Macvlan => &["macvlan"],
            Self::Bridge => &["bridge"],
            Self::Ipvlan | Self::IpvlanL3 => &["ipvlan"],
            Self::Netem => &["sch_netem"],
            Self::Nftables => &["nf_tables"],
        }
    }
}

impl Test {
    /// Returns the programs of Debian that the test runs in the guest.
    pub(super) fn programs(self) -> &'static [&'static str] {
        match self {
            Self::HostPingStopped | Self::RunUdp | Self::RunTcp => &["sockperf"],
            Self::RunRedis => &["redis-server", "redis-benchmark"],
            Self::RunCurl => &["curl"],
            Self::RunIperf3 => &["iperf3"],
            _ => &[],
        }
    }

    /// Returns `true` if the test publishes ratios of times.
    pub(super) fn measures_times(self) -> bool {
        self == Self::RdsKernel
    }

    /// Returns the program of our own that the test runs in the guest: an example of the crate
    /// endpoint.
    pub(super) fn example(self) -> Option<&'static str> {
        (self == Self::RdsKernel).then_some("rds_contract")
    }

    /// Returns the kernel's modules.
    pub(super) fn modules(self) -> &'static [&'static str] {
        match self {
            Self::FeedAb => &["veth"],
            Self::RdsKernel => &["rds", "rds_tcp"],
            _ => &[],
        }
    }
}

/// A test to run in a guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) driver: Driver,
    pub(super) device: Device,
    pub(super) test: Test,
}

/// Formats the cell as in the guest's plan and reports.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (driver, device, test) = (self.driver, self.device, self.test);
        write!(f, "{} {} {}", name_of(driver), name_of(device), name_of(test))
    }
}

/// Returns the cells of a selection, the tests of a row next to each other. An empty list of
/// drivers or tests selects all, of devices none of them and with virtio-net each. Without a list
/// of tests, a row has those that its driver or device may change.
pub(super) fn select(drivers: &[Driver], devices: &[Device], tests: &[Test]) -> Vec<Cell> {
    let all_drivers = if drivers.is_empty() { Driver::value_variants() } else { drivers };
    let all_tests = if tests.is_empty() { Test::value_variants() } else { tests };
    let mut cells = Vec::new();
    for &device in Device::value_variants() {
        for &driver in all_drivers {
            let is_default = device == Device::None || driver == Driver::VirtioNet;
            if devices.contains(&device) || (devices.is_empty() && is_default) {
                let cell = |&test: &Test| Cell { driver, device, test };
                let row = all_tests.iter().map(cell).filter(Cell::is_possible);
                cells.extend(row.filter(|cell| !tests.is_empty() || cell.is_of_interest()));
            }
        }
    }
    cells
}

impl Cell {
    /// Returns `false` for IPv6 with a program that has none, and for a driver of no bus. One pair
    /// of hosts shows the contract of RDS.
    fn is_possible(&self) -> bool {
        let has_ipv6 = matches!(self.test, Test::RunRedis | Test::RunCurl | Test::RunIperf3);
        (self.device != Device::Ipv6 || has_ipv6)
            && (self.test != Test::Unbind || self.driver.qemu_device().is_some())
            && (self.test != Test::RdsKernel || self.is_plain_virtio_net())
    }

    fn is_plain_virtio_net(&self) -> bool {
        self.driver == Driver::VirtioNet && self.device == Device::None
    }

    /// Returns `true` if the driver or the device may change the test's outcome, as far as other
    /// tests of the row do not show it.
    fn is_of_interest(self) -> bool {
        // Two that bind in zero-copy on some kernels, where a mode changes the most.
        let has_zero_copy = matches!(self.driver, Driver::VirtioNet | Driver::Igb);
        match self.test {
            Test::Udp | Test::Tcp | Test::RunUdp | Test::RunRedis => true,
            Test::HostPing => self.device == Device::None,
            Test::Rds | Test::Feed if self.device == Device::Netem => true,
            // sockperf over TCP runs for a time, of which a card that resets its link takes half.
            _ => self.device == Device::None && has_zero_copy,
        }
    }
}

/// Returns the cells to run on a kernel. One that refuses every cell runs one of each program,
/// unless the selection has none of them.
pub(super) fn of_kernel(kernel: Kernel, cells: &[Cell]) -> Vec<Cell> {
    let shows_refusal = |cell: &&Cell| {
        cell.device == Device::None
            && matches!(cell.test, Test::Udp | Test::RunUdp | Test::RunRedis)
    };
    let refused: Vec<Cell> = cells.iter().filter(shows_refusal).copied().collect();
    let is_refused = kernel == Kernel::V5_10 && !refused.is_empty();
    if is_refused { refused } else { cells.to_vec() }
}

/// Returns the name of a value as on the command line.
pub(super) fn name_of(value: impl ValueEnum) -> String {
    let value = value.to_possible_value().expect("no value is skipped");
    value.get_name().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusing_kernel_runs_each_program_once_per_driver() {
        let cells = select(&[], &[], &[]);
        assert_eq!(of_kernel(Kernel::V5_10, &cells).len(), 8 * 3);
        assert_eq!(of_kernel(Kernel::V6_1, &cells), cells);
        let tcp = select(&[], &[], &[Test::Tcp]);
        assert_eq!(of_kernel(Kernel::V5_10, &tcp), tcp);
    }

    #[test]
    fn selects_devices_of_one_driver_by_default() {
        let cells = select(&[], &[], &[Test::Udp]);
        assert_eq!(cells.len(), 8 + 11);
        let cells = select(&[Driver::Igb], &[], &[]);
        assert_eq!(cells.len(), 12 + 13);
        assert_eq!(cells[2].to_string(), "igb none udp-native");
        let cells = select(&[Driver::E1000], &[], &[]);
        assert_eq!(cells.len(), 5);
        assert_eq!(cells[2].to_string(), "e1000 none host-ping");
        assert_eq!(select(&[Driver::VirtioNet], &[Device::Qinq], &[]).len(), 4);
        assert_eq!(select(&[Driver::Igb], &[Device::Ipv6], &[]).len(), 1);
        assert_eq!(select(&[Driver::VirtioNet], &[Device::Netem], &[]).len(), 6);
        assert_eq!(select(&[Driver::Veth], &[Device::None], &[Test::Unbind]).len(), 0);
        let cells = select(&[Driver::Igb, Driver::E1000], &[Device::Vlan], &[Test::Tcp]);
        assert_eq!(cells.len(), 2);
        assert_eq!(cells[1].to_string(), "e1000 vlan tcp");
    }
}
