//! An interface that goes down and comes up again.

use std::collections::VecDeque;
use std::io;
use std::io::ErrorKind;
use std::net::UdpSocket;

use hairpin_xdp::{Interface, Mode};

use crate::support::{RAW, eventually, next, open, raw, send, testbed};

/// Sets an interface of the calling thread's namespace up or down.
fn switch(name: &str, up: bool) -> io::Result<()> {
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    // SAFETY: a request consists of integers, pointers and bytes, for which zero is a valid value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from.cast_signed() as libc::c_char;
    }
    let fd = std::os::fd::AsRawFd::as_raw_fd(&socket);
    let flags = libc::SIOCGIFFLAGS;
    // SAFETY: the request is initialized, and the kernel writes its flags.
    if unsafe { libc::ioctl(fd, flags, &raw mut request) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel wrote this member.
    let flags = unsafe { request.ifr_ifru.ifru_flags } & !(libc::IFF_UP as i16);
    request.ifr_ifru.ifru_flags = if up { flags | libc::IFF_UP as i16 } else { flags };
    // SAFETY: the request is initialized, and the kernel only reads it.
    match unsafe { libc::ioctl(fd, libc::SIOCSIFFLAGS, &raw mut request) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[test]
#[ignore = "needs root"]
fn interface_recovers_after_down_and_up() {
    for mode in [Mode::Native, Mode::Generic] {
        let testbed = testbed(1);
        let [ours, theirs] = testbed.hosts();
        let mut ends = [open(ours, mode), open(theirs, mode)];
        for end in &ends {
            end.redirect(&RAW).unwrap();
        }
        let passes = |ends: &mut [Interface; 2], number| {
            assert!(send(&mut ends[0], 0, &raw(number, 0)));
            ends[0].flush().unwrap();
            let (_, packet) = next(&mut ends[1]).expect("the frame arrives");
            assert_eq!(ends[1].bytes(&packet), raw(number, 0));
            ends[1].release(packet.into_frame());
        };
        passes(&mut ends, 1);
        ours.run(|| switch(ours.interface(), false)).unwrap().unwrap();
        assert!(send(&mut ends[0], 0, &raw(2, 0)));
        let error = ends[0].flush().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NetworkDown);
        ours.run(|| switch(ours.interface(), true)).unwrap().unwrap();
        // Packets in the ring leave with the next flush.
        assert!(eventually(|| ends[0].flush().is_ok() && ends[0].sockets()[0].tx_frames() == 0));
        let mut seen = VecDeque::new();
        assert!(eventually(|| {
            send(&mut ends[0], 0, &raw(3, 0));
            ends[0].flush().unwrap();
            while let Some((_, packet)) = ends[1].receive().unwrap() {
                seen.push_back(ends[1].bytes(&packet).to_vec());
                ends[1].release(packet.into_frame());
            }
            seen.contains(&raw(3, 0))
        }));
        assert!(seen.iter().all(|frame| [raw(2, 0), raw(3, 0)].contains(frame)));
        passes_back(&mut ends);
    }
}

/// Checks the opposite direction.
fn passes_back(ends: &mut [Interface; 2]) {
    assert!(eventually(|| {
        send(&mut ends[1], 0, &raw(4, 0));
        ends[1].flush().unwrap();
        let Some((_, packet)) = ends[0].receive().unwrap() else { return false };
        let is_match = ends[0].bytes(&packet) == raw(4, 0);
        ends[0].release(packet.into_frame());
        is_match
    }));
}
