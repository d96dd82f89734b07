//! The programs.
//!
//! | module | programs |
//! |---|---|
//! | `sockperf` | sockperf over UDP and TCP |
//! | `streams` | iperf3, socat, ncat, memcached, OpenSSL |
//! | `redis` | redis-server and redis-benchmark |
//! | `web` | nginx, wrk, haproxy, curl |
//! | `postgres` | PostgreSQL and pgbench |
//! | `python` | Python's own tests |
//! | `libuv` | libuv's own tests |
//! | `echoes` | tokio, smol, Node.js, Java NIO, Erlang, Boost.Asio, libevent, ZeroMQ |
//! | `servers` | Apache, lighttpd, varnish, gunicorn, aiohttp, MariaDB, mosquitto, chrony, rsync, FTP, SSH |
//! | `aeron` | Aeron's Java media driver |
//! | `detection` | programs that cannot be accelerated |

mod aeron;
mod detection;
mod echoes;
mod libuv;
mod postgres;
mod python;
mod redis;
mod servers;
mod sockperf;
mod streams;
mod web;

use anyhow::Result;

use super::Settings;
use super::case::Case;

/// Returns the cases of a server and a client.
pub(super) fn cases() -> Vec<Case> {
    let cases = [
        redis::cases(),
        web::cases(),
        streams::tcp(),
        postgres::cases(),
        sockperf::tcp(),
        sockperf::udp(),
        streams::udp(),
        echoes::cases(),
        servers::cases(),
        aeron::cases(),
    ];
    cases.into_iter().flatten().collect()
}

/// Runs the selected cases. Returns the number of failures.
pub(super) fn check(settings: &Settings, is_selected: impl Fn(&str) -> bool) -> Result<usize> {
    let mut failures = 0;
    for case in cases().into_iter().filter(|case| is_selected(&case.name)) {
        failures += case.check(settings);
    }
    if is_selected("detection") {
        failures += detection::check(settings);
    }
    failures += libuv::check(settings, &is_selected)?;
    failures += python::check(settings, &is_selected);
    Ok(failures)
}
