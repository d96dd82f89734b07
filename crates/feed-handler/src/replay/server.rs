//! The address and credentials of a replay server.

use std::fmt;
use std::net::SocketAddrV4;

use crate::{AdminTemplates, ReplaySettings};

/// A channel's replay server with its credentials. `Debug` hides user and password.
#[derive(Clone, PartialEq, Eq)]
pub struct ReplayServer {
    /// The channel number as text: ApplID (1180).
    pub channel: String,
    /// The hosts. After a failure the client tries the next one.
    pub hosts: Vec<SocketAddrV4>,
    /// Username (553).
    pub user: String,
    /// Password (554).
    pub password: String,
    /// The template ids of the Global TCP Recovery schema; see [`ReplaySettings::admin_templates`].
    pub admin_templates: Option<AdminTemplates>,
}

impl ReplayServer {
    /// Creates a server for the user `CME` with password `CME`.
    #[must_use]
    pub fn new(channel: &str, hosts: &[SocketAddrV4]) -> Self {
        let ReplaySettings { user, password, .. } = ReplaySettings::default();
        let (channel, hosts) = (channel.to_owned(), hosts.to_vec());
        Self { channel, hosts, user, password, admin_templates: None }
    }

    /// Sets user and password.
    #[must_use]
    pub fn as_user(self, user: &str, password: &str) -> Self {
        Self { user: user.to_owned(), password: password.to_owned(), ..self }
    }
}

impl fmt::Debug for ReplayServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { channel, hosts, .. } = self;
        let mut shown = f.debug_struct("ReplayServer");
        shown.field("channel", channel).field("hosts", hosts).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use hairpin_time::Instant;

    use crate::ReplayRequest;

    use super::*;

    #[test]
    fn debug_output_hides_credentials() {
        let host = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 10_000);
        let server = ReplayServer::new("310", &[host]).as_user("trader7", "sesame");
        let ReplayServer { user, password, .. } = server.clone();
        let settings = ReplaySettings { user, password, ..ReplaySettings::default() };
        let request = ReplayRequest::new(&settings, "310", "310-1", (1, 2), Instant::ZERO).unwrap();
        let shown = format!("{server:?} {settings:?} {request:?}");
        assert!(shown.contains("310") && shown.contains("127.0.0.1:10000"), "{shown}");
        // Neither as text nor as byte values.
        for secret in ["trader7", "sesame"] {
            let bytes = format!("{:?}", secret.as_bytes());
            let bytes = bytes.trim_matches(['[', ']']);
            assert!(!shown.contains(secret) && !shown.contains(bytes), "{shown}");
        }
    }
}
