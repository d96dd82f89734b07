//! Serves live counters over HTTP, for a scraper such as Prometheus.
//!
//! The counters are read from the processes' memory, so a process that is stopped or busy is shown
//! as well, and none notices. Each connection has a thread and a time limit: a client that never
//! reads delays no other one.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use hairpin_cli_harness::signals::Signals;
use hairpin_host::Clock;
use hairpin_mapped::CounterPages;

use super::open_metrics::{self, Format};
use super::snapshot::{CounterFilter, CounterSnapshot};
use super::watch::{POLL_INTERVAL, Pause};
use super::{find, print, print_message};

/// The most connections at a time; more are closed.
const CONNECTIONS_MAX: usize = 16;
/// The longest time for a request, and for a part of the answer.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The longest request.
const REQUEST_MAX: usize = 8 << 10;

/// Serves `/metrics` until a signal arrives.
///
/// # Errors
/// The address cannot be listened on; no `/proc`; standard output cannot be written.
pub(super) fn run(filter: &CounterFilter, address: SocketAddr) -> Result<ExitCode> {
    let signals = Signals::take()?;
    let mut pause = Pause::new()?;
    let listener =
        TcpListener::bind(address).with_context(|| format!("cannot listen on {address}"))?;
    let address = listener.local_addr().context("cannot read the address")?;
    let pages = Mutex::new((find()?, Instant::now()));
    let endpoint = Endpoint { filter: filter.clone(), pages, connections: AtomicUsize::new(0) };
    print(&format!("serving http://{address}/metrics until Ctrl-C\n"))?;
    thread::Builder::new()
        .name("listener".to_owned())
        .spawn(move || accept(&listener, &Arc::new(endpoint)))
        .context("cannot start a thread")?;
    loop {
        pause.until(Instant::now() + Duration::from_hours(1), &signals)?;
        if let Some(status) = signals.exit_status() {
            return Ok(status);
        }
    }
}

/// What the threads of the connections share.
struct Endpoint {
    filter: CounterFilter,
    /// The known pages, and when `/proc` was searched for them.
    pages: Mutex<(CounterPages, Instant)>,
    connections: AtomicUsize,
}

fn accept(listener: &TcpListener, endpoint: &Arc<Endpoint>) {
    let mut has_refused = false;
    loop {
        let stream = match listener.accept() {
            Ok((stream, _)) => stream,
            Err(error) => {
                print_message(format_args!("cannot accept a connection: {error}"));
                // Descriptors may have run out.
                thread::sleep(Duration::from_secs(1));
                continue;
            }
        };
        if endpoint.connections.fetch_add(1, Ordering::AcqRel) >= CONNECTIONS_MAX {
            endpoint.connections.fetch_sub(1, Ordering::AcqRel);
            if !has_refused {
                has_refused = true;
                let most = CONNECTIONS_MAX;
                print_message(format_args!("more than {most} connections at a time are closed"));
            }
            continue;
        }
        let shared = Arc::clone(endpoint);
        let serve = move || {
            // The client's errors are its own.
            let _ = shared.serve(stream);
            shared.connections.fetch_sub(1, Ordering::AcqRel);
        };
        if let Err(error) = thread::Builder::new().name("connection".to_owned()).spawn(serve) {
            endpoint.connections.fetch_sub(1, Ordering::AcqRel);
            print_message(format_args!("cannot start a thread: {error}"));
        }
    }
}

impl Endpoint {
    /// Answers one request and closes the connection.
    fn serve(&self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_write_timeout(Some(TIMEOUT))?;
        let request = read_request(&mut stream)?;
        let (status, content_type, body) = self.answer(&request);
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n\
             Connection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes())?;
        if !request.starts_with("HEAD ") {
            stream.write_all(body.as_bytes())?;
        }
        stream.flush()
    }

    /// Returns the status, the type and the text for a request.
    fn answer(&self, request: &str) -> (&'static str, &'static str, String) {
        const PLAIN: &str = "text/plain; charset=utf-8";
        let mut words = request.lines().next().unwrap_or_default().split(' ');
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        if !matches!(method, "GET" | "HEAD") {
            return ("405 Method Not Allowed", PLAIN, "only GET is answered\n".to_owned());
        }
        if path.split('?').next() != Some("/metrics") {
            return ("404 Not Found", PLAIN, "the counters are at /metrics\n".to_owned());
        }
        let accepted = request.lines().filter_map(|line| line.split_once(':'));
        let accepted = accepted.filter(|(name, _)| name.eq_ignore_ascii_case("accept"));
        let accepted: Vec<&str> = accepted.map(|(_, value)| value).collect();
        let format = Format::accepted(&accepted.join(","));
        match self.metrics(format) {
            Ok(text) => ("200 OK", format.content_type(), text),
            Err(error) => ("500 Internal Server Error", PLAIN, format!("{error:#}\n")),
        }
    }

    /// Returns the values of this moment.
    fn metrics(&self, format: Format) -> Result<String> {
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        if pages.1.elapsed() >= POLL_INTERVAL {
            pages.0.refresh().context("cannot search /proc for processes")?;
            pages.1 = Instant::now();
        }
        let now = Clock::from_kernel().now().utc;
        let snapshot = CounterSnapshot::take(&pages.0, &self.filter, now);
        open_metrics::render(&snapshot, format).context("cannot format the counters")
    }
}

/// Reads the head of a request.
fn read_request(stream: &mut TcpStream) -> io::Result<String> {
    let begun = Instant::now();
    let mut request = Vec::new();
    while !request.windows(4).any(|it| it == b"\r\n\r\n") && request.len() < REQUEST_MAX {
        let left = TIMEOUT.saturating_sub(begun.elapsed());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        let mut part = [0; 1_024];
        match stream.read(&mut part)? {
            0 => break,
            count => request.extend_from_slice(&part[..count]),
        }
    }
    Ok(String::from_utf8_lossy(&request).into_owned())
}
