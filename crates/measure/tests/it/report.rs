//! Reports: valid SVG and HTML, also from hostile results files.
use std::fs;
use std::path::Path;

use hairpin_measure::{
    Clock, EnvironmentReport, Host, Kind, Recorder, Report, ReportError, Results, Row, Setting,
    Timestamping,
};
use hairpin_time::{Duration, Utc};
use roxmltree::Document;

fn setting(wait: &str, case: &str) -> Setting {
    Setting {
        bench: "t2t".to_string(),
        case: case.to_string(),
        feed: Some("multicast".to_string()),
        transport: "kernel".to_string(),
        wait: wait.to_string(),
        protocol: "multicast+tcp".to_string(),
        size_bytes: 144,
        interval_us: 500,
        kind: Kind::Rtt,
        clock: Clock::Tsc,
        rounds: 1,
    }
}

fn recorded(samples: impl IntoIterator<Item = u64>) -> Recorder {
    let samples: Vec<u64> = samples.into_iter().collect();
    let mut recorder = Recorder::with_capacity(samples.len());
    samples.into_iter().for_each(|nanos| recorder.record(Duration::from_nanos(nanos)));
    recorder
}

/// Returns a row of `samples` samples from 10 µs, with a few slow ones.
fn row(wait: &str, samples: u64) -> Row {
    let nanos = (0..samples).map(|index| 10_000 + index * 3 + (index % 97 / 96) * 900_000);
    Row::new(setting(wait, "intended to order"), &recorded(nanos), &recorded([100]))
}

fn results(rows: Vec<Row>) -> Results {
    let host = Host {
        cpu: "A processor".to_string(),
        cores: 2,
        kernel: "6.1.0".to_string(),
        virtualised: true,
        tsc_hz: Some(2_445_000_000),
        governor: None,
        nic: "veth".to_string(),
        timestamping: Timestamping::Software,
    };
    let started = Utc::from_nanos(1_795_284_000_000_000_000);
    Results { rows, ..Results::new(started, "hairpin t2t --quick", host) }
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// Returns the sorted names of the files in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Writes a report. Returns the page, and each chart with its name.
fn write_report(files: &[Results]) -> (String, Vec<(String, String)>) {
    let folder = folder();
    let paths = Report::new(files).write(folder.path()).unwrap();
    assert_eq!(paths.len(), names(folder.path()).len());
    assert_eq!(paths.last().unwrap().file_name().unwrap(), "report.html");
    let read = |name: &String| fs::read_to_string(folder.path().join(name)).unwrap();
    let charts = names(folder.path()).into_iter().filter(|name| name.ends_with(".svg"));
    let charts = charts.map(|name| (name.clone(), read(&name))).collect();
    (read(&"report.html".to_string()), charts)
}

/// Checks that a chart is valid XML with a size, a title and a description. Returns its texts.
fn texts(svg: &str) -> Vec<String> {
    let document = Document::parse(svg).unwrap_or_else(|error| panic!("{error}: {svg}"));
    let root = document.root_element();
    assert!(root.has_tag_name(("http://www.w3.org/2000/svg", "svg")));
    for size in ["width", "height"] {
        assert!(root.attribute(size).unwrap().parse::<f64>().unwrap() > 0.0);
    }
    for name in ["title", "desc"] {
        let element = root.children().find(|child| child.tag_name().name() == name).unwrap();
        assert!(!element.text().unwrap_or_default().is_empty(), "{name}");
        let id = element.attribute("id").unwrap();
        assert!(root.attribute("aria-labelledby").unwrap().split(' ').any(|label| label == id));
    }
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    let texts = document
        .descendants()
        .filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "text")));
    texts.map(|node| node.text().unwrap_or_default().to_string()).collect()
}

#[test]
fn chart_names_contain_kind_feed_and_interval() {
    let mut tcp = row("epoll", 200);
    (tcp.setting.feed, tcp.setting.interval_us) = (Some("tcp".to_string()), 10_000);
    let (_, charts) = write_report(&[results(vec![row("epoll", 200), tcp])]);
    let names: Vec<_> = charts.iter().map(|(name, _)| name.as_str()).collect();
    let expected = [
        "histogram-multicast-500.svg",
        "histogram-tcp-10000.svg",
        "latency-multicast-500.svg",
        "latency-tcp-10000.svg",
        "percentiles-multicast-500.svg",
        "percentiles-tcp-10000.svg",
    ];
    assert_eq!(names, expected);
}

