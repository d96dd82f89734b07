//! A results file of any bytes, and any histogram in a sound one.
//!
//! Proves that none makes the reader panic and every refusal is one line; that what was read,
//! written and read again is the same; that the figures of a histogram that was read are those of
//! the histogram written; that of whatever was read a page and a table can be made; that it differs
//! from itself by no more than noise; and that its rows can be joined as rounds or are refused.
//!
//! An input is the file; or 0xFF, which none begins with, and a histogram in HdrHistogram's V2
//! encoding.

use std::fs;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hairpin_measure::{
    Clock, Compared, EnvironmentReport, Histogram, Host, Kind, Quantile, Recorder, Report, Results,
    Row, Setting, Style, Table, Timestamping, Verdict, compare,
};
use hairpin_time::{Duration, Utc};

use crate::Seed;
use crate::scratch;

/// One input.
pub fn run(bytes: &[u8]) {
    let folder = scratch::folder();
    let path = folder.path().join("results.json");
    if let [0xFF, encoded @ ..] = bytes {
        let Ok(histogram) = Histogram::from_base64(&STANDARD.encode(encoded)) else { return };
        check_histogram(&histogram);
        let mut row = row("epoll", 0);
        row.samples = histogram.count();
        row.summary.histogram = histogram;
        let extremes = (row.samples > 0).then_some(1);
        (row.summary.min, row.summary.max) = (extremes, extremes.map(|_| u64::MAX));
        let mean = extremes.map(|_| 1.5);
        (row.summary.mean, row.summary.stddev) = (mean, mean);
        results(vec![row]).write(&path).expect("there is room");
    } else {
        fs::write(&path, bytes).expect("there is room");
    }
    let read = match Results::read(&path) {
        Ok(read) => read,
        Err(error) => return assert!(!error.to_string().contains(['\n', '\r']), "{error}"),
    };
    read.write(&path).expect("there is room");
    let again = Results::read(&path).expect("it was just written");
    assert_eq!(again, read);
    check_rows(&read);
    let page = Report::new(&[read]).html();
    assert!(page.ends_with("</html>\n") || page.ends_with("</html>"), "{page}");
}

fn check_rows(read: &Results) {
    let table = Table::new(&read.rows).with_environment(read.truth.as_ref()).render(Style::Plain);
    assert!(table.ends_with('\n'));
    let compared = compare(read, read);
    assert!(compared.iter().all(|it| !matches!(it.verdict, Verdict::Slower | Verdict::Faster)));
    assert!(Compared::table(&compared, Style::Plain).ends_with('\n'));
    for row in &read.rows {
        let Ok(joined) = Row::from_rounds(&[row.clone(), row.clone()]) else { continue };
        assert_eq!(joined.samples, row.samples * 2);
        assert_eq!(joined.validate(), Ok(()));
    }
}

fn check_histogram(histogram: &Histogram) {
    let text = histogram.to_base64();
    let again = Histogram::from_base64(&text).expect("it was just written");
    assert_eq!(again.count(), histogram.count());
    assert!(histogram.iter().eq(again.iter()));
    let counted: u128 = histogram.iter().map(|bucket| u128::from(bucket.count)).sum();
    assert_eq!(counted, u128::from(histogram.count()));
    for quantile in [Quantile::P25, Quantile::P50, Quantile::P99, Quantile::P99_99] {
        assert_eq!(histogram.at(quantile), again.at(quantile));
    }
}

pub(crate) fn row(wait: &str, samples: u64) -> Row {
    let setting = Setting {
        bench: "t2t".into(),
        case: "intended to order".into(),
        feed: Some("multicast".into()),
        transport: "kernel".into(),
        wait: wait.into(),
        protocol: "multicast+tcp".into(),
        size_bytes: 144,
        interval_us: 500,
        kind: Kind::Rtt,
        clock: Clock::Tsc,
        rounds: 1,
    };
    Row::new(setting, &recorded((0..samples).map(|nanos| 10_000 + nanos * 7)), &recorded([100]))
}

pub(crate) fn recorded(samples: impl IntoIterator<Item = u64>) -> Recorder {
    let samples: Vec<u64> = samples.into_iter().collect();
    let mut recorder = Recorder::with_capacity(samples.len());
    samples.into_iter().for_each(|nanos| recorder.record(Duration::from_nanos(nanos)));
    recorder
}

pub(crate) fn results(rows: Vec<Row>) -> Results {
    let host = Host {
        cpu: "A processor".into(),
        cores: 2,
        kernel: "6.1.0".into(),
        virtualised: true,
        tsc_hz: Some(2_445_000_000),
        governor: None,
        nic: "veth".into(),
        timestamping: Timestamping::Software,
    };
    let started = Utc::from_nanos(1_795_284_000_000_000_000);
    Results { rows, ..Results::new(started, "hairpin t2t --quick", host) }
}

/// Files without and with rows, one of them failed, and histograms.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    let folder = scratch::folder();
    let path = folder.path().join("results.json");
    let mut seeds = Vec::new();
    let failed = Row::failed(row("spin", 0).setting, "3 gaps");
    let rounds = Row::from_rounds(&[row("poll", 30), row("poll", 3)]).expect("rounds of one setting");
    let sets = [
        ("empty", vec![]),
        ("few", vec![row("epoll", 3)]),
        ("some", vec![row("epoll", 100), row("poll", 30)]),
        ("failed", vec![row("epoll", 20), failed]),
        ("rounds", vec![rounds]),
    ];
    for (name, rows) in sets {
        let truth = (name == "rounds").then(EnvironmentReport::default);
        let file = Results { truth, ..results(rows) };
        file.write(&path).expect("there is room");
        seeds.push((name.to_owned(), fs::read(&path).expect("it is there")));
    }
    // The uncompressed form: cookie, counts, offset, digits, bounds, ratio, counts in ZigZag.
    let encoded = |counts: &[u8]| {
        let mut bytes = vec![0xFF, 0x1C, 0x84, 0x93, 0x13];
        bytes.extend((counts.len() as u32).to_be_bytes());
        bytes.extend([0, 0, 0, 0, 0, 0, 0, 3]);
        bytes.extend(1_u64.to_be_bytes());
        bytes.extend(60_000_000_000_u64.to_be_bytes());
        bytes.extend(1_f64.to_be_bytes());
        bytes.extend(counts);
        bytes
    };
    seeds.push(("histogram".into(), encoded(&[2, 4, 3, 40])));
    seeds.push((
        "histogram-huge".into(),
        encoded(&[2, 0xFE, 255, 255, 255, 255, 255, 255, 255, 255]),
    ));
    seeds.push(("histogram-empty".into(), encoded(&[])));
    seeds
}
