//! `cargo xtask reference`: writes `docs/reference/counters.md` from the counters' doc comments.

use std::fs;

use anyhow::{Context, Result};

use crate::tidy::counters_page;
use crate::workspace::Workspace;

/// The page that the command writes.
pub(crate) const COUNTERS: &str = "docs/reference/counters.md";

/// Writes the page. `cargo xtask tidy` fails if it is out of date.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let page = counters_page(&workspace.root)?;
    fs::write(workspace.root.join(COUNTERS), page).context(COUNTERS)
}
