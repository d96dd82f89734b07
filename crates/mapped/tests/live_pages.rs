//! Live pages between two processes: this binary runs itself as the one that publishes.
#![allow(clippy::unwrap_used, reason = "this is all tests")]

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time;

use hairpin_mapped::{CounterPage, CounterPages, CounterView, Found, Kind, Unit};
use hairpin_time::{Duration, Instant};

const VARIABLE: &str = "HAIRPIN_PUBLISHING";
const PATIENCE: time::Duration = time::Duration::from_secs(30);

/// A process that counts until it is killed.
struct Publisher(Child);

impl Publisher {
    /// One with so many pages.
    fn start(pages: usize) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "publishing", "--nocapture"]);
        command.env(VARIABLE, pages.to_string());
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut said = Vec::new();
        let mut out = child.stdout.take().unwrap();
        while !String::from_utf8_lossy(&said).contains("published") {
            let mut byte = [0];
            assert_eq!(out.read(&mut byte).unwrap(), 1, "it ended");
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
    let tell = |turn: u64| {
        move |sheet: &mut hairpin_mapped::CounterWriter<'_>| {
            sheet.counter("loop", "turns", Unit::Count, turn);
            sheet.counter("loop", "twice", Unit::Count, 2 * turn);
        }
    };
    let page =
        |n| CounterPage::create("publishing --to all", &format!("page-{n}"), tell(0)).unwrap();
    let mut pages: Vec<CounterPage> = (0..pages.parse::<u32>().unwrap()).map(page).collect();
    println!("published");
    // It ends by itself should nobody end it.
    for turn in 1..60_000_000 {
        let now = Instant::ZERO + Duration::from_micros(turn);
        for page in &mut pages {
            page.update_if_due(now, true, tell(turn));
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
fn another_process_is_found_read_and_gone_when_it_is_killed() {
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
        assert_eq!(value % 10_000, 0, "a turn that brings the page up to date");
        changes += u32::from(value > last);
        last = value;
        assert!(time::Instant::now() < until, "it does not count");
        sleep(time::Duration::from_micros(50));
    }

    publisher.0.kill().unwrap();
    publisher.0.wait().unwrap();
    let ended: Vec<u64> = of(&pages, id)[0].values().collect();
    assert!(ended[0] >= last, "what is mapped can be read still");
    pages.refresh().unwrap();
    assert_eq!(of(&pages, id).len(), 0);
    assert_eq!(of(&CounterPages::find().unwrap(), id).len(), 0);
}

#[test]
fn of_one_process_64_pages_are_looked_at() {
    let publisher = Publisher::start(70);
    assert_eq!(of(&CounterPages::find().unwrap(), publisher.0.id()).len(), 64);
}

#[test]
fn a_page_left_to_a_child_is_found_with_the_child() {
    let page = CounterPage::create("left to a child", "test", |sheet| {
        sheet.counter("a", "b", Unit::Count, 7);
    });
    let page = page.unwrap();
    let ours = std::process::id();
    // What a child has as standard input it keeps open.
    let inherited = page.fd().try_clone_to_owned().unwrap();
    let mut child = Command::new("sleep").arg("60").stdin(inherited).spawn().unwrap();
    let found = |process| {
        let pages = CounterPages::find().unwrap();
        of(&pages, process).iter().filter(|view| view.title() == "left to a child").count()
    };
    assert_eq!((found(ours), found(child.id())), (1, 0), "it is its maker's");
    drop(page);
    assert_eq!((found(ours), found(child.id())), (0, 1));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(found(child.id()), 0);
}
