//! Traffic of a capture that is not CME's: counts, printed at the end.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use hairpin_endpoint::capture::Protocol;
use hairpin_measure::counted;

/// The most ports that are named.
const MOST_PORTS: usize = 8;
/// The most protocols with a line of their own.
const MOST_PROTOCOLS: usize = 100;

/// A transport and the port of its service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Service {
    Udp(u16),
    Tcp(u16),
}

/// The counts of other traffic.
#[derive(Debug, Default)]
pub(crate) struct OtherTraffic {
    services: BTreeMap<Service, u64>,
    protocols: BTreeMap<Protocol, u64>,
}

impl OtherTraffic {
    /// Counts packets of another service.
    pub(crate) fn count_service(&mut self, service: Service, packets: u64) {
        *self.services.entry(service).or_default() += packets;
    }

    /// Counts a packet that is neither UDP nor TCP.
    pub(crate) fn count_protocol(&mut self, protocol: Protocol) {
        *self.protocols.entry(protocol).or_default() += 1;
    }

    /// Writes one line for all services, and one for each protocol.
    ///
    /// # Errors
    /// Those of the output.
    pub(crate) fn write(&self, err: &mut impl Write) -> io::Result<()> {
        let total: u64 = self.services.values().sum();
        if total > 0 {
            let mut services: Vec<_> = self.services.iter().collect();
            services.sort_by_key(|(service, count)| (std::cmp::Reverse(**count), **service));
            let mut text = String::new();
            for (service, count) in services.iter().take(MOST_PORTS) {
                let separator = if text.is_empty() { "" } else { ", " };
                let (transport, port) = match service {
                    Service::Udp(port) => ("UDP", port),
                    Service::Tcp(port) => ("TCP", port),
                };
                let _ = write!(text, "{separator}{count} of {transport} port {port}");
            }
            let more = services.len().saturating_sub(MOST_PORTS);
            if more > 0 {
                let _ = write!(text, ", and {}", counted(more, "more port"));
            }
            writeln!(
                err,
                "hairpin: note: {} of other traffic ignored: {text}",
                counted(total, "packet")
            )?;
        }
        for (protocol, count) in self.protocols.iter().take(MOST_PROTOCOLS) {
            writeln!(err, "hairpin: note: {} not decoded: {protocol}", counted(*count, "packet"))?;
        }
        let more: u64 = self.protocols.values().skip(MOST_PROTOCOLS).sum();
        if more > 0 {
            writeln!(
                err,
                "hairpin: note: {} not decoded: further protocols",
                counted(more, "packet")
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_are_one_line_and_protocols_one_each() {
        let mut traffic = OtherTraffic::default();
        traffic.count_service(Service::Udp(53), 2);
        traffic.count_service(Service::Tcp(22), 5);
        traffic.count_service(Service::Udp(53), 1);
        traffic.count_protocol(Protocol::Ip(2));
        traffic.count_protocol(Protocol::EtherType(0x0806));
        traffic.count_protocol(Protocol::EtherType(0x0806));
        let mut text = Vec::new();
        traffic.write(&mut text).unwrap();
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "hairpin: note: 8 packets of other traffic ignored: 5 of TCP port 22, 3 of UDP port \
             53\n\
             hairpin: note: 2 packets not decoded: EtherType 0x0806 (ARP)\n\
             hairpin: note: 1 packet not decoded: IP protocol 2 (IGMP)\n"
        );
    }

    #[test]
    fn ports_beyond_the_most_frequent_are_counted() {
        let mut traffic = OtherTraffic::default();
        for port in 1..=20 {
            traffic.count_service(Service::Udp(port), u64::from(port));
        }
        let mut text = Vec::new();
        traffic.write(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains("210 packets") && text.ends_with(", and 12 more ports\n"), "{text}");
    }
}
