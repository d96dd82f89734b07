//! Packets that an interface has received and no socket has received.

use std::fs;
use std::io;

/// Returns the number of packets that the interface `name` received and that were dropped before
/// any socket, since the interface was created. Causes: no room on the card (rx_missed_errors), a
/// full per-core backlog, or an unknown protocol.
///
/// Sockets do not report these drops. A receiver that has lost packets without socket drops finds
/// them here, or they were lost in the network. No privilege is needed.
///
/// # Errors
/// /proc/thread-self/net/dev cannot be read. `NotFound` if there is no such interface.
pub fn interface_drops(name: &str) -> io::Result<u64> {
    let text = fs::read_to_string("/proc/thread-self/net/dev")?;
    dropped(&text, name).ok_or_else(|| {
        io::Error::new(io::ErrorKind::NotFound, format!("interface {name} does not exist"))
    })
}

/// Returns the fourth number after the interface's name: bytes, packets, errors, dropped, and more.
fn dropped(table: &str, name: &str) -> Option<u64> {
    const DROPPED: usize = 3;
    let mut rows = table.lines().filter_map(|line| line.split_once(':'));
    let (_, counts) = rows.find(|(interface, _)| interface.trim() == name)?;
    counts.split_ascii_whitespace().nth(DROPPED)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop
    lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
  eth1:100 200 300 7 5 6 7 8 9 10 11 12 13 14 15 16
 eth10: 1 2 3
";

    #[test]
    fn reads_fourth_number() {
        assert_eq!(dropped(TABLE, "lo"), Some(4));
        assert_eq!(dropped(TABLE, "eth1"), Some(7));
    }

    #[test]
    fn returns_none_for_missing_interface_or_number() {
        for name in ["eth", "eth10", "", "face"] {
            assert_eq!(dropped(TABLE, name), None, "{name}");
        }
        let error = interface_drops("nowhere0").unwrap_err();
        assert_eq!(error.to_string(), "interface nowhere0 does not exist");
    }

    #[test]
    fn reads_drops_of_this_kernel() {
        assert!(interface_drops("lo").is_ok());
    }
}
