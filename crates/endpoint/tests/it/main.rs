//! Integration tests of `hairpin-endpoint`, on the loopback interface and, as root, on two hosts.
#![allow(clippy::unwrap_used, reason = "all of this program is tests")]

mod bypass_host;
mod loopback;
mod rds;
mod rds_forgery;
mod rds_hosts;
mod rds_wrong_use;
mod tcp;
mod timestamps;
mod udp;
mod udp_socket;
mod xdp;
mod xdp_fallback;
mod xdp_tcp;
