//! nginx with wrk, haproxy between wrk and nginx, and curl.

use anyhow::{Result, ensure};

use crate::interop::Side;
use crate::interop::case::{Case, Expected, Outcome, await_counters};
use crate::interop::process::Process;
use crate::interop::trial::{Trial, number_after};

const PORT: u16 = 8_080;
const BACKEND: u16 = 8_081;
const LIMIT: u64 = 60;
const GIGABYTE: u64 = 1 << 30;

/// A section of haproxy's configuration.
pub(super) const HAPROXY_DEFAULTS: &str = "defaults
            mode http
            timeout client 10s
            timeout server 10s
            timeout connect 5s";

pub(super) fn cases() -> Vec<Case> {
    let wrk = |name: &str, path: &'static str, closes: bool, expected| {
        let copies = path == "/copied";
        Case::new(name, expected, move |trial: &Trial| {
            let nginx = nginx(trial, Side::Server, PORT, copies)?;
            let outcome = load(trial, path, closes)?;
            nginx.stop("TERM")?;
            Ok(outcome)
        })
    };
    let short = Expected::Kernel("a connection per request is never taken over");
    let bulk = Expected::Kernel("bulk data: the kernel has segmentation offload");
    vec![
        wrk("nginx + wrk, keep-alive, 12 bytes", "/text", false, Expected::Bytes).goal(1.2, false),
        wrk("nginx + wrk, keep-alive, file of 612 bytes", "/small", false, Expected::Bytes)
            .goal(0.95, false),
        wrk("nginx + wrk, keep-alive, sendfile of 612 bytes", "/copied", false, Expected::Bytes)
            .goal(0.95, false),
        wrk("nginx + wrk, keep-alive, file of 100 kB", "/large", false, bulk).goal(0.95, false),
        wrk("nginx + wrk, a connection per request", "/text", true, short).goal(0.95, false),
        Case::new("haproxy between wrk and nginx", Expected::Bytes, haproxy).goal(0.95, false),
        Case::new("curl of 1 GB from nginx", bulk, curl).goal(0.95, true),
    ]
}

/// Starts nginx with one worker, which reads files or, as Debian configures it, uses sendfile(2).
fn nginx(trial: &Trial, side: Side, port: u16, copies: bool) -> Result<Process> {
    let address = trial.address(side);
    let folder = trial.path("");
    trial.write("small", vec![b'x'; 612])?;
    trial.write("copied", vec![b'x'; 612])?;
    trial.write("large", pattern(100_000))?;
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|kind| format!("{kind}_temp_path {folder}temp;\n"))
        .concat();
    let copying = if copies { "on" } else { "off" };
    let configuration = format!(
        "daemon off; user root; worker_processes 1; error_log {folder}nginx.log; pid {folder}pid;
        events {{ worker_connections 1024; }}
        http {{
            access_log off; sendfile {copying}; tcp_nopush {copying}; keepalive_requests 100000000;
            {temporary}
            server {{
                listen {address}:{port};
                root {folder};
                location /text {{ return 200 \"hello, world\"; }}
            }}
        }}"
    );
    let path = trial.write("nginx.conf", configuration)?;
    let program = ["nginx", "-c", &path, "-e", "stderr"];
    if port == PORT { trial.serve(&program, port) } else { trial.serve_plain(side, &program, port) }
}

/// Requests a page on ten connections for some seconds, and once to compare its bytes.
fn load(trial: &Trial, path: &str, closes: bool) -> Result<Outcome> {
    let url = format!("http://{}:{PORT}{path}", trial.server());
    let mut wrk = vec!["wrk", "-t", "1", "-c", "10", "-d", "4"];
    if closes {
        wrk.extend(["-H", "Connection: close"]);
    }
    wrk.push(&url);
    let text = trial.run(&wrk, LIMIT)?;
    await_counters();
    let rate = number_after(&text, "Requests/sec:")?;
    ensure!(rate > 0.0, "no requests: {text}");
    let errors = text.lines().filter(|line| line.contains("errors") || line.contains("Non-2xx"));
    let errors: Vec<_> = errors.map(str::trim).collect();
    let sum = "curl -s \"$0\" | sha256sum";
    let page = trial.run_plain(Side::Client, &["sh", "-c", sum, &url], LIMIT)?;
    let result = format!("errors {errors:?}, sha256 {}", &page[..16.min(page.len())]);
    Ok(Outcome::with_speed(result, rate, "requests/s"))
}

/// wrk and nginx are on the client's host, haproxy between them is the server.
fn haproxy(trial: &Trial) -> Result<Outcome> {
    let nginx = nginx(trial, Side::Client, BACKEND, false)?;
    let (address, backend) = (trial.server(), trial.address(Side::Client));
    let configuration = format!(
        "global
            nbthread 1
        {HAPROXY_DEFAULTS}
        frontend web
            bind {address}:{PORT}
            default_backend nginx
        backend nginx
            http-reuse always
            server one {backend}:{BACKEND}\n"
    );
    let path = trial.write("haproxy.cfg", configuration)?;
    let haproxy = trial.serve(&["haproxy", "-db", "-f", &path], PORT)?;
    let outcome = load(trial, "/small", false)?;
    haproxy.stop("TERM")?;
    nginx.stop("TERM")?;
    Ok(outcome)
}

/// Downloads a gigabyte whose bytes follow from their positions.
fn curl(trial: &Trial) -> Result<Outcome> {
    let path = trial.path("gigabyte");
    let block = pattern(1 << 20);
    let mut file = std::io::BufWriter::new(std::fs::File::create(path)?);
    for _ in 0..GIGABYTE / block.len() as u64 {
        std::io::Write::write_all(&mut file, &block)?;
    }
    drop(file);
    let nginx = nginx(trial, Side::Server, PORT, true)?;
    let url = format!("http://{}:{PORT}/gigabyte", trial.server());
    let script = "exec curl -s -f -w '%{stderr}%{speed_download}\\n' \"$0\" -o \"$1\"";
    let to = trial.path("copy");
    let program = ["sh", "-c", script, &url, &to];
    let speed = trial.run_on(Side::Client, &program, LIMIT)?.error;
    await_counters();
    nginx.stop("TERM")?;
    let sum = trial.run_plain(Side::Client, &["sha256sum", &to], LIMIT)?;
    let speed = speed.lines().filter_map(|line| line.parse::<f64>().ok()).next_back();
    let result = format!("sha256 {}", &sum[..16.min(sum.len())]);
    Ok(Outcome::with_speed(result, speed.unwrap_or(0.0) / 1e6, "MB/s"))
}

/// Returns bytes that follow from their positions.
pub(super) fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at / 7 * 31 % 251) as u8).collect()
}
