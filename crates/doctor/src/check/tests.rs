use std::os::unix::fs::PermissionsExt;

use tempfile::TempDir;

use super::*;

const ORDER: &str = "[gateway]\nprimary = [\"192.0.2.10:9000\"]\n\
    [logon]\naccess_key_id = \"ACCESS-KEY-ID-123456\"\nsecret_file = \"secret.key\"\n\
    session = \"ABC\"\nfirm = \"DEFGH\"\nsystem_name = \"Example\"\nsystem_version = \"1.0\"\n\
    system_vendor = \"Example\"\n\
    [operator]\nsender_id = \"TRADER\"\nlocation = \"US,IL\"\nmanual = false\n\
    [journal]\nfolder = \"journal\"\n";
/// 32 bytes in base64url.
const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
/// Thursday, 2026-11-26, 12:00 in Chicago.
const NOON: u64 = 1_795_716_000_000_000_000;

fn host() -> CheckHost {
    CheckHost {
        now: Utc::from_nanos(NOON),
        allowed_cores: vec![0, 1],
        clock_sync: Some(ClockSync { synchronized: true, error_max: Duration::from_millis(1) }),
        has_address: |address| address == Ipv4Addr::new(10, 0, 0, 2),
    }
}

fn threads(text: &str) -> Result<Vec<usize>, String> {
    let numbers = text.lines().filter_map(|line| line.split_once('='));
    numbers.map(|(_, core)| core.trim().parse().map_err(|_| "no core".to_owned())).collect()
}

/// A folder with a file and a key.
fn file(name: &str, text: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("secret.key");
    fs::write(&key, KEY).unwrap();
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    (folder, path)
}

fn check_with(host: &CheckHost, name: &str, text: &str) -> Vec<(Judgment, String)> {
    let (_folder, path) = file(name, text);
    host.check(&path, threads).into_iter().map(|line| (line.judgment, line.text)).collect()
}

fn check(name: &str, text: &str) -> Vec<(Judgment, String)> {
    check_with(&host(), name, text)
}

fn has(lines: &[(Judgment, String)], judgment: Judgment, text: &str) -> bool {
    lines.iter().any(|(of, line)| *of == judgment && line.contains(text))
}

#[test]
fn valid_order_file_has_one_line_and_a_note_about_its_journal() {
    let lines = check("order.toml", ORDER);
    let summary = "order entry: session ABC of firm DEFGH; hosts: 1 primary, 0 backup";
    assert_eq!(lines[0], (Judgment::Found, summary.to_owned()));
    assert!(has(&lines, Judgment::Note, "does not exist yet"), "{lines:?}");
    assert!(lines.iter().all(|(judgment, _)| *judgment != Judgment::Wrong), "{lines:?}");
}

#[test]
fn order_file_with_an_unknown_key_is_wrong() {
    let lines = check("order.toml", &ORDER.replace("manual", "manul"));
    assert!(has(&lines, Judgment::Wrong, "line"), "{lines:?}");
}

#[test]
fn key_file_that_others_can_read_is_wrong() {
    let (folder, path) = file("order.toml", ORDER);
    let key = folder.path().join("secret.key");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    let lines = host().check(&path, threads);
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert_eq!(lines[0].judgment, Judgment::Wrong);
    assert!(lines[0].text.contains("secret.key"), "{}", lines[0]);
}

#[test]
fn key_file_of_any_mode_is_a_note() {
    let permits = ORDER.replace("session =", "insecure_key_file = true\nsession =");
    assert!(has(&check("order.toml", &permits), Judgment::Note, "insecure_key_file"));
    let forbids = permits.replace("true", "false # or true");
    assert!(!has(&check("order.toml", &forbids), Judgment::Note, "insecure_key_file"));
}

#[test]
fn schedule_is_compared_with_the_time() {
    let with = |windows: &str| {
        let schedule = format!(
            "{ORDER}[schedule]\nzone = \"America/Chicago\"\nweek_start = \"Sun 15:00\"\n\
             open = {windows}\n"
        );
        check("order.toml", &schedule)
    };
    let lines = with("[[\"Sun 15:00\", \"Fri 16:00\"]]");
    assert!(has(&lines, Judgment::Note, "schedule: open, closes in 1 d 4 h"), "{lines:?}");
    let lines = with("[[\"Fri 08:30\", \"Fri 16:00\"]]");
    assert!(has(&lines, Judgment::Note, "schedule: closed, opens in 20 h 30 min"), "{lines:?}");
    let lines = with("[[\"Fri 08:30\", \"Fri 08:30\"]]");
    assert!(has(&lines, Judgment::Wrong, ""), "{lines:?}");
}

