//! Packets that an interface has received and no socket has.

use std::fs;
use std::io;

/// Packets that came by the interface called `name` and were dropped before any socket, since the
/// interface was made: there was no room for them, on the card (rx_missed_errors) or at a core's
/// backlog, or nobody knows their protocol.
///
/// No socket ever hears of these: a receiver that has lost packets though its sockets have dropped
/// none finds them here, or they were lost on the way. Needs no privilege.
///
/// # Errors
/// /proc/thread-self/net/dev cannot be read. `NotFound`: there is no such interface.
pub fn interface_drops(name: &str) -> io::Result<u64> {
    let text = fs::read_to_string("/proc/thread-self/net/dev")?;
    dropped(&text, name).ok_or_else(|| {
        io::Error::new(io::ErrorKind::NotFound, format!("interface {name} does not exist"))
    })
}

/// The fourth number behind the interface's name: bytes, packets, errors, dropped, and more.
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
    fn the_fourth_number_is_what_was_dropped() {
        assert_eq!(dropped(TABLE, "lo"), Some(4));
        assert_eq!(dropped(TABLE, "eth1"), Some(7));
    }

    #[test]
    fn an_interface_that_is_not_there_or_has_no_such_number_has_none() {
        for name in ["eth", "eth10", "", "face"] {
            assert_eq!(dropped(TABLE, name), None, "{name}");
        }
        let error = interface_drops("nowhere0").unwrap_err();
        assert_eq!(error.to_string(), "interface nowhere0 does not exist");
    }

    #[test]
    fn this_kernel_counts_them() {
        assert!(interface_drops("lo").is_ok());
    }
}