#[test]
fn two_files_have_their_ratios() {
    let file = || results(vec![row("epoll", 2_000)]);
    let (page, _) = write_report(&[file(), file()]);
    let (_, section) = page.split_once("<section id=\"ratios\">").unwrap();
    let section = section.split("</section>").next().unwrap();
    assert!(section.contains("epoll, intended to order</td>"), "{section}");
    assert!(section.contains("<td>1.000</td>"), "{section}");
    let (page, _) = write_report(&[file()]);
    assert!(!page.contains("id=\"ratios\""), "{page}");
}

#[test]
fn charts_contain_units_counts_and_machine() {
    let rows = vec![Row { lost: 3, ..row("epoll", 2_000) }, row("spin", 2_000)];
    for (name, svg) in write_report(&[results(rows)]).1 {
        let texts = texts(&svg).join("\n");
        for expected in ["multicast, 500 µs", "round trip, µs", "epoll", "spin", "A processor"] {
            assert!(texts.contains(expected), "{name}: no {expected} in {texts}");
        }
        let counts = "epoll 2,000 samples, 3 lost; spin 2,000 samples, none lost.";
        assert!(texts.contains(counts), "{name}: {texts}");
    }
}

#[test]
fn page_contains_the_same_charts() {
    let (page, charts) = write_report(&[results(vec![row("epoll", 2_000)])]);
    // Each for wide and for narrow screens.
    assert_eq!(page.matches("<svg").count(), 2 * charts.len());
    for (name, svg) in charts {
        let outlines = svg.split(" d=\"").skip(1).map(|rest| rest.split('"').next().unwrap());
        for outline in outlines {
            assert!(page.contains(outline), "{name}: {outline}");
        }
    }
}

#[test]
fn report_is_deterministic() {
    let files =
        [results(vec![row("epoll", 2_000), row("spin", 300)]), results(vec![row("poll", 50)])];
    assert_eq!(write_report(&files), write_report(&files));
}

/// Returns a row of seven rounds of 40 samples, each round a microsecond slower than the previous
/// one.
fn rounds(transport: &str) -> Row {
    let round = |at: u64| {
        let mut row = row("spin", 40);
        row.setting.transport = transport.to_string();
        let nanos = (0..40).map(|index| 10_000 + at * 1_000 + index);
        Row::new(row.setting, &recorded(nanos), &recorded([100]))
    };
    Row::from_rounds(&(0..7).map(round).collect::<Vec<_>>()).unwrap()
}

#[test]
fn table_contains_rounds_environment_and_baseline() {
    let mut file = results(vec![rounds("kernel"), rounds("xdp"), row("epoll", 40)]);
    let environment = EnvironmentReport {
        clock_step_ns: 10.0,
        clock_read_ns: 11.0,
        ..EnvironmentReport::default()
    };
    file.truth = Some(environment);
    let (page, charts) = write_report(&[file.clone()]);
    for expected in [
        "<th>p50<br>95 %</th>",
        "<th>p50 against<br>kernel</th>",
        "<td>13.02</td><td>10.02 to 16.02</td>",
        "<td>× 1.000 (1.000 to 1.000)</td>",
        "colspan=\"21\"",
        "<p class=\"quiet\">clock: step 10.0 ns, reading 11.0 ns",
        "<p class=\"quiet\">rows of 7 rounds: percentiles are medians",
    ] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
    let columns = |line: &str| line.matches("<td").count();
    let rows: Vec<_> = page.lines().filter(|line| line.starts_with("<tr class=\"\">")).collect();
    assert_eq!(rows.iter().map(|line| columns(line)).collect::<Vec<_>>(), [21; 3]);
    assert_eq!(write_report(&[file]), (page, charts));
    let (page, _) = write_report(&[results(vec![row("epoll", 40)])]);
    assert!(page.contains("colspan=\"19\"") && !page.contains("95 %</th>"), "{page}");
}

