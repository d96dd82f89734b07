//! The handshake that the kernel would have done with a smoltcp host.

use hairpin_tcp::{Snapshot, Timestamps};
use hairpin_time::Instant;
use hairpin_wire::{TcpHeader, TcpOption};
use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{
    IpProtocol, Ipv4Address, Ipv4Packet, Ipv4Repr, TcpControl, TcpPacket, TcpRepr, TcpSeqNumber,
    TcpTimestampRepr,
};

use crate::host::{Shape, segment};
use crate::smoltcp_host::{ETHERNET, SmoltcpHost};

/// Lets smoltcp connect. Returns the state of our end after its acknowledgment.
pub(crate) fn accept(now: Instant, shape: &Shape, peer: &mut SmoltcpHost) -> Snapshot {
    if shape.timestamps {
        peer.enable_timestamps();
    }
    peer.connect();
    peer.poll(now);
    let syn = next_frame(peer);
    let (header, options, _) = TcpHeader::parse(segment(&syn).unwrap()).unwrap();
    let (mut send_scale, mut segment_size, mut recent) = (0, 536, None);
    for option in options {
        match option.unwrap() {
            TcpOption::WindowScale(scale) => send_scale = scale,
            TcpOption::MaximumSegmentSize(size) => segment_size = size,
            TcpOption::Timestamps { value, .. } => recent = Some(value),
            _ => {}
        }
    }
    let (ours, theirs) = (shape.starts[0], header.sequence_number());
    let window = (shape.ring / 2).min(0xFFFF) as u16;
    let value = 77_000;
    peer.arrive(&syn_ack(shape, theirs.wrapping_add(1), window, recent.map(|ts| (value, ts))));
    peer.poll(now);
    let ack = next_frame(peer);
    let (header, ..) = TcpHeader::parse(segment(&ack).unwrap()).unwrap();
    assert_eq!(header.acknowledgement_number(), ours.wrapping_add(1));
    let send_window = u32::from(header.window()) << send_scale;
    let next = ours.wrapping_add(1);
    Snapshot {
        send_unacknowledged: next,
        send_next: next,
        send_window,
        send_window_max: send_window,
        send_window_update: theirs.wrapping_add(1),
        receive_next: theirs.wrapping_add(1),
        receive_window: u32::from(window),
        send_scale,
        receive_scale: shape.scale,
        segment_size: segment_size.min(shape.segment_size),
        selective: shape.selective,
        timestamps: recent.map(|_| Timestamps { value, floor: value, recent: None }),
        round_trip: None,
    }
}

fn next_frame(peer: &mut SmoltcpHost) -> Vec<u8> {
    let mut frame = Vec::new();
    assert!(peer.transmit(|sent| frame.extend_from_slice(sent)), "no segment of the handshake");
    frame
}

fn syn_ack(shape: &Shape, acknowledged: u32, window: u16, time: Option<(u32, u32)>) -> Vec<u8> {
    let sequence = |number: u32| TcpSeqNumber(number as i32);
    let [source, to] = [1, 2].map(|number| Ipv4Address::new(10, 0, 0, number));
    let tcp = TcpRepr {
        src_port: 1_000,
        dst_port: 2_000,
        control: TcpControl::Syn,
        seq_number: sequence(shape.starts[0]),
        ack_number: Some(sequence(acknowledged)),
        window_len: window,
        window_scale: Some(shape.scale),
        max_seg_size: Some(shape.segment_size),
        sack_permitted: shape.selective,
        sack_ranges: [None; 3],
        timestamp: time.map(|(value, echo)| TcpTimestampRepr::new(value, echo)),
        payload: &[],
    };
    let ip = Ipv4Repr {
        src_addr: source,
        dst_addr: to,
        next_header: IpProtocol::Tcp,
        payload_len: tcp.buffer_len(),
        hop_limit: 64,
    };
    let mut frame = vec![0; ETHERNET + ip.buffer_len() + tcp.buffer_len()];
    let checksums = ChecksumCapabilities::default();
    let mut packet = Ipv4Packet::new_unchecked(&mut frame[ETHERNET..]);
    ip.emit(&mut packet, &checksums);
    let mut segment = TcpPacket::new_unchecked(packet.payload_mut());
    tcp.emit(&mut segment, &source.into(), &to.into(), &checksums);
    frame
}
