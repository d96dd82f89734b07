//! XDP sockets can bind to each real queue and to no other. As root.
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

use hairpin_testbed::{Host, Queues, RelaySettings, Testbed};

const CHUNK: usize = 4_096;
const CHUNKS: usize = 16;

/// An XDP socket and its UMEM, which the kernel pins while the socket is open.
struct XdpSocket {
    fd: Option<OwnedFd>,
    memory: *mut u8,
}

impl XdpSocket {
    const LAYOUT: Layout = match Layout::from_size_align(CHUNK * CHUNKS, CHUNK) {
        Ok(layout) => layout,
        Err(_) => panic!("a power of two"),
    };

    /// Binds to a queue of an interface in the calling thread's namespace, in copy mode.
    fn bind(interface_index: u32, queue: u32) -> io::Result<Self> {
        // SAFETY: the call takes integers.
        let fd = unsafe { libc::socket(libc::AF_XDP, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is new and has no other owner. The layout is not empty.
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
        // SAFETY: the kernel reads an address of this length, which lives during the call.
        match unsafe { libc::bind(fd, (&raw const address).cast(), length) } {
            0 => Ok(socket),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn set<T>(&self, option: libc::c_int, value: &T) -> io::Result<()> {
        let fd = self.fd.as_ref().unwrap().as_raw_fd();
        let length = size_of::<T>() as libc::socklen_t;
        let value = std::ptr::from_ref(value).cast();
        // SAFETY: the kernel reads a value of this length, which lives during the call. The UMEM in
        // that value belongs to this socket and is freed after the socket is closed.
        match unsafe { libc::setsockopt(fd, libc::SOL_XDP, option, value, length) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl Drop for XdpSocket {
    fn drop(&mut self) {
        self.fd = None;
        // SAFETY: the memory was allocated with this layout and is freed once. The kernel holds its
        // own references to the pages.
        unsafe { dealloc(self.memory, Self::LAYOUT) };
    }
}

/// Returns the queues below `count` to which an XDP socket can bind; `None` if the kernel has no
/// XDP sockets.
fn bindable_queues(host: &Host, count: u32) -> Option<Vec<u32>> {
    let index = host.interface_index();
    let mut bindable = Vec::new();
    for queue in 0..count {
        match host.run(|| bind_and_close(index, queue)).unwrap() {
            Ok(()) => bindable.push(queue),
            Err(error) if error.raw_os_error() == Some(libc::EAFNOSUPPORT) => return None,
            Err(error) => assert_eq!(error.raw_os_error(), Some(libc::EINVAL), "{error}"),
        }
    }
    Some(bindable)
}

/// Retries while the kernel still releases the queue of a closed socket.
fn bind_and_close(interface_index: u32, queue: u32) -> io::Result<()> {
    let is_busy =
        |error: &io::Error| matches!(error.raw_os_error(), Some(libc::EBUSY | libc::ENOBUFS));
    for _ in 0..6_000 {
        match XdpSocket::bind(interface_index, queue) {
            Err(error) if is_busy(&error) => std::thread::sleep(Duration::from_millis(10)),
            result => return result.map(drop),
        }
    }
    Err(io::ErrorKind::TimedOut.into())
}

#[test]
#[ignore = "needs root"]
fn xdp_sockets_bind_to_every_real_queue() {
    let builder = Testbed::builder().queues(Queues::pairs(2)).queues_max(Queues::pairs(4));
    for testbed in
        [builder.build().unwrap(), builder.relay(RelaySettings::seeded(7)).build().unwrap()]
    {
        for host in testbed.hosts() {
            // Increasing: the kernel removes no queue before it has released its socket.
            for count in [1, 2, 4] {
                host.set_queues(Queues::pairs(count)).unwrap();
                let Some(bindable) = bindable_queues(host, 5) else {
                    println!("skipped: this kernel has no XDP sockets");
                    return;
                };
                assert_eq!(bindable, Vec::from_iter(0..count));
            }
        }
    }
}

/// A veth of default settings has one real queue, though it reports one per processor as maximum.
#[test]
#[ignore = "needs root"]
fn xdp_sockets_bind_to_one_queue_by_default() {
    let testbed = Testbed::namespaces().unwrap();
    for host in testbed.hosts() {
        assert_eq!(bindable_queues(host, 2).unwrap_or(vec![0]), [0]);
    }
}