#[test]
fn expiry_of_the_key_is_compared_with_the_date() {
    let with = |date: &str| {
        check("order.toml", &ORDER.replace("firm =", &format!("key_expires = {date}\nfirm =")))
    };
    assert!(has(&with("2026-11-01"), Judgment::Wrong, "has expired"));
    assert!(has(&with("2026-12-06"), Judgment::Note, "expires in 9 days"));
    assert_eq!(with("2027-11-01").len(), 2);
}

#[test]
fn clock_matters_to_an_order_file() {
    let with = |synchronized, seconds| {
        let error_max = Duration::from_secs(seconds);
        let clock_sync = Some(ClockSync { synchronized, error_max });
        check_with(&CheckHost { clock_sync, ..host() }, "order.toml", ORDER)
    };
    assert!(has(&with(false, 16), Judgment::Note, "no daemon synchronizes"));
    assert!(has(&with(true, 6), Judgment::Wrong, "more than 5 s off"));
    assert!(!has(&with(true, 1), Judgment::Note, "clock"));
}

#[test]
fn threads_file_names_cores_that_exist() {
    let lines = check("threads.toml", "[threads]\nexchange = 0\ntrader = 1\n");
    assert_eq!(lines, [(Judgment::Found, "threads file: cores 0-1".to_owned())]);
    let lines = check("threads.toml", "[threads]\nexchange = 7\ntrader = 1\n");
    assert!(has(&lines, Judgment::Wrong, "cannot pin to core 7: allowed cores are 0-1"));
    let lines = check("threads.toml", "[threads]\nexchange = 1\ntrader = 1\n");
    assert!(has(&lines, Judgment::Wrong, "two threads have the same core"));
    assert!(has(&check("t", "[threads]\ntrader = x\n"), Judgment::Wrong, "no core"));
}

const CHANNELS: &str = "[[channel]]\nid = \"400\"\nlabel = \"a\"\n[[channel.connection]]\n\
    feed = \"I\"\nside = \"A\"\ngroup = \"239.1.1.1\"\nport = 10000\n";

#[test]
fn channels_need_feeds_and_addresses_of_this_host() {
    let lines = check("feed.toml", CHANNELS);
    assert_eq!(lines, [(Judgment::Found, "market data: 1 channel".to_owned())]);
    let with =
        |interface: &str| check("a.toml", &format!("{CHANNELS}interface = \"{interface}\"\n"));
    assert_eq!(with("10.0.0.2").len(), 1);
    assert!(has(&with("10.0.0.3"), Judgment::Wrong, "no interface has the address 10.0.0.3"));
    let lines = check("feed.toml", &CHANNELS.replace("\"I\"", "\"X\""));
    assert!(has(&lines, Judgment::Wrong, "no incremental feed"), "{lines:?}");
    assert!(has(&check("feed.txt", CHANNELS), Judgment::Wrong, ".toml"));
    assert!(has(&check("feed.toml", "[[channel]]\nid = 1\n"), Judgment::Wrong, "line"));
}

#[test]
fn configuration_in_xml_is_recognized_by_its_elements() {
    let lines = check("config.xml", "<?xml version='1.0'?><configuration environment='Test'/>");
    assert!(has(&lines, Judgment::Found, "market data: Test, 0 channels"), "{lines:?}");
    assert!(has(&lines, Judgment::Wrong, "no channel"));
    let gateways = |versions: &str| {
        let segment =
            |id: u8, inner: &str| format!("<marketsegment id='{id}'>{inner}</marketsegment>");
        let versions = format!("<ToCMESchemaVersion>{versions}</ToCMESchemaVersion>");
        let all = [segment(12, ""), segment(64, &versions)].concat();
        check("MSGW_Config.xml", &format!("<configuration>{all}</configuration>"))
    };
    let valid = "market segments: 1 of 2 usable".to_owned();
    assert_eq!(gateways("8"), [(Judgment::Found, valid)]);
    assert!(has(&gateways("3"), Judgment::Wrong, "no market segment has a schema version"));
    assert!(has(&gateways("3"), Judgment::Note, "market segment 64 accepts"));
}

#[test]
fn other_files_are_wrong_and_never_quoted() {
    for (name, text) in [("secret.key", KEY), ("a.xml", "<other/>"), ("a.toml", "[table]\n")] {
        let lines = check(name, text);
        assert_eq!(lines.len(), 1, "{name}: {lines:?}");
        assert!(has(&lines, Judgment::Wrong, "unknown content"), "{name}: {lines:?}");
        assert!(!lines[0].1.contains(KEY));
    }
    let lines = host().check(Path::new("/nowhere/order.toml"), threads);
    assert!(lines[0].text.starts_with("cannot read the file: "), "{}", lines[0]);
    let line =
        CheckLine { path: PathBuf::from(KEY), judgment: Judgment::Wrong, text: "a\nb".to_owned() };
    assert!(!line.to_string().contains(KEY) && line.to_string().ends_with(": wrong: a b"));
}
