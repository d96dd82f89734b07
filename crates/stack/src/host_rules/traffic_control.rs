//! Queueing disciplines and filters of traffic control (linux/pkt_sched.h).

use std::io;

use netlink_sys::protocols::NETLINK_ROUTE;

use super::request::{Request, text};
use crate::netlink::{RequestSocket, attributes};

/// linux/rtnetlink.h: `RTM_GETTFILTER`, `RTM_GETQDISC`.
const GET_FILTER: u16 = 46;
const GET_QDISC: u16 = 38;
/// The size of `struct tcmsg`.
const TRAFFIC_HEADER: usize = 20;
/// `TC_H_CLSACT` with `TC_H_MIN_INGRESS` and `TC_H_MIN_EGRESS`. An ingress discipline has only the
/// first.
const CLASSIFIER_PARENTS: [u32; 2] = [0xffff_fff2, 0xffff_fff3];

/// What traffic control does with the frames of an interface.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrafficControl {
    /// The kinds of the root disciplines.
    pub disciplines: Vec<String>,
    /// The kinds of the filters at ingress and egress.
    pub filters: Vec<String>,
}

/// Returns the queueing disciplines and filters of an interface.
///
/// # Errors
/// The kernel's.
pub fn traffic_control(interface: u32) -> io::Result<TrafficControl> {
    let mut socket = RequestSocket::open(NETLINK_ROUTE)?;
    let request = Request { kind: GET_QDISC, payload: vec![0; TRAFFIC_HEADER] };
    let all = socket.dump(&request, |_, payload| discipline(payload))?;
    let own = || all.iter().filter(|(index, ..)| *index == interface);
    let mut found = TrafficControl::default();
    for (_, kind) in own() {
        if !matches!(kind.as_str(), "clsact" | "ingress") {
            found.disciplines.push(kind.clone());
            continue;
        }
        let parents = &CLASSIFIER_PARENTS[..if kind == "clsact" { 2 } else { 1 }];
        for parent in parents {
            let mut payload = vec![0; TRAFFIC_HEADER];
            payload[4..8].copy_from_slice(&interface.to_ne_bytes());
            payload[12..16].copy_from_slice(&parent.to_ne_bytes());
            let request = Request { kind: GET_FILTER, payload };
            found.filters.extend(
                socket.dump(&request, |_, payload| discipline(payload).map(|(_, kind)| kind))?,
            );
        }
    }
    found.filters.sort();
    found.filters.dedup();
    Ok(found)
}

/// Returns the interface and the kind of a discipline or filter.
fn discipline(payload: &[u8]) -> Option<(u32, String)> {
    let index = u32::from_ne_bytes(payload.get(4..8)?.try_into().ok()?);
    let mut found = attributes(payload.get(TRAFFIC_HEADER..)?);
    found.find_map(|(kind, value)| (kind == 1).then(|| (index, text(value))))
}

#[cfg(test)]
mod tests {
    use super::super::request::attribute;
    use super::*;

    #[test]
    fn discipline_has_an_interface_and_a_kind() {
        let mut payload = vec![0; TRAFFIC_HEADER];
        payload[4..8].copy_from_slice(&7_u32.to_ne_bytes());
        assert_eq!(discipline(&payload), None);
        payload.extend(attribute(2, &[0; 8]));
        payload.extend(attribute(1, b"clsact\0"));
        assert_eq!(discipline(&payload), Some((7, "clsact".to_owned())));
        for length in 0..TRAFFIC_HEADER {
            assert_eq!(discipline(&vec![0; length]), None);
        }
    }
}