#[test]
fn text_of_results_files_is_neither_markup_nor_path() {
    let hostile = "../../<script>alert(1)</script>&\"'\u{1}\u{1b}[31m";
    let mut bad = row(hostile, 200);
    bad.setting.feed = Some(hostile.to_string());
    bad.setting.case = hostile.to_string();
    bad.ground = Some(hostile.to_string());
    let mut failed = Row::failed(setting("poll", hostile), hostile);
    failed.setting.feed = Some(hostile.to_string());
    let mut results = results(vec![bad, failed]);
    (results.command, results.host.cpu) = (hostile.to_string(), hostile.to_string());
    results.commit = Some(hostile.to_string());
    let names = [hostile.to_string()];

    let folder = folder();
    let paths = Report::new(std::slice::from_ref(&results))
        .with_names(&names)
        .write(folder.path())
        .unwrap();
    assert!(paths.iter().all(|path| path.parent() == Some(folder.path())), "{paths:?}");
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains("<script>alert"), "{}", path.display());
        assert!(!text.contains('\u{1}') && !text.contains('\u{1b}'), "{}", path.display());
        if path.extension().is_some_and(|extension| extension == "svg") {
            assert!(texts(&text).iter().any(|text| text.contains("<script>alert(1)")));
        }
    }
}

#[test]
fn feeds_with_similar_names_have_separate_charts() {
    let mut other = row("epoll", 200);
    other.setting.feed = Some("Multicast".to_string());
    let (page, charts) = write_report(&[results(vec![row("epoll", 200), other])]);
    assert_eq!(charts.len(), 6, "{charts:?}");
    assert!(page.contains("id=\"percentiles-multicast-500-2\""));
}

#[test]
fn few_equal_and_huge_samples_can_be_drawn() {
    let row_of = |samples: Vec<u64>| {
        Row::new(setting("epoll", "intended to order"), &recorded(samples), &recorded([]))
    };
    let rows = [
        row_of(vec![7]),
        row_of(vec![0]),
        row_of(vec![0, u64::MAX]),
        row_of(vec![123_456; 30]),
        row_of(vec![1, 60_000_000_000]),
        row_of((0..30).collect()),
    ];
    for row in rows {
        let samples = row.samples;
        let (_, charts) = write_report(&[results(vec![row])]);
        assert_eq!(charts.len(), 3, "{samples}");
        charts.iter().for_each(|(_, svg)| drop(texts(svg)));
    }
}

#[test]
fn slowest_samples_are_dots() {
    let dots = |samples| {
        let (_, charts) = write_report(&[results(vec![row("epoll", samples)])]);
        let (_, svg) = charts.iter().find(|(name, _)| name.starts_with("percentiles")).unwrap();
        svg.matches("h0").count()
    };
    assert_eq!([1, 4, 10, 11, 2_000].map(dots), [1, 4, 10, 10, 10]);
}

#[test]
fn page_without_rows_contains_a_note() {
    let (page, charts) = write_report(&[results(vec![])]);
    assert_eq!(charts.len(), 0);
    assert!(page.contains("This file contains no rows"), "{page}");
    let (page, _) = write_report(&[]);
    assert!(page.contains("These files contain no rows"), "{page}");
}

#[test]
fn failed_rows_are_in_the_table_and_in_no_chart() {
    let failed = Row { failed: Some("3 gaps".to_string()), ..row("spin", 2_000) };
    let (page, charts) = write_report(&[results(vec![row("epoll", 2_000), failed.clone()])]);
    assert!(page.contains("Failed: multicast, 500 µs, spin: 3 gaps"), "{page}");
    assert!(page.contains("failed: 3 gaps</td>"), "{page}");
    for (name, svg) in charts {
        assert!(!svg.contains("data-wait=\"spin\""), "{name}");
        assert!(texts(&svg).iter().any(|text| text.contains("Not drawn, see the table: spin.")));
    }
    let (page, charts) = write_report(&[results(vec![failed])]);
    assert!(charts.is_empty() && page.contains("No row here has valid samples to draw"), "{page}");
}

#[test]
fn late_and_interrupted_rows_are_marked() {
    let row = Row { late: true, interrupted: true, ..row("spin", 2_000) };
    let (page, charts) = write_report(&[results(vec![row])]);
    assert!(page.contains("1 of 1 row late: "), "{page}");
    assert!(page.contains("1 of 1 row interrupted: "), "{page}");
    assert!(page.contains("late; interrupted</td>"), "{page}");
    for (name, svg) in charts {
        let texts = texts(&svg);
        assert!(texts.iter().any(|text| text == "spin late"), "{name}: {texts:?}");
        let has_note = |text: &&String| text.contains("Sender late: spin. Interrupted: spin.");
        assert!(texts.iter().any(|text| has_note(&text)), "{name}: {texts:?}");
    }
}

