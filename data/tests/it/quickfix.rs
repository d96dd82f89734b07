//! A client of QuickFIX/J, in a process of its own.
//!
//! The folder `HAIRPIN_QUICKFIX` has its libraries; `cargo xtask data` fetches them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;

use tempfile::TempDir;

/// The client's classes, and where Java finds all.
static CLASSES: LazyLock<Option<(TempDir, String)>> = LazyLock::new(|| {
    let Some(libraries) = std::env::var_os("HAIRPIN_QUICKFIX").map(PathBuf::from) else {
        println!("skipped: HAIRPIN_QUICKFIX is not set: cargo xtask data sets it");
        return None;
    };
    let folder = tempfile::tempdir().unwrap();
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/quickfix/DropCopyClient.java");
    let libraries = libraries.join("*").display().to_string();
    let mut javac = Command::new("javac");
    javac.args(["-cp", &libraries, source, "-d"]).arg(folder.path());
    assert!(javac.status().unwrap().success());
    let path = format!("{}:{libraries}", folder.path().display());
    Some((folder, path))
});

/// Returns `false` if QuickFIX/J is not available, with a line that the test is skipped.
pub(crate) fn is_available() -> bool {
    CLASSES.is_some()
}

/// A client, which is killed at its end.
pub(crate) struct Client(Child);

impl Client {
    /// Starts a client with its files in a folder.
    pub(crate) fn start(folder: &Path, port: u16, name: &str, resets: bool) -> Self {
        let (_, classes) = CLASSES.as_ref().unwrap();
        let mut java = Command::new("java");
        java.args(["-XX:TieredStopAtLevel=1", "-Xshare:auto", "-XX:+UseSerialGC", "-Xmx128m"]);
        java.args(["-cp", classes, "DropCopyClient", &port.to_string()]);
        java.arg(folder.join("store")).arg(folder.join("messages"));
        java.args([name, "5", if resets { "Y" } else { "N" }]);
        java.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Self(java.spawn().unwrap())
    }

    pub(crate) fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A message that the client has logged.
#[derive(Debug, Clone)]
pub(crate) struct Logged {
    /// report, in or out.
    pub(crate) kind: String,
    pub(crate) text: String,
    pub(crate) fields: BTreeMap<u32, String>,
}

impl Logged {
    pub(crate) fn new(line: &str) -> Self {
        let (kind, text) = line.split_once(' ').unwrap();
        let pair = |field: &str| {
            let (tag, value) = field.split_once('=')?;
            Some((tag.parse().ok()?, value.to_owned()))
        };
        let fields = text.split('|').filter_map(pair).collect();
        Self { kind: kind.to_owned(), text: text.to_owned(), fields }
    }

    pub(crate) fn field(&self, tag: u32) -> &str {
        self.fields.get(&tag).map_or("", String::as_str)
    }
}

/// Returns the messages that a client has logged in complete lines.
pub(crate) fn messages(folder: &Path) -> Vec<Logged> {
    let text = fs::read_to_string(folder.join("messages")).unwrap_or_default();
    let complete = text.rfind('\n').map_or("", |end| &text[..end]);
    complete.lines().map(Logged::new).collect()
}
