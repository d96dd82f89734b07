//! The sockets of the programs that `hairpin run` started: the kernel's tables, joined with what
//! each program answers about its own.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::{self, IsTerminal};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use hairpin_host::Clock;
use hairpin_mapped::Question;
use hairpin_measure::{Style, TextTable, counted};
use serde::Serialize;

use super::{Format, print, print_message};

/// The time that programs have to answer. They look for questions once per second.
const ANSWER: Duration = Duration::from_secs(3);
/// The states of TCP from 1 on (`include/net/tcp_states.h`).
const STATES: [&str; 12] = [
    "established",
    "syn-sent",
    "syn-recv",
    "fin-wait-1",
    "fin-wait-2",
    "time-wait",
    "closed",
    "close-wait",
    "last-ack",
    "listen",
    "closing",
    "new-syn-recv",
];

/// A socket of a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Row {
    pid: u32,
    command: String,
    descriptor: u32,
    protocol: &'static str,
    local: SocketAddr,
    /// `None` if the socket has no peer.
    remote: Option<SocketAddr>,
    state: &'static str,
    /// `bypass`, `kernel`, or `unknown` if the program does not answer.
    path: &'static str,
    /// Bytes.
    receive_queue: u64,
    send_queue: u64,
    /// Datagrams that the kernel's socket has dropped.
    drops: u64,
    /// `None` for a socket that the program does not track.
    #[serde(flatten)]
    own: Option<Own>,
}

/// What a program knows of its socket.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
struct Own {
    received_bypass: u64,
    received_kernel: u64,
    sent_bypass: u64,
    sent_kernel: u64,
    takeovers: u64,
    handbacks: u64,
    last_handback: Option<String>,
    #[serde(skip)]
    is_bypassing: bool,
    #[serde(skip)]
    queues: [u64; 2],
}

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    time: String,
    sockets: Vec<Row>,
    unreadable: usize,
}

/// The programs found.
#[derive(Debug, Default)]
struct Programs {
    /// Those that may be read.
    found: Vec<u32>,
    /// The processes that may not be inspected.
    unreadable: Vec<u32>,
}

