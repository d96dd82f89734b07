//! Capture files made byte by byte.

use etherparse::PacketBuilder;

/// Returns a pcap file of packets: seconds, fractions, bytes.
pub(super) fn pcap(is_big: bool, nanos: bool, link: u32, packets: &[(u32, u32, &[u8])]) -> Vec<u8> {
    let ng = PcapngBuilder { is_big };
    let magic = if nanos { 0xa1b2_3c4d } else { 0xa1b2_c3d4 };
    let mut file = [ng.word(magic).to_vec(), ng.half(2), ng.half(4)].concat();
    file.extend([0, 0, 1 << 24, link].map(|word| ng.word(word)).concat());
    for &(seconds, fraction, bytes) in packets {
        let length = bytes.len() as u32;
        file.extend([seconds, fraction, length, length].map(|word| ng.word(word)).concat());
        file.extend(bytes);
    }
    file
}

/// A builder of pcapng blocks in one byte order.
#[derive(Clone, Copy)]
pub(super) struct PcapngBuilder {
    pub(super) is_big: bool,
}

impl PcapngBuilder {
    pub(super) fn word(self, word: u32) -> [u8; 4] {
        if self.is_big { word.to_be_bytes() } else { word.to_le_bytes() }
    }

    pub(super) fn half(self, half: u16) -> Vec<u8> {
        if self.is_big { half.to_be_bytes().into() } else { half.to_le_bytes().into() }
    }

    pub(super) fn block(self, kind: u32, body: &[u8]) -> Vec<u8> {
        let padding = vec![0; body.len().next_multiple_of(4) - body.len()];
        let length = self.word((12 + body.len() + padding.len()) as u32);
        [&self.word(kind)[..], &length, body, &padding, &length].concat()
    }

    pub(super) fn section(self) -> Vec<u8> {
        let magic = self.word(0x1a2b_3c4d);
        let version = [self.half(1), self.half(0)].concat();
        self.block(0x0a0d_0d0a, &[&magic[..], &version, &[0xff; 8]].concat())
    }

    pub(super) fn interface(self, link: u16, longest: u32, options: &[(u16, &[u8])]) -> Vec<u8> {
        let mut body = [self.half(link), self.half(0), self.word(longest).to_vec()].concat();
        for (code, value) in options {
            body.extend([self.half(*code), self.half(value.len() as u16)].concat());
            body.extend(*value);
            body.resize(body.len().next_multiple_of(4), 0);
        }
        body.extend([0; 4]);
        self.block(1, &body)
    }

    pub(super) fn enhanced(self, interface: u32, time: u64, packet: &[u8]) -> Vec<u8> {
        let length = packet.len() as u32;
        let words = [interface, (time >> 32) as u32, time as u32, length, length];
        self.block(6, &[&words.map(|word| self.word(word)).concat(), packet].concat())
    }

    pub(super) fn simple(self, length: u32, packet: &[u8]) -> Vec<u8> {
        self.block(3, &[&self.word(length)[..], packet].concat())
    }
}

/// Returns an Ethernet frame with a datagram from 10.0.0.1:1 to 224.0.28.5:14310.
pub(in super::super) fn datagram_of(payload: &[u8]) -> Vec<u8> {
    let builder = PacketBuilder::ethernet2([0; 6], [1; 6]).ipv4([10, 0, 0, 1], [224, 0, 28, 5], 1);
    let mut frame = Vec::new();
    builder.udp(1, 14_310).write(&mut frame, payload).unwrap();
    frame
}
