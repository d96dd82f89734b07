//! The kernel's neighbor table, as users of raw frames see it. Needs root.

use std::io;
use std::net::IpAddr;

use hairpin_stack::{Neighbors, StackError};
use hairpin_testbed::Testbed;

use crate::support::eventually;

#[test]
#[ignore = "needs root"]
fn resolves_a_host_on_the_segment_and_refuses_others() {
    let testbed = Testbed::builder().build().unwrap();
    let [host, peer] = testbed.hosts();
    host.run(|| {
        let mut neighbors = Neighbors::open(host.interface()).unwrap();
        assert!(neighbors.has_address(host.address().into()).unwrap());
        assert!(!neighbors.has_address(peer.address().into()).unwrap());
        let peer = IpAddr::from(peer.address());
        neighbors.check_on_link(peer).unwrap();
        assert!(eventually(|| neighbors.mac(peer).unwrap().is_some()), "not resolved");
        // No route leads to another segment.
        let error = neighbors.check_on_link(IpAddr::from([192, 0, 2, 1])).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NetworkUnreachable, "{error}");
        // An address of this host is not a neighbor.
        let error = neighbors.check_on_link(host.address().into()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NetworkUnreachable, "{error}");
    })
    .unwrap();
}

#[test]
fn missing_interface_is_one_line() {
    let error = Neighbors::open("nosuchif").unwrap_err();
    assert!(matches!(error, StackError::Interface(_)));
    assert_eq!(error.to_string().lines().count(), 1, "{error}");
}
