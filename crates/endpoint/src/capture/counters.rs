//! Counters of the packets in a capture.

use super::{Frame, PacketError, Payload};

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The counters of a capture reader. Every counter only grows.
        #[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct CaptureCounters {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl CaptureCounters {
            /// Iterates over the counters with their names, in declaration order.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
                [$((stringify!($name), self.$name)),*].into_iter()
            }
        }
    };
}

counters! {
    /// The packets of any kind.
    packets,
    /// The captured bytes of all packets.
    bytes,
    /// The UDP datagrams delivered.
    datagrams,
    /// The packets of other protocols, including TCP.
    other_packets,
    /// Errors: IP fragments, which are not reassembled.
    fragments,
    /// Errors: packets truncated by the capture.
    cut_packets,
    /// Errors: packets of an unsupported link type.
    unsupported_links,
    /// Errors: packets of an interface that the file does not describe.
    unknown_interfaces,
    /// Errors: packets with malformed headers.
    malformed_packets,
}

impl CaptureCounters {
    /// Decodes the payload of a frame and counts it.
    ///
    /// # Errors
    /// Any [`PacketError`], which is counted too.
    #[inline]
    pub fn payload<'a>(&mut self, frame: &Frame<'a>) -> Result<Payload<'a>, PacketError> {
        self.packets += 1;
        self.bytes += frame.bytes.len() as u64;
        let payload = frame.payload();
        match &payload {
            Ok(Payload::Datagram { .. }) => self.datagrams += 1,
            Ok(_) => self.other_packets += 1,
            Err(error) => self.count(error),
        }
        payload
    }

    /// Counts a packet that was not delivered.
    #[cold]
    fn count(&mut self, error: &PacketError) {
        let counter = match error {
            PacketError::Fragment => &mut self.fragments,
            PacketError::Cut { .. } => &mut self.cut_packets,
            PacketError::LinkType(_) => &mut self.unsupported_links,
            PacketError::NoInterface(_) => &mut self.unknown_interfaces,
            PacketError::Malformed(_) => &mut self.malformed_packets,
        };
        *counter += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::super::LinkType;
    use super::*;

    fn counts_only(error: &PacketError, name: &str) {
        let mut counters = CaptureCounters::default();
        counters.count(error);
        for (other, count) in counters.iter() {
            assert_eq!(count, u64::from(other == name), "{other}");
        }
    }

    #[test]
    fn counts_fragments_only() {
        counts_only(&PacketError::Fragment, "fragments");
    }

    #[test]
    fn counts_cut_packets_only() {
        counts_only(&PacketError::Cut { captured: 1, length: 2 }, "cut_packets");
    }

    #[test]
    fn counts_unsupported_links_only() {
        counts_only(&PacketError::LinkType(LinkType(9)), "unsupported_links");
    }

    #[test]
    fn counts_unknown_interfaces_only() {
        counts_only(&PacketError::NoInterface(1), "unknown_interfaces");
    }

    #[test]
    fn counts_malformed_packets_only() {
        counts_only(&PacketError::Malformed("".into()), "malformed_packets");
    }
}
