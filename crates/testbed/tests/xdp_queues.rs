//! Queues are real if an XDP socket can have them: each of them, and no other. As root.
#![expect(clippy::unwrap_used, reason = "all of this file is tests")]

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

use hairpin_testbed::{Host, Queues, RelaySettings, Testbed};

const CHUNK: usize = 4_096;
const CHUNKS: usize = 16;

/// Frames in memory that the kernel has pinned as long as the socket is open.
struct XdpSocket {
    fd: Option<OwnedFd>,
    memory: *mut u8,
}

impl XdpSocket {
    const LAYOUT: Layout = match Layout::from_size_align(CHUNK * CHUNKS, CHUNK) {
        Ok(layout) => layout,
        Err(_) => panic!("a power of two"),
    };

    /// Binds to a queue of an interface of the calling thread's namespace, in copy mode.
    fn bind(interface_index: u32, queue: u32) -> io::Result<Self> {
        // SAFETY: takes integers.
        let fd = unsafe { libc::socket(libc::AF_XDP, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is new and nobody else's; the layout is not empty.
        let (fd, memory) = unsafe { (OwnedFd::from_raw_fd(fd), alloc_zeroed(Self::LAYOUT)) };
        let socket = Self { fd: Some(fd), memory };
        let memory = libc::xdp_umem_reg {
            addr: memory as u64,
            len: Self::LAYOUT.size() as u64,
            chunk_size: CHUNK as u32,
            headroom: 0,
            flags: 0,
            tx_metadata_len: 0,
        };
        socket.set(libc::XDP_UMEM_REG, &memory)?;
        for ring in [libc::XDP_UMEM_FILL_RING, libc::XDP_UMEM_COMPLETION_RING, libc::XDP_RX_RING] {
            socket.set(ring, &(CHUNKS as libc::c_int))?;
        }
        let address = libc::sockaddr_xdp {
            sxdp_family: libc::AF_XDP as u16,
            sxdp_flags: libc::XDP_COPY,
            sxdp_ifindex: interface_index,
            sxdp_queue_id: queue,
            sxdp_shared_umem_fd: 0,
        };
        let length = size_of_val(&address) as libc::socklen_t;
        let fd = socket.fd.as_ref().unwrap().as_raw_fd();
        // SAFETY: the kernel reads an address of this length, which lives through the call.
        match unsafe { libc::bind(fd, (&raw const address).cast(), length) } {
            0 => Ok(socket),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn set<T>(&self, option: libc::c_int, value: &T) -> io::Result<()> {
        let fd = self.fd.as_ref().unwrap().as_raw_fd();
        let length = size_of::<T>() as libc::socklen_t;
        let value = std::ptr::from_ref(value).cast();
        // SAFETY: the kernel reads a value of this length, which lives through the call; memory
        // that one names belongs to this socket and is freed after it is closed.
        match unsafe { libc::setsockopt(fd, libc::SOL_XDP, option, value, length) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl Drop for XdpSocket {
    fn drop(&mut self) {
        self.fd = None;
        // SAFETY: allocated with this layout, once; the kernel holds pages of its own on it.
        unsafe { dealloc(self.memory, Self::LAYOUT) };
    }
}

/// The queues below `count` that an XDP socket can have; `None` if this kernel has no such socket.
fn queues_to_be_had(host: &Host, count: u32) -> Option<Vec<u32>> {
    let index = host.interface_index();
    let mut had = Vec::new();
    for queue in 0..count {
        match host.run(|| bind_and_close(index, queue)).unwrap() {
            Ok(()) => had.push(queue),
            Err(error) if error.raw_os_error() == Some(libc::EAFNOSUPPORT) => return None,
            Err(error) => assert_eq!(error.raw_os_error(), Some(libc::EINVAL), "{error}"),
        }
    }
    Some(had)
}

/// The kernel takes its time to give back a queue whose socket is closed.
fn bind_and_close(interface_index: u32, queue: u32) -> io::Result<()> {
    let is_busy =
        |error: &io::Error| matches!(error.raw_os_error(), Some(libc::EBUSY | libc::ENOBUFS));
    for _ in 0..2_000 {
        match XdpSocket::bind(interface_index, queue) {
            Err(error) if is_busy(&error) => std::thread::sleep(Duration::from_millis(10)),
            result => return result.map(drop),
        }
    }
    Err(io::ErrorKind::TimedOut.into())
}

#[test]
#[ignore = "needs root"]
fn xdp_sockets_find_as_many_queues_as_there_are() {
    let builder = Testbed::builder().queues(Queues::pairs(2)).queues_max(Queues::pairs(4));
    for bed in [builder.build().unwrap(), builder.relay(RelaySettings::seeded(7)).build().unwrap()]
    {
        for host in bed.hosts() {
            // Upwards: a queue is not given up before the kernel has done with its socket.
            for count in [1, 2, 4] {
                host.set_queues(Queues::pairs(count)).unwrap();
                let Some(had) = queues_to_be_had(host, 5) else {
                    println!("skipped: this kernel has no XDP sockets");
                    return;
                };
                assert_eq!(had, Vec::from_iter(0..count));
            }
        }
    }
}

/// What a bed without a wish gives: veth shows one queue for each processor, and has one.
#[test]
#[ignore = "needs root"]
fn without_a_wish_an_xdp_socket_finds_one() {
    let bed = Testbed::namespaces().unwrap();
    for host in bed.hosts() {
        assert_eq!(queues_to_be_had(host, 2).unwrap_or(vec![0]), [0]);
    }
}
