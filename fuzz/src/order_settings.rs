//! `order.toml`: the settings of an order entry session.
//!
//! Checks:
//!
//! - No text makes the reader panic, for one session or for several market segments.
//! - An error is one line, and does not contain the key.
//! - Settings that were read have an address, and do not print the key.
//!
//! Input: the text. `secret_env = "K"` stands for a file with a key. Texts that may name other
//! files are skipped.

use std::fs;
use std::path::Path;

use hairpin_order_entry::{Config, ConfigError};

use crate::Seed;
use crate::scratch;

const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";

/// Writes a file that only its owner can read.
fn write_private(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    fs::write(path, text).expect("the folder is ours");
    let mode = fs::Permissions::from_mode(0o600);
    fs::set_permissions(path, mode).expect("the file is ours");
}

/// Runs one input.
pub fn run(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    // A key may be written with escapes.
    if text.contains("secret_file") || text.contains("msgw_config") || text.contains('\\') {
        return;
    }
    let folder = scratch::folder();
    let [key, settings] = ["key", "order.toml"].map(|name| folder.path().join(name));
    write_private(&key, KEY);
    let key = format!("secret_file = \"{}\"", key.display());
    let text = text.replace("secret_env = \"K\"", &key);
    check(Config::from_toml(&text).map(|config| vec![config]));
    if text.contains("[[segment]]") {
        write_private(&settings, &text);
        let segments = Config::read_segments(&settings);
        check(segments.map(|segments| segments.into_iter().map(|(_, config)| config).collect()));
    }
}

fn check(outcome: Result<Vec<Config>, ConfigError>) {
    match outcome {
        Ok(configs) => {
            assert!(configs.iter().all(|config| !config.connector.primary.is_empty()));
            assert!(!format!("{configs:?}").contains(KEY), "the key is printed");
        }
        Err(error) => {
            let error = error.to_string();
            assert!(!error.contains(['\n', '\r']), "{error}");
            assert!(!error.contains(KEY), "{error}");
        }
    }
}

/// Returns settings with every table, with segments, and with an unknown key.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    let logon = "[logon]\naccess_key_id = \"HAIRPIN-TRADER-00001\"\nsecret_env = \"K\"\n\
                 session = \"ABC\"\nfirm = \"DEFGH\"\nsystem_name = \"S\"\nsystem_version = \"1\"\n\
                 system_vendor = \"V\"\nkeep_alive_ms = 10000\nkey_expires = 2027-03-01\n\
                 [operator]\nsender_id = \"TRADER\"\nlocation = \"US,IL\"\nmanual = true\n";
    let rest = "[conduct]\ngateway_kind = \"cgw\"\nnot_applied = \"replay\"\n[sending]\n\
                waiting_max = 64\n[journal]\nfolder = \"journal\"\nsync = \"interval\"\n\
                sync_interval_ms = 100\n[throttle]\nbeyond = \"queue\"\ncancels = 2700\n\
                [schedule]\nzone = \"America/Chicago\"\nweek_start = \"Sun 15:00\"\n\
                open = [[\"Sun 15:00\", \"Fri 16:00\"]]\n\
                [instruments]\nESZ6 = 12345\n\"ES Z6\" = 7\n";
    let whole = format!("[gateway]\nprimary = [\"127.0.0.1:9100\"]\n{logon}{rest}");
    let segments = format!(
        "[[segment]]\nid = 64\nprimary = [\"127.0.0.1:9100\"]\n[[segment]]\nid = 80\n\
         primary = [\"127.0.0.1:9101\"]\nbackup = [\"127.0.0.1:9102\"]\n{logon}"
    );
    let unknown = format!("[gateway]\nprimary = [\"x\"]\n{logon}[other]\nkey = 1\n");
    let seed = |name: &str, text: String| (name.to_owned(), text.into_bytes());
    vec![seed("whole", whole), seed("segments", segments), seed("unknown", unknown)]
}
