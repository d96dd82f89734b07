//! Runs `hairpin report`: its page in a browser, and its errors for invalid files and folders.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration as Patience, Instant as Moment};

use crate::support::copy_hairpin;
use hairpin_measure::{Clock, Host, Kind, Recorder, Results, Row, Setting, Timestamping};
use hairpin_time::{Duration, Utc};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

const WAITS: [(&str, f64); 5] =
    [("block", 34e3), ("poll", 37e3), ("epoll", 35e3), ("io_uring", 31e3), ("spin", 12e3)];
const INTERVALS_US: [u64; 4] = [500, 1_000, 5_000, 10_000];

/// Returns a full table with heavy-tailed latencies: two feeds, four intervals, five waits. Some
/// rows are failed, late, lossy or interrupted.
fn synthetic(samples: usize) -> Results {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut rows = Vec::new();
    for feed in ["multicast", "tcp"] {
        for interval_us in INTERVALS_US {
            for (wait, base) in WAITS {
                rows.extend(set([feed, wait], interval_us, base, samples, &mut random));
            }
        }
    }
    Results { rows, ..empty() }
}

/// Returns a document without rows.
fn empty() -> Results {
    let host = Host {
        cpu: "A processor <of 64 cores> & more".to_owned(),
        cores: 2,
        kernel: "6.1.0".to_owned(),
        virtualised: true,
        tsc_hz: Some(2_445_000_000),
        governor: None,
        nic: "veth".to_owned(),
        timestamping: Timestamping::Software,
    };
    let started = Utc::from_nanos(1_795_284_000_000_000_000);
    Results::new(started, "hairpin t2t --full --json full.json", host)
}

/// Returns the two cases of one feed, wait and interval.
fn set(
    [feed, wait]: [&str; 2],
    interval_us: u64,
    base: f64,
    samples: usize,
    random: &mut ChaCha8Rng,
) -> [Row; 2] {
    let mut recorders = [(); 3].map(|()| Recorder::with_capacity(samples));
    for _ in 0..samples {
        let mut uniform = || (random.next_u32() as f64 + 1.0) / 4_294_967_297.0;
        let body = base * (0.8 + 0.2 * (uniform() + uniform()));
        // One sample in 200 is from a Pareto tail.
        let tail = if uniform() < 0.005 { base * uniform().powf(-0.7) } else { 0.0 };
        let held = if uniform() < 0.001 { 2e6 * uniform() } else { 200.0 * uniform() };
        let [intended, sent, lateness] = &mut recorders;
        intended.record(Duration::from_nanos((body + tail + held) as u64));
        sent.record(Duration::from_nanos((body + tail) as u64));
        lateness.record(Duration::from_nanos(held as u64));
    }
    let [intended, sent, lateness] = &recorders;
    [("intended to order", intended), ("sent to order", sent)].map(|(case, latency)| {
        let setting = setting(feed, interval_us, wait, case);
        match (feed, interval_us, wait) {
            ("tcp", 1_000, "poll") => Row::failed(setting, "3 gaps in the market data"),
            ("tcp", 5_000, "epoll") => Row { late: true, ..Row::new(setting, latency, lateness) },
            ("multicast", 1_000, "spin") => {
                Row { lost: 3, interrupted: true, ..Row::new(setting, latency, lateness) }
            }
            _ => Row { cores: Some([0, 1]), ..Row::new(setting, latency, lateness) },
        }
    })
}

fn setting(feed: &str, interval_us: u64, wait: &str, case: &str) -> Setting {
    Setting {
        bench: "t2t".to_owned(),
        case: case.to_owned(),
        feed: Some(feed.to_owned()),
        transport: "kernel".to_owned(),
        wait: wait.to_owned(),
        protocol: format!("{feed}+tcp"),
        size_bytes: 144,
        interval_us,
        kind: Kind::Rtt,
        clock: Clock::Tsc,
        rounds: 1,
    }
}

