//! Servers as distributions ship them, each with its usual client.

use anyhow::{Context, Result, ensure};

use super::web::{HAPROXY_DEFAULTS, pattern};
use crate::interop::Side;
use crate::interop::case::{Case, Expected, Outcome, await_counters};
use crate::interop::process::Process;
use crate::interop::trial::{Trial, number_after};

const PORT: u16 = 8_082;
const BACKEND: u16 = 8_083;
const LIMIT: u64 = 120;
/// The SHA-256 of nothing.
const EMPTY: &str = "e3b0c442";
/// The length of the large file.
const LARGE: usize = 5_000_000;

const FORKS: Expected =
    Expected::Kernel("the server forks workers, and one process has the interface");
const MIXED: Expected = Expected::Kernel("most bytes are bulk data, which stay with the kernel");
const STREAM: Expected = Expected::Kernel("a stream in one direction is bulk data");
const STAMPS: Expected = Expected::Kernel("chronyd uses timestamps of the kernel and SO_REUSEPORT");
const BULK: Expected = Expected::Kernel("bulk data: the kernel has segmentation offload");

pub(super) fn cases() -> Vec<Case> {
    let web = |name: &str, expected, start: fn(&Trial) -> Result<Vec<Process>>| {
        Case::new(name, expected, move |trial: &Trial| {
            trial.write("small", vec![b'x'; 612])?;
            trial.write("large", pattern(LARGE))?;
            let _servers = start(trial)?;
            load(trial)
        })
    };
    vec![
        web("Apache with event + ab", FORKS, apache).flags(&["--user", "www-data"]),
        web("lighttpd + ab", MIXED, lighttpd),
        web("varnish + ab", Expected::Kernel("the manager forks the cache"), varnish),
        web("gunicorn + ab", FORKS, gunicorn),
        web("aiohttp + ab", MIXED, aiohttp),
        web("haproxy with four threads + ab", MIXED, haproxy),
        Case::new("MariaDB with a thread pool", Expected::Bytes, mariadb),
        Case::new("mosquitto", STREAM, mosquitto).flags(&["--user", "mosquitto"]),
        Case::new("chronyd", STAMPS, chrony),
        Case::new("rsync", BULK, rsync),
        Case::new("vsftpd + curl", BULK, vsftpd),
        Case::new("sshd + ssh", FORKS, sshd),
    ]
}

fn root(trial: &Trial) -> String {
    trial.path("").trim_end_matches('/').to_owned()
}

/// Requests both files on 20 connections, and compares what arrives.
fn load(trial: &Trial) -> Result<Outcome> {
    let mut result = Vec::new();
    for (path, count) in [("small", "4000"), ("large", "40")] {
        let url = format!("http://{}:{PORT}/{path}", trial.server());
        let text = trial.run(&["ab", "-q", "-k", "-c", "20", "-n", count, &url], LIMIT)?;
        let [complete, failed] =
            ["Complete requests:", "Failed requests:"].map(|name| number_after(&text, name));
        let length = number_after(&text, "Document Length:")?;
        result.push(format!("{path}: {} of {length} bytes, {} failed", complete?, failed?));
        let sum = "curl -s \"$0\" | sha256sum";
        let page = trial.run(&["sh", "-c", sum, &url], LIMIT)?;
        result.push(format!("sha256 {}", &page[..16.min(page.len())]));
    }
    await_counters();
    Ok(Outcome::new(result.join(", ")))
}

/// Debian's default module.
fn apache(trial: &Trial) -> Result<Vec<Process>> {
    let folder = root(trial);
    let configuration = format!(
        "ServerRoot {folder}
        ServerName interop
        PidFile {folder}/apache.pid
        DefaultRuntimeDir {folder}
        Mutex file:{folder} default
        ErrorLog {folder}/apache.log
        User www-data
        Group www-data
        LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
        LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
        Listen {}:{PORT}
        KeepAlive On
        MaxKeepAliveRequests 0
        KeepAliveTimeout 5
        DocumentRoot {folder}
        <Directory {folder}>
            Require all granted
        </Directory>\n",
        trial.server()
    );
    let path = trial.write("apache.conf", configuration)?;
    trial.run_plain(Side::Server, &["chmod", "755", &folder], LIMIT)?;
    Ok(vec![trial.serve(&["apache2", "-DFOREGROUND", "-f", &path], PORT)?])
}

