//! Values that a shell completes, each with a description: the interfaces and the processes of this
//! host.

use std::fs;

use hairpin_mapped::CounterPages;

/// Returns the network interfaces of this namespace, with their states.
#[must_use]
pub fn interfaces() -> Vec<(String, String)> {
    let Ok(folder) = fs::read_dir("/sys/class/net") else { return Vec::new() };
    let named = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        let state = fs::read_to_string(entry.path().join("operstate")).unwrap_or_default();
        // Other files of the folder are no interfaces.
        entry.path().is_dir().then(|| (name, state.trim().to_owned()))
    };
    let mut all: Vec<_> = folder.filter_map(|entry| named(entry.ok()?)).collect();
    all.sort();
    all
}

/// Returns the processes with live counters, with their commands.
#[must_use]
pub fn processes() -> Vec<(String, String)> {
    let pages = CounterPages::find().unwrap_or_default().found;
    let title = |page: Option<&str>| page.unwrap_or_default().to_owned();
    let all = pages.iter().map(|found| {
        let page = found.page.as_ref().ok();
        (found.process.to_string(), title(page.map(|page| page.title())))
    });
    let mut all: Vec<_> = all.collect();
    all.dedup_by(|a, b| a.0 == b.0);
    all
}
