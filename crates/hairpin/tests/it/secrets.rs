//! Secret keys: never printed, never in files, never in memory that is dumped; and the permissions
//! of files with secrets.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use hairpin_testbed::LoopDisk;

use crate::support::{Process, assert_done, assert_status, hairpin};
use crate::traded_session::{ACCESS_KEY_ID, KEY, Venue, traded};

/// A key that no gateway accepts, with the length of CME's.
const CANARY: &str = "c2VjcmV0-canary_Zm9yIHRlc3RzIG9mIGhhaXJwaW4";
const VARIABLE: &str = "HAIRPIN_SECRET_KEY";

/// Returns settings for a gateway that does not exist.
fn settings(secret: &str) -> String {
    format!(
        "[gateway]\nprimary = [\"127.0.0.1:9\"]\nattempts = 1000\ninterval_ms = 100\n\
         [logon]\naccess_key_id = \"{ACCESS_KEY_ID}\"\n{secret}\n\
         session = \"ABC\"\nfirm = \"DEFGH\"\nsystem_name = \"Test\"\n\
         system_version = \"1\"\nsystem_vendor = \"Test\"\n\
         [operator]\nsender_id = \"TRADER\"\nlocation = \"US,IL\"\n\
         [journal]\nfolder = \"journal\"\n[instruments]\nHP001 = 1001\n"
    )
}

fn printed(output: &Output) -> String {
    let both = [output.stdout.clone(), output.stderr.clone()].concat();
    String::from_utf8(both).unwrap()
}

/// Returns the contents of all files below a folder, with their names.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        match path.is_dir() {
            true => all.extend(contents(&path)),
            false => all.push((path.clone(), fs::read(&path).unwrap())),
        }
    }
    all
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[test]
fn key_in_any_field_is_refused_and_never_printed_or_stored() {
    let folder = tempfile::tempdir().unwrap();
    let good = settings(&format!("secret_env = \"{VARIABLE}\""));
    for (place, line) in good.lines().enumerate() {
        let Some((name, _)) = line.split_once(" = ") else { continue };
        for wrong in [
            format!("{name} = \"{CANARY}\""),
            format!("{CANARY} = 1"),
            format!("{name} = \"{CANARY}"),
        ] {
            let text: Vec<_> = good.lines().enumerate().collect();
            let text =
                text.into_iter().map(|(at, it)| if at == place { wrong.as_str() } else { it });
            let file = folder.path().join("order.toml");
            fs::write(&file, text.collect::<Vec<_>>().join("\n")).unwrap();
            let output = hairpin().arg("order").arg(&file).env(VARIABLE, KEY).output().unwrap();
            assert_status(&output, 1);
            let printed = printed(&output);
            assert!(printed.contains("order.toml: line "), "{wrong}: {printed}");
            assert!(printed.lines().count() == 1 && !printed.contains("canary"), "{printed}");
            let names =
                fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
            assert_eq!(names.collect::<Vec<_>>(), ["order.toml"], "{wrong}: nothing is created");
        }
    }
}

#[test]
fn key_among_the_arguments_is_not_printed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("order.toml");
    fs::write(&file, settings(&format!("secret_env = \"{VARIABLE}\""))).unwrap();
    let script = folder.path().join("script");
    fs::write(&script, format!("{CANARY}\n")).unwrap();
    let (file, script) = (file.to_str().unwrap(), script.to_str().unwrap());
    for arguments in [
        &["order", CANARY][..],
        &["order", file, CANARY],
        &["order", file, "--script", CANARY],
        &["order", file, "--script", script],
        &["order", file, "--display-prices", CANARY],
        &["order", "--show", "--journal", CANARY],
        &["t2t", "--quick", "--secret-key-file", CANARY],
        &["exchange", "--gateway", CANARY],
        &["trader", CANARY],
        &[CANARY],
    ] {
        let output = hairpin().args(arguments).env(VARIABLE, KEY).output().unwrap();
        assert!(!output.status.success());
        let printed = printed(&output);
        assert!(printed.contains("hairpin: ") && !printed.contains("canary"), "{printed}");
    }
}