fn lighttpd(trial: &Trial) -> Result<Vec<Process>> {
    let configuration = format!(
        "server.document-root = \"{}\"
        server.bind = \"{}\"
        server.port = {PORT}
        server.max-keep-alive-requests = 1000000\n",
        root(trial),
        trial.server()
    );
    let path = trial.write("lighttpd.conf", configuration)?;
    Ok(vec![trial.serve(&["lighttpd", "-D", "-f", &path], PORT)?])
}

/// Starts a server of files for those that are not one.
fn backend(trial: &Trial) -> Result<Process> {
    let (address, port) = (trial.address(Side::Client).to_string(), BACKEND.to_string());
    let folder = root(trial);
    let program = ["-m", "http.server", &port, "-b", &address, "-d", &folder];
    trial.serve_plain(Side::Client, &[&["/usr/bin/python3"][..], &program].concat(), BACKEND)
}

fn varnish(trial: &Trial) -> Result<Vec<Process>> {
    let files = backend(trial)?;
    let to = format!("{}:{BACKEND}", trial.address(Side::Client));
    let (at, folder) = (format!("{}:{PORT}", trial.server()), trial.path("varnish"));
    let program = ["varnishd", "-F", "-j", "none", "-a", &at, "-b", &to, "-n", &folder];
    Ok(vec![trial.serve(&program, PORT)?, files])
}

const WSGI: &str = "
import os
def application(environment, start):
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), environment['PATH_INFO'][1:])
    body = open(path, 'rb').read()
    start('200 OK', [('Content-Length', str(len(body)))])
    return [body]
";

fn gunicorn(trial: &Trial) -> Result<Vec<Process>> {
    trial.write("pages.py", WSGI)?;
    let (at, folder) = (format!("{}:{PORT}", trial.server()), root(trial));
    let program = ["gunicorn", "-k", "gthread", "--threads", "4", "-w", "2", "--keep-alive", "5"];
    let rest = ["--chdir", &folder, "-b", &at, "pages:application"];
    Ok(vec![trial.serve(&[&program[..], &rest].concat(), PORT)?])
}

const AIOHTTP: &str = "
import os, sys
from aiohttp import web
folder = os.path.dirname(os.path.abspath(__file__))
async def page(request):
    with open(os.path.join(folder, request.match_info['name']), 'rb') as file:
        return web.Response(body=file.read())
application = web.Application()
application.add_routes([web.get('/{name}', page)])
web.run_app(application, host=sys.argv[1], port=int(sys.argv[2]), print=None)
";

fn aiohttp(trial: &Trial) -> Result<Vec<Process>> {
    let script = trial.write("pages.py", AIOHTTP)?;
    Ok(vec![trial.serve(&["/usr/bin/python3", &script, &trial.server(), &PORT.to_string()], PORT)?])
}

fn haproxy(trial: &Trial) -> Result<Vec<Process>> {
    let files = backend(trial)?;
    let configuration = format!(
        "global
            nbthread 4
        {HAPROXY_DEFAULTS}
        frontend web
            bind {}:{PORT}
            default_backend files
        backend files
            server one {}:{BACKEND}\n",
        trial.server(),
        trial.address(Side::Client)
    );
    let path = trial.write("haproxy.cfg", configuration)?;
    Ok(vec![trial.serve(&["haproxy", "-db", "-f", &path], PORT)?, files])
}