/// Prints the sockets of these processes, or of all if no process is given.
///
/// # Errors
/// No `/proc`; standard output cannot be written.
pub(super) fn run(processes: &[u32], format: Format) -> Result<ExitCode> {
    let programs = Programs::find(processes).context("cannot search /proc for processes")?;
    // Before the questions: what is accelerated meanwhile is then in the answer.
    let asked = |pid: &u32| (*pid, sockets_of(*pid), Question::ask(*pid));
    let asked: Vec<_> = programs.found.iter().map(asked).collect();
    let until = Instant::now() + ANSWER;
    let mut rows = Vec::new();
    for (pid, mut sockets, question) in asked {
        if let Some(answer) = answer(pid, question, until) {
            sockets.iter_mut().for_each(|row| row.join(&answer));
        }
        rows.append(&mut sockets);
    }
    print(&match format {
        Format::Json => {
            let unreadable = programs.unreadable.len();
            let time = Clock::from_kernel().now().utc.to_string();
            let schema = "hairpin.sockets/1";
            let document = Document { schema, time, sockets: rows.clone(), unreadable };
            serde_json::to_string(&document)? + "\n"
        }
        Format::Text if rows.is_empty() => String::new(),
        Format::Text => table(&rows).render(if io::stdout().is_terminal() {
            Style::for_stdout()
        } else {
            Style::Plain
        }),
    })?;
    let mut are_all_shown = true;
    for pid in processes.iter().filter(|pid| !programs.found.contains(pid)) {
        are_all_shown = false;
        let why = if programs.unreadable.contains(pid) {
            "belongs to another user; root may read it"
        } else {
            "was not started by hairpin run"
        };
        print_message(format_args!("process {pid} {why}"));
    }
    if processes.is_empty() && !programs.unreadable.is_empty() {
        let count = counted(programs.unreadable.len(), "process");
        print_message(format_args!("{count} of other users skipped; root may read them"));
    }
    if processes.is_empty() && programs.found.is_empty() {
        print_message("no readable process was started by hairpin run");
    }
    let is_success = are_all_shown && !programs.found.is_empty();
    Ok(if is_success { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns what a program knows of its sockets; prints a line if it does not answer.
fn answer(
    pid: u32,
    question: io::Result<Option<Question>>,
    until: Instant,
) -> Option<BTreeMap<u32, Own>> {
    let answer = match question {
        Ok(Some(question)) => question.answer(until),
        // Without an accelerated socket there is nothing to answer.
        Ok(None) => Ok(Some(String::new())),
        Err(error) => Err(error),
    };
    match answer {
        Ok(Some(text)) => return Some(parse_answer(&text)),
        Ok(None) => {
            print_message(format_args!("process {pid} does not answer: is it stopped?"));
        }
        Err(error) => print_message(format_args!("cannot ask process {pid}: {error}")),
    }
    None
}

impl Row {
    /// Adds what the program knows.
    fn join(&mut self, answer: &BTreeMap<u32, Own>) {
        self.path = "kernel";
        let Some(own) = answer.get(&self.descriptor) else { return };
        if own.is_bypassing {
            self.path = "bypass";
            if self.protocol == "tcp" {
                [self.receive_queue, self.send_queue] = own.queues;
            }
        }
        self.own = Some(own.clone());
    }
}

impl Programs {
    /// Finds the processes that have the preloaded library, among the given ones or all.
    fn find(wanted: &[u32]) -> io::Result<Self> {
        let mut programs = Self::default();
        for entry in fs::read_dir("/proc")?.filter_map(Result::ok) {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            if !wanted.is_empty() && !wanted.contains(&pid) {
                continue;
            }
            match fs::read_to_string(format!("/proc/{pid}/maps")) {
                Ok(maps) if has_library(&maps) => programs.found.push(pid),
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    programs.unreadable.push(pid);
                }
                // The process has ended in the meantime.
                Ok(_) | Err(_) => {}
            }
        }
        programs.found.sort_unstable();
        Ok(programs)
    }
}

fn has_library(maps: &str) -> bool {
    maps.contains("/memfd:hairpin-preload") || maps.contains("/libhairpin_preload.so")
}

/// Returns the sockets of a process as the kernel knows them, in the order of their descriptors.
fn sockets_of(pid: u32) -> Vec<Row> {
    let command = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    let graphic = |byte: char| if byte.is_ascii_graphic() { byte } else { '?' };
    let command: String = command.trim().chars().map(graphic).collect();
    let mut kernel = HashMap::new();
    for protocol in ["tcp", "tcp6", "udp", "udp6"] {
        let text = fs::read_to_string(format!("/proc/{pid}/net/{protocol}")).unwrap_or_default();
        let protocol = if protocol.starts_with("tcp") { "tcp" } else { "udp" };
        kernel.extend(text.lines().filter_map(|line| parse_line(protocol, line)));
    }
    let mut rows: Vec<Row> = descriptors(pid)
        .filter_map(|(descriptor, inode)| {
            let mut row = kernel.get(&inode)?.clone();
            (row.pid, row.command, row.descriptor) = (pid, command.clone(), descriptor);
            Some(row)
        })
        .collect();
    rows.sort_by_key(|row| row.descriptor);
    rows
}

/// Returns the descriptors of a process that are sockets, and their inodes.
fn descriptors(pid: u32) -> impl Iterator<Item = (u32, u64)> {
    let links = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten();
    links.filter_map(Result::ok).filter_map(|link| {
        let target = fs::read_link(link.path()).ok()?;
        let inode = target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()?;
        Some((link.file_name().to_str()?.parse().ok()?, inode))
    })
}

/// Reads a line of `/proc/net/tcp` or `udp`. Returns the socket's inode, and what the kernel knows.
fn parse_line(protocol: &'static str, line: &str) -> Option<(u64, Row)> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let local = parse_address(fields.get(1)?)?;
    let remote = parse_address(fields.get(2)?)?;
    let state = usize::from_str_radix(fields.get(3)?, 16).ok()?;
    let (sent, received) = fields.get(4)?.split_once(':')?;
    let remote = (remote.port() != 0).then_some(remote);
    let state = match protocol {
        "tcp" => STATES.get(state.checked_sub(1)?).copied()?,
        _ if remote.is_some() => "connected",
        _ => "unconnected",
    };
    let drops = fields.get(12).filter(|_| protocol == "udp").and_then(|it| it.parse().ok());
    let row = Row {
        pid: 0,
        command: String::new(),
        descriptor: 0,
        protocol,
        local,
        remote,
        state,
        path: "unknown",
        receive_queue: u64::from_str_radix(received, 16).ok()?,
        send_queue: u64::from_str_radix(sent, 16).ok()?,
        drops: drops.unwrap_or(0),
        own: None,
    };
    Some((fields.get(9)?.parse().ok()?, row))
}

/// Reads `ADDRESS:PORT` in hexadecimal, the address in words of the host's byte order.
fn parse_address(text: &str) -> Option<SocketAddr> {
    let (address, port) = text.split_once(':')?;
    let word = |at: usize| {
        let word = address.get(at..at + 8)?;
        Some(u32::from_str_radix(word, 16).ok()?.to_ne_bytes())
    };
    let ip = match address.len() {
        8 => IpAddr::V4(Ipv4Addr::from(word(0)?)),
        32 => {
            let words = [word(0)?, word(8)?, word(16)?, word(24)?];
            let bytes: [u8; 16] = words.concat().try_into().ok()?;
            IpAddr::V6(Ipv6Addr::from(bytes)).to_canonical()
        }
        _ => return None,
    };
    Some(SocketAddr::new(ip, u16::from_str_radix(port, 16).ok()?))
}

/// Reads what a program answers; other lines are left out.
fn parse_answer(text: &str) -> BTreeMap<u32, Own> {
    let line = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
        let cause = fields.get(8)?;
        let is_cause = cause.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        let own = Own {
            is_bypassing: *fields.get(1)? == "bypass",
            received_bypass: number(2)?,
            received_kernel: number(3)?,
            sent_bypass: number(4)?,
            sent_kernel: number(5)?,
            takeovers: number(6)?,
            handbacks: number(7)?,
            last_handback: (!cause.is_empty() && is_cause).then(|| (*cause).to_owned()),
            queues: [number(9)?, number(10)?],
        };
        Some((u32::try_from(number(0)?).ok()?, own))
    };
    text.lines().filter_map(line).collect()
}

fn table(rows: &[Row]) -> TextTable {
    let mut table = TextTable::default().without_borders();
    table.add_figures("pid", 0);
    table.add_words("command", 3);
    table.add_figures("fd", 4);
    table.add_words("protocol", 1);
    table.add_words("local", 0);
    table.add_words("remote", 0);
    table.add_words("state", 2);
    table.add_words("path", 0);
    for heading in ["receive queue", "send queue", "drops"] {
        table.add_figures(heading, 6);
    }
    for heading in ["received bypass", "received kernel", "sent bypass", "sent kernel"] {
        table.add_figures(heading, 5);
    }
    for heading in ["takeovers", "handbacks"] {
        table.add_figures(heading, 7);
    }
    table.add_words("last handback", 7);
    for row in rows {
        let own = |value: fn(&Own) -> u64| match &row.own {
            Some(own) => value(own).to_string(),
            None => "-".to_owned(),
        };
        let cause = row.own.as_ref().and_then(|own| own.last_handback.clone());
        table.add_row([
            row.pid.to_string(),
            row.command.clone(),
            row.descriptor.to_string(),
            row.protocol.to_owned(),
            row.local.to_string(),
            row.remote.map_or_else(|| "-".to_owned(), |remote| remote.to_string()),
            row.state.to_owned(),
            row.path.to_owned(),
            row.receive_queue.to_string(),
            row.send_queue.to_string(),
            row.drops.to_string(),
            own(|own| own.received_bypass),
            own(|own| own.received_kernel),
            own(|own| own.sent_bypass),
            own(|own| own.sent_kernel),
            own(|own| own.takeovers),
            own(|own| own.handbacks),
            cause.unwrap_or_else(|| "-".to_owned()),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_kernels_tables() {
        let line = "  12: 0100000A:1F90 0200000A:C350 01 00000010:00000020 00:00000000 00000000 \
                    0        0 4711 1 0000000000000000 20 4 30 10 -1";
        let (inode, row) = parse_line("tcp", line).unwrap();
        assert_eq!(
            (inode, row.state, row.send_queue, row.receive_queue),
            (4711, "established", 16, 32)
        );
        assert_eq!(row.local, "10.0.0.1:8080".parse().unwrap());
        assert_eq!(row.remote, Some("10.0.0.2:50000".parse().unwrap()));
        let line = "  3: 00000000000000000000000001000000:0007 \
                    00000000000000000000000000000000:0000 07 00000000:00000000 00:00000000 \
                    00000000 0 0 99 2 0000000000000000 5";
        let (inode, row) = parse_line("udp", line).unwrap();
        assert_eq!((inode, row.state, row.drops, row.remote), (99, "unconnected", 5, None));
        assert_eq!(row.local, "[::1]:7".parse().unwrap());
        assert_eq!(parse_line("tcp", "  sl  local_address rem_address   st tx_queue"), None);
        assert_eq!(parse_line("tcp", ""), None);
        assert_eq!(parse_line("tcp", "0: 0:0 0:0 01 0:0"), None);
    }

    #[test]
    fn reads_answers_and_skips_other_lines() {
        let text = "5\tbypass\t10\t4\t11\t5\t2\t1\tbulk\t7\t8\n\
                    6\tkernel\t0\t1\t0\t1\t0\t0\t\t0\t0\n\
                    7\tbypass\t1\n\x1b[2J\n8\tkernel\t0\t0\t0\t0\t0\t0\t\x1b[2J\t0\t0\n";
        let answer = parse_answer(text);
        assert_eq!(answer.keys().copied().collect::<Vec<_>>(), [5, 6, 8]);
        let own = &answer[&5];
        assert!(own.is_bypassing && own.queues == [7, 8] && own.takeovers == 2);
        assert_eq!(own.last_handback.as_deref(), Some("bulk"));
        assert_eq!(answer[&8].last_handback, None, "not a cause");
    }
}