#[test]
fn key_file_of_other_users_is_refused_unless_allowed() {
    let (folder, venue) = (tempfile::tempdir().unwrap(), Venue::open());
    let key = folder.path().join("order.key");
    fs::write(&key, KEY).unwrap();
    let file = folder.path().join("order.toml");
    let text = settings("secret_file = \"order.key\"").replace("attempts = 1000\n", "");
    let text = text.replace("interval_ms = 100\n", "");
    fs::write(&file, text.replace("127.0.0.1:9", &venue.gateway.to_string())).unwrap();
    fs::set_permissions(&key, Permissions::from_mode(0o644)).unwrap();
    let order = || {
        let mut command = hairpin();
        command.arg("order").arg(&file);
        command
    };
    let refused = order().output().unwrap();
    assert_status(&refused, 1);
    let text = printed(&refused);
    let expected = "order.key: its mode 0644 gives other users access: run chmod 600";
    assert!(text.lines().count() == 1 && text.contains(expected), "{text}");
    assert_done(&order().arg("--insecure-key-file").output().unwrap());
    fs::set_permissions(&key, Permissions::from_mode(0o600)).unwrap();
    assert_done(&order().output().unwrap());
    fs::set_permissions(&key, Permissions::from_mode(0o640)).unwrap();
    let mut exchange = hairpin();
    exchange.args(["t2t", "--quick", "--secret-key-file"]).arg(&key);
    let refused = exchange.output().unwrap();
    assert_status(&refused, 1);
    assert!(printed(&refused).contains("run chmod 600 "), "{}", printed(&refused));
}

/// Returns the memory of a process that a core dump would contain.
fn dumped_memory(process: u32) -> Vec<u8> {
    let maps = fs::read_to_string(format!("/proc/{process}/smaps")).unwrap();
    let memory = File::open(format!("/proc/{process}/mem")).unwrap();
    let mut range = None;
    let mut dumped = Vec::new();
    for line in maps.lines() {
        let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
        let bounds = first
            .split_once('-')
            .map(|(start, end)| (u64::from_str_radix(start, 16), u64::from_str_radix(end, 16)));
        if let Some((Ok(start), Ok(end))) = bounds {
            range = rest.starts_with('r').then_some((start, end));
        }
        let Some(flags) = line.strip_prefix("VmFlags:") else { continue };
        if let (Some((start, end)), false) = (range, flags.contains(" dd")) {
            let mut bytes = vec![0; (end - start) as usize];
            // The kernel's own pages cannot be read.
            if memory.read_exact_at(&mut bytes, start).is_ok() {
                dumped.extend(bytes);
            }
        }
    }
    dumped
}

#[test]
#[ignore = "needs root"]
fn running_session_has_its_key_in_one_protected_page() {
    use base64::Engine;
    let decoded = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(CANARY).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("order.key");
    fs::write(&key, CANARY).unwrap();
    fs::set_permissions(&key, Permissions::from_mode(0o600)).unwrap();
    for secret in [format!("secret_env = \"{VARIABLE}\""), "secret_file = \"order.key\"".to_owned()]
    {
        let file = folder.path().join("order.toml");
        fs::write(&file, settings(&secret)).unwrap();
        let mut command = hairpin();
        command.arg("order").arg(&file).stdin(Stdio::piped()).stdout(Stdio::piped());
        if secret.contains(VARIABLE) {
            command.env(VARIABLE, CANARY);
        }
        let mut child = command.spawn().unwrap();
        let (input, id) = (child.stdin.take(), child.id());
        let out = child.stdout.take().unwrap();
        let _process = Process::of(child);
        let mut lines = std::io::BufRead::lines(std::io::BufReader::new(out));
        assert!(lines.any(|line| line.unwrap().contains("connecting")));
        let environment = fs::read(format!("/proc/{id}/environ")).unwrap();
        assert!(!contains(&environment, b"canary"), "{secret}");
        let memory = dumped_memory(id);
        assert!(memory.len() > 1 << 20);
        for part in [CANARY.as_bytes(), &decoded] {
            assert!(!contains(&memory, part), "{secret}: the key is in dumped memory");
        }
        drop(input);
    }
    for (path, bytes) in contents(folder.path()) {
        let is_key = path == key;
        assert!(is_key || !contains(&bytes, CANARY.as_bytes()), "{}", path.display());
        assert!(!contains(&bytes, &decoded), "{}", path.display());
    }
}