/// Eight clients with 4,000 statements each.
fn mariadb(trial: &Trial) -> Result<Outcome> {
    let (data, address, folder) = (trial.path("data"), trial.server(), root(trial));
    let install = [
        "mariadb-install-db",
        "--no-defaults",
        "--user=root",
        "--auth-root-authentication-method=normal",
    ];
    let (to, port) = (format!("--datadir={data}"), format!("--port={PORT}"));
    trial.run_plain(Side::Server, &[&install[..], &["--skip-test-db", &to]].concat(), LIMIT)?;
    let (bind, socket) = (format!("--bind-address={address}"), format!("--socket={folder}/socket"));
    let pool = ["--thread-handling=pool-of-threads", "--thread-pool-size=4", "--skip-name-resolve"];
    let server = ["mariadbd", "--no-defaults", "--user=root", &to, &port, &bind, &socket];
    let grant = trial.write(
        "grant.sql",
        "create database interop;\n\
         create table interop.texts (id int auto_increment primary key, text varchar(200));\n\
         create user 'client'@'%';\n\
         grant all on interop.* to 'client'@'%';\n",
    )?;
    let first = format!("--init-file={grant}");
    let server = trial.serve(&[&server[..], &pool, &[&first]].concat(), PORT)?;
    let client = ["-h", &address, &port, "--protocol=tcp", "-u", "client"];
    let load = [
        "mariadb-slap",
        "--create-schema=interop",
        "--no-drop",
        "--concurrency=8",
        "--number-of-queries=32000",
        "--delimiter=;",
        "--query=insert into texts (text) values (repeat('abc', 20)); select 1",
    ];
    let text = trial.run(&[&load[..], &client].concat(), LIMIT)?;
    await_counters();
    ensure!(text.contains("Average number of seconds"), "{text}");
    let query = "select count(*), sum(length(text)) from interop.texts";
    let state = [&["mariadb", "-N", "-e", query][..], &client].concat();
    let state = trial.run_plain(Side::Client, &state, LIMIT)?;
    server.stop("KILL")?;
    Ok(Outcome::new(state.split_whitespace().collect::<Vec<_>>().join(" ")))
}

/// A subscriber receives what a publisher reads from a file.
fn mosquitto(trial: &Trial) -> Result<Outcome> {
    let address = trial.server();
    let configuration = format!(
        "listener {PORT} {address}\nallow_anonymous true\nset_tcp_nodelay true\n\
         max_queued_messages 0\n"
    );
    let path = trial.write("mosquitto.conf", configuration)?;
    let server = trial.serve(&["mosquitto", "-c", &path], PORT)?;
    let lines: String = (0..40_000).map(|n| format!("{n} {}\n", "m".repeat(n % 300))).collect();
    let lines = trial.write("lines", lines)?;
    let to = ["-h", &address, "-p", "8082", "-q", "1", "-t", "interop"];
    let subscriber = [&["mosquitto_sub", "-C", "40000"][..], &to].concat();
    let subscriber = trial.start(Side::Client, &subscriber)?;
    std::thread::sleep(std::time::Duration::from_secs(1));
    let publisher = format!("exec mosquitto_pub -l {} < {lines}", to.join(" "));
    trial.run_plain(Side::Client, &["sh", "-c", &publisher], LIMIT)?;
    let received = subscriber.wait(std::time::Duration::from_secs(LIMIT))?.out;
    await_counters();
    server.stop("KILL")?;
    let is_equal = received == std::fs::read_to_string(&lines)?;
    Ok(Outcome::new(format!("{} lines, equal: {is_equal}", received.lines().count())))
}

/// The client measures and leaves the clock as it is.
fn chrony(trial: &Trial) -> Result<Outcome> {
    let folder = root(trial);
    let address = trial.server();
    let server = format!(
        "local stratum 5\nallow all\nbindaddress {address}\nport 123\ncmdport 0\n\
         pidfile {folder}/server.pid\n"
    );
    let server = trial.write("server.conf", server)?;
    let server = trial.serve_udp(&["chronyd", "-x", "-d", "-u", "root", "-f", &server], 123)?;
    let client =
        format!("server {address} iburst maxsamples 8\npidfile {folder}/client.pid\ncmdport 0\n");
    let client = trial.write("client.conf", client)?;
    let program = ["chronyd", "-Q", "-t", "60", "-u", "root", "-f", &client];
    let output = trial.run_on(Side::Client, &program, LIMIT)?;
    await_counters();
    server.stop("KILL")?;
    let text = output.out + &output.error;
    let line = text.lines().find(|line| line.contains("System clock wrong by"));
    let line = line.with_context(|| format!("no time: {text}"))?;
    let offset = number_after(&line.replace('-', ""), "wrong by")?;
    Ok(Outcome::new(format!("within a second: {}", offset.abs() < 1.0)))
}

