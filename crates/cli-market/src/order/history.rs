//! Commands of earlier runs, for the line editor.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The most commands kept.
pub(super) const COMMANDS_MAX: usize = 1_000;

/// The file of valid commands, oldest first, which only its owner can read.
///
/// A line that is not a command is never stored: it may have been pasted by mistake, and be a key
/// for instance.
#[derive(Debug, Default)]
pub(super) struct CommandHistory {
    /// `None` if there is no place for it.
    path: Option<PathBuf>,
    file: Option<File>,
}

impl CommandHistory {
    /// Returns the history of this user: `hairpin/order_history` in the state folder of the XDG
    /// base directories, `$XDG_STATE_HOME` or else `$HOME/.local/state`.
    pub(super) fn of_user() -> Self {
        let folder = |name: &str| std::env::var_os(name).map(PathBuf::from);
        Self::below(folder("XDG_STATE_HOME"), folder("HOME"))
    }

    /// Returns the history of a user with these two folders.
    fn below(state: Option<PathBuf>, home: Option<PathBuf>) -> Self {
        // A path there that is not absolute must be ignored.
        let state = state.filter(|path| path.is_absolute());
        let state = state.or_else(|| Some(home?.join(".local/state")));
        let path = state.map(|state| state.join("hairpin").join("order_history"));
        Self { path, file: None }
    }

    /// Returns the commands, oldest first; none if the file cannot be read.
    pub(super) fn commands(&self) -> Vec<String> {
        let text = self.path.as_ref().and_then(|path| fs::read_to_string(path).ok());
        let text = text.unwrap_or_default();
        let surplus = text.lines().count().saturating_sub(COMMANDS_MAX);
        text.lines().skip(surplus).map(str::to_owned).collect()
    }

    /// Stores a command. If that fails, it is lost at the end of the run: no reason to disturb a
    /// session.
    pub(super) fn keep(&mut self, command: &str) {
        let command = command.trim();
        if command.is_empty() || self.open().is_err() {
            return;
        }
        if let Some(file) = &mut self.file {
            let _ = file.write_all(format!("{command}\n").as_bytes());
        }
    }

    /// Opens the file for the first command; a file that has grown long is replaced by one of its
    /// last lines.
    fn open(&mut self) -> io::Result<()> {
        let (Some(path), None) = (&self.path, &self.file) else { return Ok(()) };
        if let Some(folder) = path.parent() {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let length = fs::read_to_string(path).map_or(0, |text| text.lines().count());
        if length > 2 * COMMANDS_MAX {
            shorten(path, &self.commands())?;
        }
        self.file = Some(OpenOptions::new().append(true).create(true).mode(0o600).open(path)?);
        Ok(())
    }
}

/// Replaces a file by one with these lines.
fn shorten(path: &Path, lines: &[String]) -> io::Result<()> {
    let new = path.with_extension(format!("{}.tmp", std::process::id()));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
    file.write_all((lines.join("\n") + "\n").as_bytes())?;
    fs::rename(new, path)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn history(folder: &tempfile::TempDir) -> CommandHistory {
        CommandHistory { path: Some(folder.path().join("state/hairpin/order_history")), file: None }
    }

    #[track_caller]
    fn assert_owners_alone(path: &Path, expected: u32) {
        let mode = fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, expected, "{}", path.display());
    }

    #[test]
    fn uses_state_folder_or_home() {
        let path = |state: Option<&str>, home: Option<&str>| {
            CommandHistory::below(state.map(PathBuf::from), home.map(PathBuf::from)).path
        };
        let state = Some(PathBuf::from("/state/hairpin/order_history"));
        assert_eq!(path(Some("/state"), Some("/me")), state);
        assert_eq!(path(Some("/state"), None), state);
        let home = Some(PathBuf::from("/me/.local/state/hairpin/order_history"));
        for none in [None, Some(""), Some("state")] {
            assert_eq!(path(none, Some("/me")), home);
            assert_eq!(path(none, None), None);
        }
    }

    #[test]
    fn keeps_history_for_owner_only() {
        let folder = tempfile::tempdir().unwrap();
        let mut first = history(&folder);
        assert!(first.commands().is_empty());
        for command in ["buy 1 @ 1 ESZ6", "  ", " status "] {
            first.keep(command);
        }
        let mut second = history(&folder);
        second.keep("quit");
        assert_eq!(history(&folder).commands(), ["buy 1 @ 1 ESZ6", "status", "quit"]);
        let path = second.path.unwrap();
        assert_owners_alone(&path, 0o600);
        assert_owners_alone(path.parent().unwrap(), 0o700);
    }

    #[test]
    fn shortens_long_file_to_last_commands() {
        let folder = tempfile::tempdir().unwrap();
        let mut first = history(&folder);
        (0..=2 * COMMANDS_MAX).for_each(|number| first.keep(&format!("cancel {number}")));
        history(&folder).keep("quit");
        let path = first.path.unwrap();
        assert_owners_alone(&path, 0o600);
        let text = fs::read_to_string(path).unwrap();
        assert_eq!(text.lines().count(), COMMANDS_MAX + 1);
        let commands = history(&folder).commands();
        assert_eq!(commands.len(), COMMANDS_MAX);
        assert_eq!(commands.last().unwrap(), "quit");
        assert_eq!(commands[0], format!("cancel {}", COMMANDS_MAX + 2));
    }

    #[test]
    fn without_a_place_nothing_is_kept() {
        let mut nowhere = CommandHistory::default();
        nowhere.keep("status");
        assert!(nowhere.commands().is_empty());
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("state"), "a file").unwrap();
        let mut barred = history(&folder);
        barred.keep("status");
        assert!(barred.commands().is_empty());
    }
}