/// Returns the exit status, standard output and standard error.
fn report(args: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hairpin"));
    let output = command.arg("report").args(args).stdin(Stdio::null()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// Returns the error message after checking that it is one line and the exit status is `status`.
fn line(args: &[&str], status: i32) -> String {
    let (code, out, stderr) = report(args);
    assert_eq!((code, out.as_str()), (Some(status), ""), "{args:?}: {stderr}");
    assert_eq!(stderr.lines().count(), 1, "{args:?}: {stderr}");
    assert!(stderr.starts_with("hairpin: ") && !stderr.contains("panicked"), "{args:?}: {stderr}");
    stderr
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Returns the path of Chromium. Prints a note and returns `None` if it is not installed.
fn chromium() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("HAIRPIN_CHROMIUM") {
        return Some(named.into());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let all = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    let found = all.into_iter().find(|program| program.is_file());
    if found.is_none() {
        println!("skipped: no chromium on PATH; HAIRPIN_CHROMIUM may name one");
    }
    found
}

/// A page after a browser has loaded it.
struct RenderedPage {
    /// The document after its scripts ran.
    dom: String,
    /// The console messages: errors and violations of the content security policy.
    console: Vec<String>,
}

/// Opens a page over `file://`, without a network, in a window `width` pixels wide.
fn open(chromium: &Path, page: &Path, width: u32) -> RenderedPage {
    let profile = tempfile::tempdir().unwrap();
    let (dom, log) = (profile.path().join("dom"), profile.path().join("log"));
    let child = Command::new(chromium)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--enable-logging=stderr", "--v=0", "--dump-dom"])
        .arg(format!("--window-size={width},900"))
        .arg(format!("--user-data-dir={}", profile.path().join("profile").display()))
        .arg(format!("file://{}", page.display()))
        .stdin(Stdio::null())
        .stdout(fs::File::create(&dom).unwrap())
        .stderr(fs::File::create(&log).unwrap())
        .spawn()
        .unwrap();
    ended(child);
    let read = |path| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
    let (dom, log) = (read(&dom), read(&log));
    assert!(dom.contains("</html>"), "no document from {}: {log}", chromium.display());
    let console = log.lines().filter(|line| line.contains("CONSOLE"));
    RenderedPage { console: console.map(str::to_owned).collect(), dom }
}

/// Waits for a browser with a timeout.
fn ended(mut child: Child) {
    let deadline = Moment::now() + Patience::from_secs(120);
    while child.try_wait().unwrap().is_none() {
        if Moment::now() > deadline {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("the browser did not end");
        }
        std::thread::sleep(Patience::from_millis(50));
    }
}

/// A script that measures a page. It appends one line per visible chart (its size in pixels), one
/// per text that a chart cuts, one with the overflow beyond the window in pixels, and one with the
/// readout under the pointer.
const PROBE: &str = r"<pre id='probe'></pre><script>
var lines = [];
var shown = Array.prototype.filter.call(document.querySelectorAll('svg.chart'), function (svg) {
  return svg.getBoundingClientRect().width > 0;
});
shown.forEach(function (svg) {
  var box = svg.getBoundingClientRect();
  lines.push('picture ' + svg.closest('figure').id + ' ' + box.width + ' ' + box.height);
  svg.querySelectorAll('text').forEach(function (text) {
    var at = text.getBoundingClientRect();
    if (at.left < box.left - 1 || at.right > box.right + 1) {
      lines.push('cut ' + svg.closest('figure').id + ' ' + text.textContent);
    }
  });
});
var root = document.documentElement;
lines.push('beyond ' + (root.scrollWidth - root.clientWidth));
var svg = shown[0], line = svg.querySelector('.plot .line');
var at = line.getBoundingClientRect();
svg.dispatchEvent(new PointerEvent('pointermove',
  { clientX: at.left + at.width / 2, clientY: at.top + at.height / 2 }));
lines.push('readout ' + document.getElementById('readout').textContent.replace(/\n/g, ';'));
document.getElementById('probe').textContent = lines.join('\n');
</script>";

/// Writes the report of a full table to a temporary folder, and returns the folder and the page.
fn full_report(samples: usize) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("full.json");
    synthetic(samples).write(&file).unwrap();
    let (status, out, stderr) =
        report(&[text(&file), "--report", text(&folder.path().join("report"))]);
    assert_eq!((status, stderr.as_str()), (Some(0), ""));
    assert!(out.ends_with("report.html and 24 pictures\n"), "{out}");
    let page = folder.path().join("report/report.html");
    (folder, page)
}

#[test]
fn browser_shows_the_page_without_console_errors() {
    let Some(chromium) = chromium() else { return };
    let (_folder, page) = full_report(20_000);
    let RenderedPage { dom, console } = open(&chromium, &page, 1_280);
    assert!(console.is_empty(), "{console:#?}");
    let ids = ["overview", "compared", "rows", "machine", "reading"].map(str::to_owned);
    let cells = ["multicast", "tcp"].into_iter().flat_map(|feed| {
        INTERVALS_US.into_iter().map(move |interval| format!("{feed}-{interval}"))
    });
    for id in ids.into_iter().chain(cells) {
        assert!(dom.contains(&format!("<section id=\"{id}\">")), "no section {id}");
    }
    for stderr in [
        "A processor &lt;of 64 cores&gt; &amp; more",
        "hairpin t2t --full --json full.json",
        "Failed: tcp, 1,000 µs, poll: 3 gaps in the market data",
        "2 of 80 rows late: ",
        "2 of 80 rows with loss: ",
        "2 of 80 rows interrupted: ",
    ] {
        assert!(dom.contains(stderr), "{stderr}");
    }
}

#[test]
fn charts_have_a_size_and_page_fits_its_window() {
    let Some(chromium) = chromium() else { return };
    let (folder, page) = full_report(20_000);
    let probed = folder.path().join("probed.html");
    fs::write(&probed, fs::read_to_string(&page).unwrap() + PROBE).unwrap();
    for width in [1_400, 1_280, 390] {
        let RenderedPage { dom, console } = open(&chromium, &probed, width);
        assert!(console.is_empty(), "{console:#?}");
        let probe = dom.split("<pre id=\"probe\">").nth(1).unwrap().split("</pre>").next().unwrap();
        let lines = |kind: &str| {
            let of_kind =
                probe.lines().filter_map(|line| line.strip_prefix(kind)?.strip_prefix(' '));
            of_kind.map(str::to_owned).collect::<Vec<_>>()
        };
        let pictures = lines("picture");
        assert_eq!(pictures.len(), 25, "{probe}");
        for picture in pictures {
            let size = picture.split(' ').skip(1).map(|side| side.parse::<f64>().unwrap());
            assert!(size.fold(f64::INFINITY, f64::min) > 100.0, "{picture}");
        }
        assert_eq!(lines("cut"), [""; 0], "{width}");
        assert_eq!(lines("beyond"), ["0"], "{width}");
        let readout = &lines("readout")[0];
        assert!(readout.contains(" %;block  ") && readout.ends_with(" µs"), "{readout}");
    }
}

#[test]
fn console_errors_and_overflow_are_detected() {
    let Some(chromium) = chromium() else { return };
    let (folder, page) = full_report(50);
    let broken = folder.path().join("broken.html");
    let page = fs::read_to_string(&page).unwrap();
    for fault in ["<script>nonsense()</script>", "<img src='elsewhere.png'>"] {
        fs::write(&broken, page.replace("</body>", fault)).unwrap();
        assert!(!open(&chromium, &broken, 1_280).console.is_empty(), "{fault}");
    }
}

#[test]
fn page_loads_no_external_resource() {
    let (_folder, page) = full_report(50);
    let page = fs::read_to_string(page).unwrap();
    for outside in ["http:", "https:", "src=", "url(", "@import", "<link", "<iframe", "fetch("] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(page.split("href=\"").skip(1).all(|target| target.starts_with('#')));
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn results_of_the_first_version_are_accepted() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/first-version.json");
    let folder = tempfile::tempdir().unwrap();
    let (status, out, stderr) = report(&[file, "--report", text(folder.path())]);
    assert_eq!((status, stderr.as_str()), (Some(0), ""), "{out}");
    assert!(folder.path().join("percentiles-multicast-500.svg").is_file());
}

#[test]
fn several_files_appear_in_the_given_order() {
    let folder = tempfile::tempdir().unwrap();
    let of = |name: &str, wait: &str| {
        let path = folder.path().join(name);
        let rows = vec![Row::failed(setting("tcp", 500, wait, "sent to order"), "no trader")];
        Results { rows, ..empty() }.write(&path).unwrap();
        path
    };
    let (after, before) = (of("after.json", "spin"), of("before.json", "poll"));
    let target = folder.path().join("deep/er");
    let args = [text(&before), text(&after), "--report", text(&target)];
    assert_eq!(report(&args).0, Some(0));
    let page = fs::read_to_string(target.join("report.html")).unwrap();
    let at = |name: &str| page.find(name).unwrap();
    assert!(at("before.json") < at("after.json"));
}

#[test]
fn invalid_arguments_exit_with_status_2() {
    for args in [&[][..], &["--report", "x"], &["a.json", "--report"], &["a.json", "--nonsense"]] {
        assert!(line(args, 2).ends_with("try --help\n"), "{args:?}");
    }
}

#[test]
fn invalid_results_file_is_reported_and_no_page_written() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("report");
    let refused = |content: &str| {
        let file = folder.path().join("results.json");
        fs::write(&file, content).unwrap();
        let stderr = line(&[text(&file), "--report", text(&target)], 1);
        assert!(stderr.contains("results.json: "), "{stderr}");
        assert!(!target.exists());
        stderr
    };
    let cases = [
        ("", "not a results file"),
        ("tick, trade\n1, 2\n", "not a results file"),
        ("[]", "not a results file"),
        ("{}", "missing field `schema`"),
        (r#"{"schema": "hairpin.results/1"}"#, "missing field"),
        (r#"{"schema": "other.results/1"}"#, "schema is \"other.results/1\""),
        (r#"{"schema": "hairpin.results/2", "rows": 7}"#, "expected \"hairpin.results/1\""),
    ];
    for (content, expected) in cases {
        assert!(refused(content).contains(expected), "{content}: {}", refused(content));
    }
    assert!(refused("{\"schema\": \"a\nb\"}").contains("not a results file"));

    let missing = folder.path().join("missing.json");
    let stderr = line(&[text(&missing), "--report", text(&target)], 1);
    assert!(stderr.contains("missing.json: No such file"), "{stderr}");
    let stderr = line(&[text(folder.path()), "--report", text(&target)], 1);
    assert!(stderr.contains("Is a directory"), "{stderr}");
}

#[test]
fn inconsistent_row_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("results.json");
    let mut recorder = Recorder::with_capacity(100);
    (1..=100).for_each(|nanos| recorder.record(Duration::from_nanos(nanos)));
    let row = Row::new(setting("tcp", 500, "spin", "sent to order"), &recorder, &recorder);
    Results { rows: vec![row], ..empty() }.write(&file).unwrap();
    let good = fs::read_to_string(&file).unwrap();
    let base64 = good.split("\"histogram\": \"").nth(1).unwrap().split('"').next().unwrap();
    let cases = [
        ("\"samples\": 100", "\"samples\": 99", "row 1: the histogram has 100 samples"),
        ("\"p75\": 75", "\"p75\": 5", "row 1: p75 is less than p50"),
        ("\"first\":20", "\"first\":19", "row 1: bucket 2 of over_time"),
        (base64, "HISTFAAA!", "not base64"),
        (base64, &base64[..base64.len() / 2 / 4 * 4], "not in HdrHistogram's V2 encoding"),
    ];
    for (from, to, expected) in cases {
        assert!(good.contains(from), "{from}");
        fs::write(&file, good.replacen(from, to, 1)).unwrap();
        let stderr = line(&[text(&file), "--report", text(&folder.path().join("report"))], 1);
        assert!(stderr.contains("results.json: ") && stderr.contains(expected), "{from}: {stderr}");
    }
    // Unknown fields of a later version are ignored.
    fs::write(&file, good.replacen("\"samples\"", "\"colour\": \"blue\", \"samples\"", 1)).unwrap();
    let target = folder.path().join("report");
    assert_eq!(report(&[text(&file), "--report", text(&target)]).0, Some(0));
}

#[test]
fn unwritable_folder_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("results.json");
    empty().write(&file).unwrap();
    let stderr = line(&[text(&file), "--report", text(&file)], 1);
    assert!(stderr.contains("results.json: not a folder"), "{stderr}");
    let below = file.join("below");
    let stderr = line(&[text(&file), "--report", text(&below)], 1);
    assert!(stderr.contains("below: Not a directory"), "{stderr}");
    let stderr = line(&[text(&file), "--report", "/proc/report"], 1);
    assert!(stderr.contains("/proc/report: "), "{stderr}");
    let full = folder.path().join("full");
    fs::create_dir(&full).unwrap();
    std::os::unix::fs::symlink("/dev/full", full.join("report.html")).unwrap();
    let stderr = line(&[text(&file), "--report", text(&full)], 1);
    assert!(stderr.contains("report.html: No space left on device"), "{stderr}");
}

#[test]
#[ignore = "needs root"]
fn forbidden_folder_is_reported() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let (program, file) = (folder.path().join("hairpin"), folder.path().join("results.json"));
    copy_hairpin(&program);
    empty().write(&file).unwrap();
    for (path, mode) in [(folder.path(), 0o755), (&program, 0o755), (&file, 0o644)] {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
    let mine = folder.path().join("mine");
    fs::create_dir(&mine).unwrap();
    for (target, named) in [(folder.path().join("new"), "new: "), (mine, "mine/report.html: ")] {
        let output = Command::new("setpriv")
            .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
            .arg(&program)
            .args(["report", text(&file), "--report", text(&target)])
            .current_dir("/")
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), stderr.lines().count()), (Some(1), 1), "{stderr}");
        assert!(stderr.contains(named) && stderr.contains("Permission denied"), "{stderr}");
    }
}

#[test]
fn results_without_rows_yield_an_empty_page() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("results.json");
    empty().write(&file).unwrap();
    let (status, out, _) = report(&[text(&file), "--report", text(folder.path())]);
    assert_eq!(status, Some(0));
    assert!(out.ends_with("report.html and 0 pictures\n"), "{out}");
    let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(page.contains("This file contains no rows"));
}