#[test]
fn audit_trail_is_readable_by_its_owner_only_and_follows_no_link() {
    let folder = tempfile::tempdir().unwrap();
    let [journal, trail] = ["journal", "trail"].map(|name| folder.path().join(name));
    drop(traded(&journal));
    let write = || {
        let mut command = hairpin();
        command.args(["order", "--audit-trail", "--journal"]).arg(&journal);
        command.arg("--output").arg(&trail).output().unwrap()
    };
    let written = write();
    let paths = String::from_utf8(written.stdout).unwrap();
    let path = Path::new(paths.lines().next().unwrap());
    assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(&trail).unwrap().permissions().mode() & 0o777, 0o700);
    fs::remove_file(path).unwrap();
    let other = folder.path().join("other");
    std::os::unix::fs::symlink(&other, path).unwrap();
    assert_status(&write(), 1);
    assert!(!other.exists(), "the link is not followed");
}

#[test]
#[ignore = "needs root"]
fn failed_disk_ends_an_order_run_with_status_1() {
    let folder = tempfile::tempdir().unwrap();
    let venue = Venue::open();
    let gateway = venue.gateway.to_string();
    for sync in ["sync = \"none\"", "sync = \"interval\"\nsync_interval_ms = 10", "sync = \"each\""]
    {
        let folder = tempfile::tempdir_in(folder.path()).unwrap();
        LoopDisk::run(folder.path(), 160 << 20, |disk| {
            let file = folder.path().join("order.toml");
            let text = settings(&format!("secret_env = \"{VARIABLE}\""));
            let text = text.replace("attempts = 1000\ninterval_ms = 100\n", "");
            let text = text.replace("127.0.0.1:9", &gateway);
            let journal = disk.folder().join("journal");
            let journal_table =
                format!("folder = \"{}\"\nsegment_bytes = 65536\n{sync}", journal.display());
            fs::write(&file, text.replace("folder = \"journal\"", &journal_table)).unwrap();
            let script = folder.path().join("script");
            let orders = "buy 1 @ 1 HP001\nexpect new\nsleep 20ms\n".repeat(500);
            fs::write(&script, format!("{orders}sleep 1m\n")).unwrap();
            let mut command = hairpin();
            command.arg("order").arg(&file).arg("--script").arg(&script).env(VARIABLE, KEY);
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut child = command.spawn().unwrap();
            let out = std::io::BufReader::new(child.stdout.take().unwrap());
            let mut lines = std::io::BufRead::lines(out).map(Result::unwrap);
            assert!(lines.any(|line| line.contains("NewOrderSingle514")), "{sync}");
            disk.fail().unwrap();
            let rest: Vec<String> = lines.collect();
            let output = child.wait_with_output().unwrap();
            let error = String::from_utf8(output.stderr.clone()).unwrap();
            assert_eq!(output.status.code(), Some(1), "{sync}: {error}");
            // The orders that were sent before stay at the exchange.
            let lines: Vec<&str> = error.lines().collect();
            assert!(lines.len() == 2 && lines[0].contains(" at the exchange: "), "{error}");
            let cause = lines[1];
            assert!(cause.contains("cannot write the journal in "), "{sync}: {error}");
            assert!(cause.ends_with("(os error 5)"), "{sync}: {error}");
            let has_event = |line: &String| line.contains("cannot write the journal to disk");
            assert!(rest.iter().any(has_event), "{sync}: {rest:?}");
        });
    }
}
