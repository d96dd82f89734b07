//! The peer of the Python programs: a kernel socket on the other host.

use std::ffi::CString;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hairpin_testbed::Host;

/// Runs `body` with the address of a peer that serves meanwhile.
pub(crate) fn with_peer<R>(host: &Host, address: IpAddr, body: impl FnOnce(SocketAddr) -> R) -> R {
    let socket = host.run(|| UdpSocket::bind((address, 0))).unwrap().unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(10))).unwrap();
    match address {
        IpAddr::V4(address) => {
            let (level, name) = (libc::IPPROTO_IP, libc::IP_MULTICAST_IF);
            send_groups_from(&socket, level, name, u32::from(address).to_be());
        }
        IpAddr::V6(_) => {
            let name = CString::new(host.interface()).unwrap();
            // SAFETY: the name ends with a zero.
            let index = host.run(|| unsafe { libc::if_nametoindex(name.as_ptr()) }).unwrap();
            let (level, name) = (libc::IPPROTO_IPV6, libc::IPV6_MULTICAST_IF);
            send_groups_from(&socket, level, name, index);
        }
    }
    let at = socket.local_addr().unwrap();
    let stopped = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| serve(&socket, &stopped));
        // A panic must not leave the thread running, or the scope waits without limit.
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| body(at)));
        stopped.store(true, Ordering::Relaxed);
        result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn send_groups_from(socket: &UdpSocket, level: libc::c_int, name: libc::c_int, value: u32) {
    let (place, length) = ((&raw const value).cast(), size_of::<u32>() as libc::socklen_t);
    // SAFETY: the value outlives the call and has the length that is passed.
    let set = unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, place, length) };
    assert_eq!(set, 0, "{}", std::io::Error::last_os_error());
}

/// Answers `N:text` with N numbered datagrams, `s:N` with a paced stream of N numbers, and
/// `m:GROUP:PORT:text` with a datagram to a group, and `u:ADDRESS:PORT:text` with one to an
/// address.
fn serve(socket: &UdpSocket, stopped: &AtomicBool) {
    let mut buffer = [0; 65_536];
    while !stopped.load(Ordering::Relaxed) {
        let Ok((length, from)) = socket.recv_from(&mut buffer) else { continue };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match &buffer[..length] {
            [b's', b':', count @ ..] => {
                for number in 0..text(count).parse::<u32>().unwrap() {
                    socket.send_to(number.to_string().as_bytes(), from).unwrap();
                    std::thread::sleep(Duration::from_micros(50));
                }
            }
            [b'm' | b'u', b':', rest @ ..] => {
                let rest = text(rest);
                let [text, port, group] =
                    rest.rsplitn(3, ':').collect::<Vec<_>>().try_into().unwrap();
                let to = (group.parse::<IpAddr>().unwrap(), port.parse().unwrap());
                socket.send_to(text.as_bytes(), to).unwrap();
            }
            [count @ b'0'..=b'9', rest @ ..] => {
                for number in 0..count - b'0' {
                    socket.send_to(&[&[b'0' + number], rest].concat(), from).unwrap();
                }
            }
            _ => {}
        }
    }
}
