//! What a session on an endpoint is told before it starts.

use std::net::SocketAddrV4;

use hairpin_ilink3 as ilink3;

/// Messages that may wait for a blocked connection unless set: more than a burst of orders, and
/// few enough that none of them is old when the connection takes it.
pub const WAITING_DEFAULT: usize = 64;

/// Where to connect, who logs on, and how much may wait.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Address and port of the exchange's gateway.
    pub gateway: SocketAddrV4,
    /// Who logs on, with what key; see [`Logon`](crate::Logon).
    pub logon: ilink3::Settings,
    /// Committed messages that may wait for a connection that takes no more; beyond them a send
    /// is refused. At least 1 is kept. See [`WAITING_DEFAULT`].
    pub waiting_max: usize,
}

impl Settings {
    /// Settings with the default of what may wait.
    #[must_use]
    pub fn new(gateway: SocketAddrV4, logon: ilink3::Settings) -> Self {
        Self { gateway, logon, waiting_max: WAITING_DEFAULT }
    }
}
