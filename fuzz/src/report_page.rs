//! A report of results files whose words may be anything.
//!
//! Proves that no word of a file (command, machine, names, waits, cases, reasons) becomes markup
//! of the page or of a picture, part of a path or a link out of the page; that every picture is XML
//! that a strict reader takes; that whatever figures rows have, they can be drawn; and that a file
//! of such rows, written and read, is the same.
//!
//! An input is numbers and words, as they are asked for.

use std::collections::BTreeSet;
use std::fs;
use std::sync::LazyLock;

use hairpin_measure::{Report, Results, Row};
use roxmltree::Document;

use crate::Seed;
use crate::results_file::{recorded, results, row};
use crate::scratch;
use crate::script::Script;

/// One input.
pub fn run(bytes: &[u8]) {
    let mut script = Script(bytes);
    let files: Vec<Results> = (0..1 + script.below(2)).map(|_| file(&mut script)).collect();
    let names: Vec<String> = (0..script.below(3)).map(|_| word(&mut script)).collect();
    let folder = scratch::folder();
    let written = Report::new(&files).with_names(&names).write(folder.path()).expect("there is room");
    for path in written {
        assert_eq!(path.parent(), Some(folder.path()));
        let text = fs::read_to_string(&path).expect("it is there");
        assert!(!text.contains(|c: char| c < ' ' && c != '\n' && c != '\t' && c != '\r'));
        if path.extension().is_some_and(|extension| extension == "svg") {
            Document::parse(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        }
        check_markup(&text);
    }
    let path = folder.path().join("results.json");
    files[0].write(&path).expect("there is room");
    assert_eq!(Results::read(&path).expect("rows as they are measured"), files[0]);
}

/// Every tag and its attributes are those of pages of harmless words.
fn check_markup(text: &str) {
    static KNOWN: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
        let mut known = BTreeSet::new();
        for text in harmless() {
            known.extend(markup(&text));
        }
        known
    });
    for found in markup(text) {
        assert!(KNOWN.contains(&found), "<{found}> in {text}");
    }
}

/// A tag with the names of its attributes each, as `tag attribute`; links with where they lead to,
/// as far as that may differ.
fn markup(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((_, behind)) = rest.split_once('<') {
        let (inside, behind) = behind.split_once('>').expect("a tag ends");
        rest = behind;
        let (tag, attributes) = inside.split_once([' ', '\n']).unwrap_or((inside, ""));
        found.push(tag.to_owned());
        let mut quoted = attributes.split('"');
        while let Some(name) = quoted.next() {
            let name = name.trim().trim_end_matches('=').trim_end_matches('/');
            let value = quoted.next().unwrap_or_default();
            let leads = if name == "href" { &value[..1] } else { "" };
            found.push(format!("{tag} {name}{leads}"));
        }
        if tag == "script" || tag == "style" {
            let (raw, behind) = rest.split_once(&format!("</{tag}>")).expect("it ends");
            found.push(format!("{tag} {raw}"));
            rest = behind;
        }
    }
    found
}

/// The page and the pictures of files that have a bit of everything.
fn harmless() -> Vec<String> {
    let mut late = row("epoll", 2_000);
    (late.late, late.interrupted, late.lost, late.late_orders) = (true, true, 3, 1);
    let mut sent = row("poll", 100);
    sent.setting.case = "sent to order".into();
    let mut tcp = row("spin", 40);
    tcp.setting.feed = Some("tcp".into());
    let mut old = row("block", 30);
    (old.over_time, old.setting.interval_us) = (Vec::new(), 10_000);
    let mut other = row("other", 1);
    other.setting.bench = "feed".into();
    let failed = Row::failed(row("io_uring", 0).setting, "3 gaps");
    let of = |rows: Vec<Row>| results(rows);
    let sets = vec![
        vec![],
        vec![of(vec![])],
        vec![of(vec![failed.clone()])],
        vec![of(vec![row("epoll", 2_000), row("poll", 2_000), row("spin", 2_000)])],
        vec![of(vec![late, sent, failed, other]), of(vec![row("poll", 50), old, tcp])],
    ];
    let mut texts = Vec::new();
    for files in sets {
        let folder = scratch::folder();
        let written = Report::new(&files).write(folder.path()).expect("there is room");
        texts.extend(written.iter().map(|path| fs::read_to_string(path).expect("it is there")));
    }
    texts
}

