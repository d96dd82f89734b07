//! The request to open an interface, and its answer.

use std::os::fd::OwnedFd;
use std::time::Duration;

use hairpin_xdp::{
    Backing, FilterSettings, InterfaceError, InterfaceSettings, LinkError, Mode, PreparedInterface,
    ReceiveStamps, ReceivedInterface, SocketError, SocketSettings, UmemSettings,
};

use super::message::{Numbers, Request};
use crate::StackSettings;

/// The most ports of a filter.
const LOCALS_MAX: u32 = 1 << 16;
/// The flags of a request, and of the state in an answer.
const TCP: u32 = 1;
const KERNEL_STAMPS: u32 = 2;
const GENERIC: u32 = 4;
/// Frames of 4,096 bytes instead of 2,048.
const LARGE_FRAMES: u32 = 8;

/// The settings of an interface that a program may choose; all others are the defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OpenRequest {
    tcp: bool,
    kernel_stamps: bool,
    locals: u32,
}

impl OpenRequest {
    pub(super) fn new(settings: &StackSettings) -> Self {
        let interface = &settings.interface;
        let kernel_stamps = interface.receive_stamps == ReceiveStamps::Kernel;
        Self { tcp: settings.tcp, kernel_stamps, locals: interface.filter.locals }
    }

    pub(super) fn numbers(self) -> Numbers {
        let flag = |flag, is_set| if is_set { flag } else { 0 };
        let flags = flag(TCP, self.tcp) | flag(KERNEL_STAMPS, self.kernel_stamps);
        [Request::OpenInterface as u32, flags, self.locals, 0]
    }

    pub(super) fn from_numbers([_, flags, locals, _]: Numbers) -> Self {
        let (tcp, kernel_stamps) = (flags & TCP != 0, flags & KERNEL_STAMPS != 0);
        Self { tcp, kernel_stamps, locals: locals.clamp(1, LOCALS_MAX) }
    }

    /// Returns the settings. The keeper never waits for a queue, because it serves other requests.
    pub(super) fn stack_settings(self) -> StackSettings {
        let Self { tcp, kernel_stamps, locals } = self;
        let bind_timeout = Duration::ZERO;
        let interface = InterfaceSettings {
            umem: UmemSettings { backing: Backing::Shared, ..UmemSettings::default() },
            socket: SocketSettings { bind_timeout, ..SocketSettings::default() },
            filter: FilterSettings { locals, ..FilterSettings::default() },
            receive_stamps: if kernel_stamps { ReceiveStamps::Kernel } else { ReceiveStamps::Off },
            ..InterfaceSettings::default()
        };
        StackSettings { interface, tcp, ..StackSettings::default() }
    }

    /// Returns the state of an open interface as a number.
    pub(super) fn state_number(prepared: &PreparedInterface) -> u32 {
        let flag = |flag, is_set| if is_set { flag } else { 0 };
        flag(GENERIC, prepared.mode() == Mode::Generic)
            | flag(KERNEL_STAMPS, prepared.receive_stamps() == ReceiveStamps::Kernel)
            | flag(LARGE_FRAMES, prepared.frame_size() == 4_096)
    }

    /// Returns the interface with this state; `None` for another number.
    pub(super) fn received(number: u32, descriptors: Vec<OwnedFd>) -> Option<ReceivedInterface> {
        let mode = if number & GENERIC != 0 { Mode::Generic } else { Mode::Native };
        let has_stamps = number & KERNEL_STAMPS != 0;
        let receive_stamps = if has_stamps { ReceiveStamps::Kernel } else { ReceiveStamps::Off };
        let frame_size = if number & LARGE_FRAMES != 0 { 4_096 } else { 2_048 };
        let received = ReceivedInterface { mode, receive_stamps, frame_size, descriptors };
        (number & !(GENERIC | KERNEL_STAMPS | LARGE_FRAMES) == 0).then_some(received)
    }
}

/// What a process that has just ended may still hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Busy {
    /// A program is attached to the interface.
    Link = 1,
    /// A socket is bound to a queue.
    Queue = 2,
}

/// The error number of any other reason.
pub(super) const OTHER: u32 = 3;

impl Busy {
    pub(super) fn from_error(error: &InterfaceError) -> Option<Self> {
        match error {
            InterfaceError::Link { reason: LinkError::Busy(_), .. } => Some(Self::Link),
            InterfaceError::Socket { reason: SocketError::QueueBusy { .. }, .. } => {
                Some(Self::Queue)
            }
            _ => None,
        }
    }

    pub(super) fn from_number(number: u32) -> Option<Self> {
        [Self::Link, Self::Queue].into_iter().find(|busy| *busy as u32 == number)
    }

    /// Returns the longest time until it is released.
    pub(super) fn patience(self) -> Duration {
        match self {
            Self::Link => Duration::from_millis(300),
            Self::Queue => SocketSettings::default().bind_timeout,
        }
    }
}
