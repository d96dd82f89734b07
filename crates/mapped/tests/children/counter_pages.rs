//! Live counter pages of another process. This program runs itself as the publisher.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time;

use hairpin_mapped::{CounterPage, CounterPages, CounterView, Found, Kind, Unit};
use hairpin_time::{Duration, Instant};

const VARIABLE: &str = "HAIRPIN_PUBLISHING";
const PATIENCE: time::Duration = time::Duration::from_secs(30);

/// A process that publishes counters until it is killed.
struct Publisher(Child);

impl Publisher {
    /// Starts a publisher with this many pages.
    fn start(pages: usize) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "counter_pages::publishing", "--nocapture"]);
        command.env(VARIABLE, pages.to_string());
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut said = Vec::new();
        let mut out = child.stdout.take().unwrap();
        while !String::from_utf8_lossy(&said).contains("published") {
            let mut byte = [0];
            assert_eq!(out.read(&mut byte).unwrap(), 1, "the publisher ended early");
            said.push(byte[0]);
        }
        child.stdout = Some(out);
        Self(child)
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn publishing() {
    let Ok(pages) = std::env::var(VARIABLE) else { return };
    let write = |turn: u64| {
        move |writer: &mut hairpin_mapped::CounterWriter<'_>| {
            writer.counter("loop", "turns", Unit::Count, turn);
            writer.counter("loop", "twice", Unit::Count, 2 * turn);
        }
    };
    let page =
        |n| CounterPage::create("publishing --to all", &format!("page-{n}"), write(0)).unwrap();
    let mut pages: Vec<CounterPage> = (0..pages.parse::<u32>().unwrap()).map(page).collect();
    println!("published");
    // The publisher ends by itself if no process kills it.
    for turn in 1..60_000_000 {
        let now = Instant::ZERO + Duration::from_micros(turn);
        for page in &mut pages {
            page.update_if_due(now, true, write(turn));
        }
        if turn.is_multiple_of(10_000) {
            sleep(time::Duration::from_micros(100));
        }
    }
}

fn of(pages: &CounterPages, process: u32) -> Vec<&CounterView> {
    let found = pages.found.iter().filter(|Found { process: id, .. }| *id == process);
    found.filter_map(|found| found.page.as_ref().ok()).collect()
}

#[test]
fn finds_reads_and_drops_pages_of_killed_process() {
    let mut publisher = Publisher::start(2);
    let id = publisher.0.id();
    let mut pages = CounterPages::find().unwrap();
    let views = of(&pages, id);
    assert_eq!(views.iter().map(|view| view.name()).collect::<Vec<_>>(), ["page-0", "page-1"]);
    let view = views[0];
    assert_eq!((view.title(), view.command()), ("publishing --to all", "publishing"));
    let metrics: Vec<_> = view.metrics().iter().map(|m| (&*m.name, m.kind, m.unit)).collect();
    let counter = |name| (name, Kind::Counter, Unit::Count);
    assert_eq!(metrics, [counter("loop.turns"), counter("loop.twice")]);

    let until = time::Instant::now() + PATIENCE;
    let (mut last, mut changes) = (0, 0);
    while changes < 20 {
        let value = view.values().next().unwrap();
        assert!(value >= last, "{value} after {last}");
        assert_eq!(value % 10_000, 0, "values must be those of an update");
        changes += u32::from(value > last);
        last = value;
        assert!(time::Instant::now() < until, "the publisher does not count");
        sleep(time::Duration::from_micros(50));
    }

    publisher.0.kill().unwrap();
    publisher.0.wait().unwrap();
    let ended: Vec<u64> = of(&pages, id)[0].values().collect();
    assert!(ended[0] >= last, "a mapped page stays readable");
    pages.refresh().unwrap();
    assert_eq!(of(&pages, id).len(), 0);
    assert_eq!(of(&CounterPages::find().unwrap(), id).len(), 0);
}

#[test]
fn checks_at_most_64_pages_per_process() {
    let publisher = Publisher::start(70);
    assert_eq!(of(&CounterPages::find().unwrap(), publisher.0.id()).len(), 64);
}

#[test]
fn page_of_dead_creator_belongs_to_child() {
    let page = CounterPage::create("left to a child", "test", |writer| {
        writer.counter("a", "b", Unit::Count, 7);
    });
    let page = page.unwrap();
    let ours = std::process::id();
    // The child keeps its standard input open.
    let inherited = page.fd().try_clone_to_owned().unwrap();
    let mut child = Command::new("sleep").arg("60").stdin(inherited).spawn().unwrap();
    let found = |process| {
        let pages = CounterPages::find().unwrap();
        of(&pages, process).iter().filter(|view| view.title() == "left to a child").count()
    };
    assert_eq!((found(ours), found(child.id())), (1, 0), "the page belongs to its creator");
    drop(page);
    // Other tests of this process read pages, and so hold this one for a moment.
    let until = time::Instant::now() + PATIENCE;
    while (found(ours), found(child.id())) != (0, 1) {
        assert!(time::Instant::now() < until, "the page does not belong to the child");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(found(child.id()), 0);
}
