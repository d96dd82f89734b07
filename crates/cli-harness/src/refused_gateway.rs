//! The advice for a gateway on this host at which no program listens.

use std::io;
use std::net::SocketAddrV4;

/// Returns the end of the error of a connection to one of `gateways`. If this host has refused it,
/// the text names the command that starts a simulator, otherwise it is empty.
#[must_use]
pub fn advice(failure: &io::Error, gateways: &[SocketAddrV4]) -> &'static str {
    let text = failure.to_string();
    let is_here = |it: &SocketAddrV4| it.ip().is_loopback() && text.contains(&format!(" {it}: "));
    match failure.kind() == io::ErrorKind::ConnectionRefused && gateways.iter().any(is_here) {
        true => "; nothing listens there: `hairpin exchange` starts a simulator",
        false => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_refusal_by_this_host_names_the_simulator() {
        let refused = |address: &str, kind: io::ErrorKind| {
            let failure = io::Error::new(kind, format!("cannot connect to {address}: refused"));
            let gateways = ["10.0.0.1:5000", "127.0.0.1:5000"].map(|it| it.parse().unwrap());
            advice(&failure, &gateways).contains("`hairpin exchange`")
        };
        assert!(refused("127.0.0.1:5000", io::ErrorKind::ConnectionRefused));
        assert!(!refused("127.0.0.1:5001", io::ErrorKind::ConnectionRefused));
        assert!(!refused("10.0.0.1:5000", io::ErrorKind::ConnectionRefused));
        assert!(!refused("127.0.0.1:5000", io::ErrorKind::TimedOut));
    }
}
