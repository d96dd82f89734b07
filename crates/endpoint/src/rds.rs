//! Reliable datagrams over kernel UDP, UDP over AF_XDP, and raw Ethernet.
//!
//! [`RdsSocket`] runs `hairpin_rds::Socket` over a carrier. [`RdsTransport`] selects the carrier.

mod carrier;
mod carrier_counters;
mod connected_socket;
mod crc32c;
mod ethernet_carrier;
mod kernel_carrier;
mod options;
mod socket;
mod xdp_carrier;

pub use carrier_counters::CarrierCounters;
pub use hairpin_rds::{
    Counters, Event, MESSAGE_MAX, Message, MessageId, Outcome, SendError as ProtocolError,
};
pub use options::{ETHER_TYPE, RdsOptions, RdsTransport};
pub use socket::{RdsError, RdsSocket};