fn file(script: &mut Script<'_>) -> Results {
    let rows = (0..script.below(5)).map(|_| one(script)).collect();
    let mut file = results(rows);
    file.command = word(script);
    if script.flag() {
        file.host.cpu = word(script);
        file.host.kernel = word(script);
        file.host.nic = word(script);
        file.host.governor = Some(word(script));
        file.host.cores = script.byte().into();
        file.commit = Some(word(script));
        file.version = word(script);
    }
    file
}

fn one(script: &mut Script<'_>) -> Row {
    let word_or = |script: &mut Script<'_>, words: [&str; 3]| match script.below(4) {
        3 => word(script),
        known => words[usize::from(known)].to_owned(),
    };
    let mut row = row("epoll", 0);
    let setting = &mut row.setting;
    setting.wait = word_or(script, ["epoll", "poll", "spin"]);
    setting.case = word_or(script, ["intended to order", "sent to order", "a"]);
    setting.feed = script.flag().then(|| word_or(script, ["multicast", "tcp", "Tcp"]));
    setting.bench = word_or(script, ["t2t", "feed", "order"]);
    setting.protocol = word_or(script, ["multicast+tcp", "tcp", "udp"]);
    setting.interval_us = [0, 500, 10_000, u64::from(script.word())][usize::from(script.below(4))];
    if script.below(4) == 0 {
        return Row::failed(row.setting, word(script));
    }
    let count = script.word() % 300;
    let (least, step, shift) = (script.word(), script.byte(), script.byte() % 64);
    let sample = |index: u64| (u64::from(least) + index * u64::from(step)) << shift;
    let samples = (0..u64::from(count)).map(sample);
    let measured = Row::new(row.setting, &recorded(samples), &recorded([u64::from(least)]));
    row = measured;
    row.lost = script.byte().into();
    row.late_orders = script.byte().into();
    row.interrupted = script.flag();
    row.ground = script.flag().then(|| word(script));
    row.cores = script.flag().then(|| [script.byte().into(), 300]);
    row.seed = script.flag().then(|| script.word().into());
    if row.setting.wait == "block" {
        row.block_deadline_ns = Some(script.word().into());
    }
    if script.flag() {
        row.over_time.clear();
    }
    row
}

/// A few of what markup takes for something, between characters of the input.
fn word(script: &mut Script<'_>) -> String {
    const ODD: [&str; 16] = [
        "<script>",
        "</script>",
        "<",
        ">",
        "\"",
        "'",
        "&",
        "-->",
        "</style>",
        "../",
        "/",
        "\n",
        "\0",
        "\u{1b}[31m",
        "\u{FFFE}",
        " onload=\"a\" ",
    ];
    let length = usize::from(script.below(24));
    let mut word = String::new();
    for &byte in script.bytes(length) {
        match byte {
            0..128 => word.push(char::from(byte)),
            128..192 => word.push_str(ODD[usize::from(byte) % ODD.len()]),
            _ => word.push(char::from_u32(u32::from(byte) * 331).unwrap_or('\u{10FFFF}')),
        }
    }
    word
}

/// A file of harmless rows, hostile ones, and two files.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    let mixed = |from: u8, step: u8| {
        (0..400_u16).map(|index| (index as u8).wrapping_mul(step).wrapping_add(from)).collect()
    };
    let plain = [[0, 2].to_vec(), vec![0; 6], vec![1, 200, 0, 16, 39, 7, 3], vec![0; 40]].concat();
    vec![
        ("plain".into(), plain),
        ("mixed".into(), mixed(0, 7)),
        ("hostile".into(), mixed(128, 1)),
        ("two".into(), mixed(1, 11)),
        ("odd".into(), mixed(3, 97)),
    ]
}