fn rsync(trial: &Trial) -> Result<Outcome> {
    let folder = root(trial);
    let (from, to) = (format!("{folder}/from"), format!("{folder}/to"));
    std::fs::create_dir(&from)?;
    for number in 0..200 {
        std::fs::write(format!("{from}/{number}"), pattern(number * number * 10))?;
    }
    let configuration = format!(
        "port = {PORT}\naddress = {}\nuse chroot = no\nuid = root\ngid = root\n\
         [files]\npath = {from}\n",
        trial.server()
    );
    let path = trial.write("rsyncd.conf", configuration)?;
    let config = format!("--config={path}");
    let server = trial.serve(&["rsync", "--daemon", "--no-detach", &config], PORT)?;
    let url = format!("rsync://{}:{PORT}/files/", trial.server());
    trial.run(&["rsync", "-a", &url, &to], LIMIT)?;
    await_counters();
    server.stop("KILL")?;
    let compare = ["diff", "-r", &from, &to];
    trial.run_plain(Side::Client, &compare, LIMIT)?;
    Ok(Outcome::new("equal folders"))
}

fn vsftpd(trial: &Trial) -> Result<Outcome> {
    let folder = root(trial);
    let anonymous = format!("{folder}/ftp");
    std::fs::create_dir(&anonymous)?;
    std::fs::write(format!("{anonymous}/large"), pattern(LARGE))?;
    let configuration = format!(
        "listen=YES\nlisten_port={PORT}\nlisten_address={}\nanonymous_enable=YES\n\
         anon_root={anonymous}\n\
         local_enable=NO\nbackground=NO\nseccomp_sandbox=NO\nsecure_chroot_dir={anonymous}\n",
        trial.server()
    );
    let path = trial.write("vsftpd.conf", configuration)?;
    trial.run_plain(Side::Server, &["chmod", "755", &folder, &anonymous], LIMIT)?;
    let server = trial.serve(&["vsftpd", &path], PORT)?;
    let url = format!("ftp://{}:{PORT}/large", trial.server());
    let page = trial.run(&["sh", "-c", "curl -s -S -f \"$0\" | sha256sum", &url], LIMIT)?;
    await_counters();
    let log = server.stop("KILL")?;
    ensure!(!page.starts_with(EMPTY), "nothing arrived: {}{}", log.out, log.error);
    Ok(Outcome::new(format!("sha256 {}", &page[..16.min(page.len())])))
}

fn sshd(trial: &Trial) -> Result<Outcome> {
    let folder = root(trial);
    for key in ["host", "user"] {
        let path = format!("{folder}/{key}");
        let create = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", &path];
        trial.run_plain(Side::Server, &create, LIMIT)?;
    }
    let configuration = format!(
        "Port {PORT}\nListenAddress {}\nHostKey {folder}/host\n\
         AuthorizedKeysFile {folder}/user.pub\n\
         PidFile none\nStrictModes no\nUsePAM no\nPermitRootLogin yes\n",
        trial.server()
    );
    let path = trial.write("sshd_config", configuration)?;
    std::fs::create_dir_all("/run/sshd")?;
    let server = trial.serve(&["/usr/sbin/sshd", "-D", "-e", "-f", &path], PORT)?;
    trial.write("numbers", pattern(LARGE))?;
    let (user, port) = (format!("{folder}/user"), PORT.to_string());
    let options = ["-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null"];
    let to = ["-q", "-i", &user, "-p", &port, "root@"];
    let (to, host) = (&to[..5], format!("root@{}", trial.server()));
    let script = format!(
        "i=0; while [ $i -lt 500 ]; do echo line $i; i=$((i+1)); done | \
         ssh {} {} {host} cat | sha256sum; \
         ssh {} {} {host} cat {folder}/numbers | sha256sum",
        options.join(" "),
        to.join(" "),
        options.join(" "),
        to.join(" ")
    );
    let text = trial.run(&["sh", "-c", &script], LIMIT)?;
    await_counters();
    server.stop("KILL")?;
    let sums: Vec<_> = text.lines().map(|line| &line[..16.min(line.len())]).collect();
    Ok(Outcome::new(format!("sha256 {}", sums.join(" "))))
}
