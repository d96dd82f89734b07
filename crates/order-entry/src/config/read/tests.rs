//! Tests of each key of `order.toml`, and of invalid files.

use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;

use super::*;
use hairpin_time::Utc;
use tempfile::TempDir;

/// The documentation with the sample configuration.
const SAMPLE: &str = include_str!("../../../../../docs/guide/order-library.md");
/// The base64url form of bytes 0 to 15.
const KEY: &str = "AAECAwQFBgcICQoLDA0ODw";

/// Returns the TOML block in the documentation.
fn sample() -> &'static str {
    let (_, rest) = SAMPLE.split_once("```toml\n").unwrap();
    rest.split_once("```").unwrap().0
}

/// Creates a folder with the key file that the sample names.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    write_key(&folder, KEY);
    folder
}

fn read(text: &str) -> Result<Config, ConfigError> {
    from_toml_in(text, folder().path())
}

fn from_toml_in(text: &str, folder: &Path) -> Result<Config, ConfigError> {
    Config::from_source(&Source { text, folder, options: ReadOptions::default() })
}

fn segments_in(text: &str, folder: &Path) -> Result<Vec<(u8, Config)>, ConfigError> {
    Config::segments_of(&Source { text, folder, options: ReadOptions::default() })
}

fn write_key(folder: &TempDir, text: &str) {
    let path = folder.path().join("secret.key");
    let _ = fs::remove_file(&path);
    let mut options = fs::OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(0o600).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

/// Returns the error of the sample with `from` replaced by `to`.
fn error(from: &str, to: &str) -> String {
    assert!(sample().contains(from), "{from}");
    read(&sample().replacen(from, to, 1)).unwrap_err().to_string()
}

/// Returns the line of the sample that contains this text.
fn line_of(part: &str) -> usize {
    sample().lines().position(|line| line.contains(part)).unwrap() + 1
}

#[test]
fn reads_the_documented_sample() {
    let config = read(sample()).unwrap();
    let Config { session, connector, journal, instruments, .. } = config;
    assert_eq!(instruments.into_iter().collect::<Vec<_>>(), [("ESZ6".to_owned(), 12_345)]);
    assert_eq!(session.gateway, "192.0.2.10:9000".parse().unwrap());
    assert_eq!((connector.primary.len(), connector.backup.len()), (2, 1));
    assert_eq!((connector.attempts, connector.interval), (Some(20), Duration::from_secs(1)));
    assert_eq!((&*session.logon.session, &*session.logon.firm), ("ABC", "DEFGH"));
    assert_eq!(session.logon.keep_alive_interval, Duration::from_secs(10));
    assert_eq!(session.logon.operator, Operator::automated("TRADER", "US,IL").unwrap());
    assert_eq!(session.conduct, SessionPolicy::default());
    assert_eq!((session.waiting_max, session.when_full), (WAITING_DEFAULT, WhenFull::Refuse));
    assert!(session.keep_inbound);
    let throttle = session.throttle.unwrap();
    assert_eq!(throttle.rates, Rates::default());
    assert_eq!(throttle.beyond, WhenThrottled::Refuse);
    let journal = journal.unwrap();
    assert!(journal.folder.ends_with("journal"));
    let sync = SyncPolicy::Interval(Duration::from_millis(10));
    assert_eq!(journal.settings, JournalSettings { sync, ..JournalSettings::default() });
    let schedule = connector.schedule.unwrap();
    // Wednesday, 17 January 2024, noon UTC; then the following Saturday.
    assert!(schedule.is_open(Utc::from_nanos(1_705_492_800_000_000_000), &config.zone));
    assert!(!schedule.is_open(Utc::from_nanos(1_705_752_000_000_000_000), &config.zone));
}

#[test]
fn missing_keys_are_reported_together() {
    let of_tables = |tables: &str| format!("[gateway]\nprimary = [\"127.0.0.1:1\"]\n{tables}");
    let keys = |table: usize| {
        let (name, keys) = REQUIRED[table];
        keys.iter().map(|key| format!("`{key}` in [{name}]")).collect::<Vec<_>>().join(", ")
    };
    let error = |tables: &str| read(&of_tables(tables)).unwrap_err().to_string();
    let all = format!("missing fields: {}, {}", keys(0), keys(1));
    assert!(error("").ends_with(&all), "{}", error(""));
    assert!(error("[logon]\n[operator]\n").ends_with(&all));
    let one = error("[operator]\nsender_id = \"A\"\nlocation = \"US\"\n");
    assert!(one.ends_with(&format!("missing fields: {}", keys(0))), "{one}");
    // The list has every key that the parser requires.
    let mut tables = String::new();
    for (table, keys) in REQUIRED {
        tables += &format!("[{table}]\n");
        keys.iter().for_each(|key| tables += &format!("{key} = \"a\"\n"));
    }
    assert!(!error(&tables).contains("missing"), "{}", error(&tables));
    for (_, keys) in REQUIRED {
        for key in keys {
            let text = of_tables(&tables).replace(&format!("{key} = \"a\"\n"), "");
            let error = read(&text).unwrap_err().to_string();
            assert!(error.ends_with(&format!("missing field `{key}`")), "{error}");
        }
    }
}

#[test]
fn requires_only_gateway_logon_and_operator() {
    let text = sample().split_once("[conduct]").unwrap().0;
    let config = read(text).unwrap();
    assert!(config.journal.is_none() && config.session.throttle.is_none());
    assert!(config.connector.schedule.is_none());
    assert_eq!(config.open_journal(4_096).unwrap().capacity(), 4_096);
}

#[test]
fn keys_take_effect() {
    let config = read(&sample().replace("# version = 9", "version = 8")).unwrap();
    assert_eq!(config.session.conduct.version, Version::new(8).unwrap());
    let with = |from: &str, to: &str| {
        assert!(sample().contains(from), "{from}");
        read(&sample().replace(from, to)).unwrap()
    };
    let config = with("\"fill_gap\"", "\"replay\"");
    assert_eq!(config.session.conduct.not_applied, NotAppliedAnswer::Replay);
    let config = with("beyond = \"refuse\"", "beyond = \"queue\"\ninterval_ms = 1000\ncancels = 5");
    let throttle = config.session.throttle.unwrap();
    assert_eq!(throttle.beyond, WhenThrottled::Queue);
    let rate = Rate { messages: 5, interval: Duration::from_secs(1) };
    assert_eq!(throttle.rates, Rates { cancels: Some(rate), ..Rates::default() });
    let config = with("# key_expires", "key_expires");
    let expiry = config.session.conduct.key_expires.unwrap();
    // 1 March 2027.
    assert_eq!(expiry, KeyExpiry::new(Utc::from_nanos(1_803_859_200_000_000_000)));
    let config = with("# key_expires", "key_warning_days = 5\nkey_expires");
    assert_eq!(config.session.conduct.key_expires.unwrap().warning_days, 5);
    let config = with("# batch_bytes = 1368", "batch_bytes = 9000");
    assert_eq!(config.session.batch_bytes, 9_000);
    let config = with("# on_fault = \"close\"", "on_fault = \"terminate\"");
    assert_eq!(config.session.conduct.on_fault, OnFault::Terminate);
    let config = with("# on_demand_party_id = 0", "on_demand_party_id = 7");
    assert_eq!(config.session.conduct.on_demand_party_id, 7);
    let config = with("\"TRADER\"", "\"ABC\"\nebs = true");
    assert_eq!(config.session.logon.operator, Operator::automated("ABC", "US,IL").unwrap());
    let config = with("when_full = \"refuse\"", "when_full = \"begin_again\"");
    assert_eq!(config.session.when_full, WhenFull::Restart);
    let config = with("manual = false", "manual = true\nparty_details_id = 7");
    let operator = config.session.logon.operator;
    assert_eq!(operator.manual_order_indicator, ManualOrdIndReq::MANUAL);
    assert_eq!(operator.party_details_list_req_id, 7);
    let config = with("segments = 16", "segments = 4\nage_hours = 2\nkeep_inbound = false");
    let retention = config.journal.unwrap().settings.retention;
    assert_eq!((retention.segments, retention.age), (4, Some(Duration::from_secs(7_200))));
    assert!(!config.session.keep_inbound);
}

#[test]
fn reports_unknown_key_with_its_line() {
    for key in ["[gateway]", "[logon]", "[operator]", "[conduct]", "[sending]", "[journal]"] {
        let error = error(key, &format!("{key}\nclord = 1"));
        let expected = format!("line {}: unknown field `clord`", line_of(key) + 1);
        assert!(error.starts_with(&expected), "{error}");
    }
    let error = error("[gateway]", "[gate]\n[gateway]");
    assert!(error.starts_with(&format!("line {}: unknown field `gate`", line_of("[gateway]"))));
}

#[test]
fn reports_invalid_value_with_its_line() {
    for (from, to, expected) in [
        (
            "\"America/Chicago\"",
            "\"Chicago\"",
            "cannot use time zone: use a name like America/Chicago",
        ),
        ("\"Sun 15:00\"", "\"Sunday 15:00\"", "not a time of the week"),
        ("\"Fri 16:00\"", "\"Fri 25:00\"", "not a time of the week"),
        ("\"TRADER\"", "\"A sender longer than allowed\"", "cannot use SenderID: it must"),
        ("\"TRADER\"", "\"1234567890123456789\"", "cannot use SenderID: it must be 1 to 18"),
        ("\"TRADER\"", "\"ABCD\"\nebs = true", "cannot use SenderID: it must be 3"),
        ("\"US,IL\"", "\"US,ILL\"", "cannot use Location: it must be 1 to 5"),
        ("# version = 9", "version = 4", "`version` must be 5 to 9"),
        ("# key_expires = 2027-03-01", "key_expires = 2027-03-01T00:00:00Z", "must be a date"),
        ("# key_expires = 2027-03-01", "key_expires = 2027-02-30", ""),
        ("192.0.2.10:9000", "192.0.2.10", "not a valid address: use an IPv4"),
        ("192.0.2.12:9000", "localhost:9000", "not a valid address: use an IPv4"),
    ] {
        let error = error(from, to);
        assert!(error.starts_with(&format!("line {}: ", line_of(from))), "{error}");
        assert!(error.contains(expected), "{error}");
    }
    let error = error("session = \"ABC\"", "session = \"AB\"");
    assert_eq!(error, "[logon]: Session must be 3 characters of printable ASCII");
}

#[test]
fn secret_comes_from_a_file_or_a_variable() {
    let (from, line) = ("secret_file = \"secret.key\"", line_of("[logon]"));
    let either =
        format!("line {line}: give either `secret_file` or `secret_env` for the secret key");
    assert_eq!(error(from, ""), either);
    assert_eq!(error(from, &format!("{from}\nsecret_env = \"X\"")), either);
    let missing = error(from, "secret_env = \"HAIRPIN_NO_SUCH_VARIABLE\"");
    assert!(missing.ends_with("environment variable HAIRPIN_NO_SUCH_VARIABLE is not set"));
    let missing = error(from, "secret_file = \"missing.key\"");
    assert!(missing.contains("missing.key") && missing.contains("No such file"), "{missing}");
    let inline = error(from, &format!("secret_key = \"{KEY}\""));
    assert!(inline.contains("unknown field `secret_key`") && !inline.contains(KEY), "{inline}");
}

#[test]
fn debug_output_and_errors_hide_the_secret() {
    let folder = folder();
    let config = from_toml_in(sample(), folder.path()).unwrap();
    assert!(!format!("{config:?}").contains("AAECAw"));
    write_key(&folder, "not+base64url/at*all");
    let error = from_toml_in(sample(), folder.path()).unwrap_err();
    assert!(!format!("{error} {error:?}").contains("base64url/at"), "{error:?}");
}

#[test]
fn journal_is_created_once_and_then_opened() {
    let folder = folder();
    let text = sample().replace("segments = 16", "segments = 16\nsegment_bytes = 65536");
    let config = from_toml_in(&text, folder.path()).unwrap();
    let mut journal = config.open_journal(0).unwrap();
    journal.claim(9).unwrap().commit(9);
    journal.close().unwrap();
    let journal = config.open_journal(0).unwrap();
    assert_eq!(journal.records().count(), 1);
}

/// Returns the sample with two segments instead of its gateway.
fn segmented() -> String {
    let (_, rest) = sample().split_once("[logon]").unwrap();
    let segments = "[[segment]]\nid = 64\nprimary = [\"192.0.2.20:9000\"]\n\n\
                    [[segment]]\nid = 80\nprimary = [\"192.0.2.30:9000\"]\n\
                    backup = [\"192.0.2.31:9000\"]\nattempts = 7\ninterval_ms = 250\n\n";
    format!("{segments}[logon]{rest}")
}

#[test]
fn journal_in_memory_must_be_asked_for() {
    let head = sample().split_once("[journal]").unwrap().0.to_owned();
    let config = read(&format!("{head}[journal]\nin_memory = true\n")).unwrap();
    assert!(config.in_memory && config.journal.is_none());
    assert!(!read(&head).unwrap().in_memory);
    for table in ["[journal]\n", "[journal]\nfolder = \"a\"\nin_memory = true\n"] {
        let error = read(&format!("{head}{table}")).unwrap_err().to_string();
        assert!(error.ends_with("give either `folder` or `in_memory = true`"), "{error}");
    }
}

#[test]
fn segments_share_a_file_with_separate_hosts_and_journals() {
    let folder = folder();
    let configs = segments_in(&segmented(), folder.path()).unwrap();
    let [(64, first), (80, second)] = &configs[..] else { panic!("{configs:?}") };
    assert_eq!(first.session.gateway, "192.0.2.20:9000".parse().unwrap());
    assert_eq!((first.connector.backup.len(), first.connector.attempts), (0, None));
    assert_eq!(second.connector.backup, ["192.0.2.31:9000".parse().unwrap()]);
    let settings = (second.connector.attempts, second.connector.interval);
    assert_eq!(settings, (Some(7), Duration::from_millis(250)));
    for (id, config) in &configs {
        assert_eq!(&*config.session.logon.session, "ABC");
        let journal = config.journal.as_ref().unwrap();
        assert_eq!(journal.folder, folder.path().join("journal").join(id.to_string()));
    }
    fs::write(folder.path().join("order.toml"), segmented()).unwrap();
    assert_eq!(Config::read_segments(folder.path().join("order.toml")).unwrap().len(), 2);
}

#[test]
fn segment_journals_create_their_parent_folder() {
    let folder = folder();
    let small = segmented().replace("segments = 16", "segments = 16\nsegment_bytes = 65536");
    let configs = segments_in(&small, folder.path()).unwrap();
    let open: Vec<_> = configs.iter().map(|(_, config)| config.open_journal(0).unwrap()).collect();
    assert_eq!(open.len(), 2);
    assert!(folder.path().join("journal/80/0000000001.segment").exists());
}

#[test]
fn reports_segment_errors_with_their_line() {
    let folder = folder();
    let error = |text: &str| segments_in(text, folder.path()).unwrap_err().to_string();
    let twice = segmented().replace("id = 80", "id = 64");
    assert_eq!(error(&twice), "line 6: duplicate market segment 64");
    let empty = segmented().replace("[\"192.0.2.30:9000\"]", "[]");
    assert_eq!(error(&empty), "line 7: `primary` needs an address");
    let unknown = segmented().replace("id = 64", "id = 64\nname = 1");
    assert!(error(&unknown).starts_with("line 3: unknown field `name`"));
    let neither = "give a `[[segment]]` for each market segment, and no `[gateway]`";
    assert_eq!(error(sample()), format!("line {}: {neither}", line_of("[gateway]")));
    let single = read(&segmented()).unwrap_err().to_string();
    let expected = "file with `[[segment]]` has several sessions: choose one";
    assert_eq!(single, format!("line 1: {expected}"));
    let (_, rest) = sample().split_once("[logon]").unwrap();
    let missing = read(&format!("[logon]{rest}")).unwrap_err().to_string();
    assert_eq!(missing, "line 1: missing `[gateway]`");
}

/// CME's file with segment 64, which accepts versions 5 and 8.
const MSGW_CONFIG: &str = "<configuration><marketsegment id='64'>\
    <ToCMESchemaVersion>5,8</ToCMESchemaVersion></marketsegment></configuration>";

/// Reads the sample with `lines` added to `[conduct]`, beside CME's file.
fn with_msgw_config(lines: &str) -> Result<Config, ConfigError> {
    let folder = folder();
    fs::write(folder.path().join("MSGW_Config.xml"), MSGW_CONFIG).unwrap();
    let text = sample().replacen("[conduct]", &format!("[conduct]\n{lines}"), 1);
    from_toml_in(&text, folder.path())
}

#[test]
fn schema_version_comes_from_msgw_config() {
    let file = "msgw_config = \"MSGW_Config.xml\"";
    let config = with_msgw_config(&format!("{file}\nmarket_segment = 64")).unwrap();
    assert_eq!(config.session.conduct.version, Version::new(8).unwrap());
    let error = |lines: &str| with_msgw_config(lines).unwrap_err().to_string();
    let missing = error(&format!("{file}\nmarket_segment = 65"));
    assert!(missing.starts_with("cannot use "), "{missing}");
    assert!(missing.ends_with("MSGW_Config.xml: no market segment 65"), "{missing}");
    assert!(error(file).contains("`msgw_config` needs `market_segment`"));
    let both = format!("{file}\nmarket_segment = 64\nversion = 8");
    assert!(error(&both).contains("give either `version` or `msgw_config`"));
    assert!(error("msgw_config = \"other.xml\"\nmarket_segment = 64").contains("cannot read"));
}

#[test]
fn gateway_kind_is_msgw_unless_set() {
    let kind = |lines| with_msgw_config(lines).unwrap().session.conduct.gateway_kind;
    assert_eq!(kind(""), GatewayKind::MarketSegment);
    assert_eq!(kind("gateway_kind = \"cgw\""), GatewayKind::Convenience);
}

/// A key of the length of CME's.
const LONG_KEY: &str = "c2VjcmV0-canary_Zm9yIHRlc3RzIG9mIGhhaXJwaW4";

#[test]
fn key_in_the_wrong_field_is_refused_and_not_printed() {
    let folder = folder();
    for (place, line) in sample().lines().enumerate() {
        let Some((name, value)) = line.split_once('=') else { continue };
        let quoted = value.split_once('"').map_or(value.trim(), |_| value.trim());
        let wrong = [
            format!("{name}= \"{LONG_KEY}\""),
            format!("{name}= {LONG_KEY}"),
            format!("{name}= \"{LONG_KEY}"),
            format!("{name}= [\"{LONG_KEY}\"]"),
            format!("{LONG_KEY} = {quoted}"),
            format!("\"{LONG_KEY}=\" = {quoted}"),
            format!("[{LONG_KEY}]\n{line}"),
            format!("{line}\n{LONG_KEY}"),
            format!("{line} # {LONG_KEY}"),
        ];
        for wrong in wrong {
            let lines = sample().lines().enumerate();
            let text: Vec<_> =
                lines.map(|(at, it)| if at == place { &wrong } else { it }).collect();
            let error = from_toml_in(&text.join("\n"), folder.path()).unwrap_err();
            let printed = format!("{error} {error:?}");
            assert!(!printed.contains("canary"), "{wrong}: {printed}");
            assert!(error.to_string().starts_with("line "), "{wrong}: {error}");
        }
    }
}

#[test]
fn no_value_of_the_file_is_printed() {
    // As long as the shortest key, and not recognized as one: each value reaches its parser.
    const CANARY: &str = "Canary0key1Canary2key3";
    let folder = folder();
    for (place, line) in sample().lines().enumerate() {
        let Some((name, _)) = line.split_once('=') else { continue };
        let name = name.trim_start_matches("# ");
        for wrong in [
            format!("{name}= \"{CANARY}\""),
            format!("{name}= {CANARY}"),
            format!("{name}= \"{CANARY}"),
            format!("{name}= [\"{CANARY}\"]"),
            format!("{name}= {{ {CANARY} = 1 }}"),
            format!("{CANARY} = 1\n{CANARY} = 2\n{line}"),
            format!("{CANARY}.{CANARY} = 1\n{CANARY} = 2\n{line}"),
            format!("[{CANARY}]\n{line}"),
            format!("{line}\n{CANARY}"),
            format!("{line}\n{CANARY}, expected {CANARY} = 1"),
            format!("{line}\n\"{CANARY}`, expected `{CANARY}\" = 1"),
            format!("{name}= \"{CANARY}, expected {CANARY}\""),
        ] {
            let lines = sample().lines().enumerate();
            let text: Vec<_> =
                lines.map(|(at, it)| if at == place { &wrong } else { it }).collect();
            let text = text.join("\n");
            for outcome in [
                from_toml_in(&text, folder.path()).map(drop),
                segments_in(&text, folder.path()).map(drop),
            ] {
                let Err(error) = outcome else { continue };
                let printed = format!("{error} {error:?}");
                assert!(!printed.contains(CANARY), "{wrong}: {printed}");
            }
        }
    }
}

#[test]
fn key_file_of_other_users_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    let path = folder.path().join("secret.key");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let error = from_toml_in(sample(), folder.path()).unwrap_err().to_string();
    let expected = "its mode 0640 gives other users access: run chmod 600";
    assert!(error.contains("secret.key") && error.ends_with(expected), "{error}");
    let allowed = sample().replace("[logon]", "[logon]\ninsecure_key_file = true");
    assert!(from_toml_in(&allowed, folder.path()).is_ok());
    let file = folder.path().join("order.toml");
    fs::write(&file, sample()).unwrap();
    assert!(matches!(Config::read(&file), Err(ConfigError::KeyFile { .. })));
    let options = ReadOptions { insecure_key_file: true };
    assert!(Config::read_with(&file, options).is_ok());
}