#[test]
fn repeated_rows_are_drawn_from_the_valid_run() {
    let slow = |nanos: u64| (0..2_000).map(move |index| nanos + index);
    let run = |nanos, late| {
        let row = Row::new(setting("spin", "a"), &recorded(slow(nanos)), &recorded([]));
        Row { late, ..row }
    };
    let in_time = run(20_000, false);
    for rows in [vec![run(90_000, true), in_time.clone()], vec![in_time, run(90_000, true)]] {
        let (page, charts) = write_report(&[results(rows)]);
        for (name, svg) in charts {
            let texts = texts(&svg);
            assert!(texts.iter().any(|text| text == "spin"), "{name}: {texts:?}");
            assert!(!texts.iter().any(|text| text == "spin late"), "{name}: {texts:?}");
            let lines = if name.starts_with("percentiles") { 2 } else { 1 };
            assert_eq!(svg.matches("data-wait=\"spin\"").count(), lines, "{name}");
        }
        assert_eq!(page.matches("<td class=\"word\">spin</td>").count(), 2);
    }
    // Without a valid run, the last one is drawn.
    let (_, charts) = write_report(&[results(vec![run(20_000, true), run(90_000, true)])]);
    let (_, svg) = charts.iter().find(|(name, _)| name.starts_with("histogram")).unwrap();
    assert!(texts(svg).iter().any(|text| text.starts_with("median 91.0 µs")), "{svg}");
}

#[test]
fn files_with_the_same_settings_share_charts() {
    let files = [results(vec![row("epoll", 2_000)]), results(vec![row("epoll", 300)])];
    let names = ["before.json".to_string(), "after.json".to_string()];
    let page = Report::new(&files).with_names(&names).html();
    for expected in ["before.json", "after.json", "A: intended to order", "B: intended to order"] {
        assert!(page.contains(expected), "{expected}");
    }
    assert!(page.contains("A: 2,000 samples, none lost. B: 300 samples, none lost."), "{page}");
    assert_eq!(write_report(&files).1.len(), 3);
}

#[test]
fn charts_omit_data_that_a_file_lacks() {
    let old = Row { over_time: Vec::new(), ..row("epoll", 2_000) };
    let (page, charts) = write_report(&[results(vec![old.clone()])]);
    assert!(charts.iter().all(|(name, _)| !name.starts_with("latency")));
    assert!(page.contains("There is no chart over time"), "{page}");
    // A file with the order of samples next to one without.
    let (_, charts) = write_report(&[results(vec![old]), results(vec![row("epoll", 2_000)])]);
    let (_, svg) = charts.iter().find(|(name, _)| name.starts_with("latency")).unwrap();
    assert!(texts(svg).iter().any(|text| text.starts_with("the file does not contain")));
}

#[test]
fn report_replaces_the_previous_one() {
    let folder = folder();
    fs::write(folder.path().join("mine.txt"), "kept").unwrap();
    let write = |samples| Report::new(&[results(vec![row("spin", samples)])]).write(folder.path());
    write(200).unwrap();
    let before = names(folder.path());
    write(2_000).unwrap();
    assert_eq!(names(folder.path()), before);
    assert!(fs::read_to_string(folder.path().join("report.html")).unwrap().contains("2,000"));
    assert_eq!(fs::read_to_string(folder.path().join("mine.txt")).unwrap(), "kept");
}

#[test]
fn path_that_is_no_folder_is_an_error() {
    let folder = folder();
    let file = folder.path().join("taken");
    fs::write(&file, "kept").unwrap();
    let error = Report::new(&[]).write(&file).unwrap_err();
    assert!(matches!(error, ReportError::NotAFolder { .. }), "{error}");
    let error = Report::new(&[]).write(&file.join("below")).unwrap_err();
    assert!(matches!(error, ReportError::Io { .. }), "{error}");
    assert!(error.to_string().contains("below"), "{error}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "kept");
}
