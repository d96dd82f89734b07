//! Where commands come from: a script that was read before, or standard input as it comes.

use std::collections::VecDeque;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::thread;

use anyhow::{Context, Result};

use super::script::{Command, parse};
use super::settings::OrderSettings;

/// Lines of standard input read ahead.
const AHEAD: usize = 16;

/// Commands, with the numbers of their lines.
pub(super) enum Input {
    /// All of them are known and right.
    Script(VecDeque<(usize, Command)>),
    /// They come line by line.
    Lines {
        lines: Receiver<io::Result<String>>,
        /// The number of the last line.
        number: usize,
        /// Whoever types them is asked for each, and may be wrong.
        is_typed: bool,
        /// The next one was asked for.
        asked: bool,
    },
}

/// What comes next.
pub(super) enum Next {
    Command(usize, Command),
    /// A line that cannot be understood, and why.
    Wrong(String),
    /// Nothing yet.
    Later,
    /// Nothing any more.
    End,
}

impl Input {
    /// Reads a script to its end.
    ///
    /// # Errors
    /// The first line that is wrong, with the file's name; a file that cannot be read.
    pub(super) fn script(path: &Path, settings: &OrderSettings) -> Result<Self> {
        let named = || format!("{} cannot be read", path.display());
        let text = std::fs::read_to_string(path).with_context(named)?;
        let symbol = |symbol: &str| settings.instrument(symbol);
        let mut commands = VecDeque::new();
        for (number, line) in (1..).zip(text.lines()) {
            let command = parse(line, number, &symbol);
            let command = command.with_context(|| path.display().to_string())?;
            commands.extend(command.map(|command| (number, command)));
        }
        Ok(Self::Script(commands))
    }

    /// Standard input. A thread reads it, which ends with it or with the process.
    ///
    /// # Errors
    /// If there can be no such thread.
    pub(super) fn standard() -> Result<Self> {
        let (sender, lines) = sync_channel(AHEAD);
        let read = move || {
            for line in io::stdin().lock().lines() {
                if sender.send(line).is_err() {
                    return;
                }
            }
        };
        let thread = thread::Builder::new().name("hairpin-input".to_owned());
        thread.spawn(read).context("standard input cannot be read")?;
        let is_typed = io::stdin().is_terminal();
        Ok(Self::Lines { lines, number: 0, is_typed, asked: false })
    }

    /// Whether whoever types may go on after an error.
    pub(super) fn is_typed(&self) -> bool {
        matches!(self, Self::Lines { is_typed: true, .. })
    }

    /// The next command. Does not wait.
    pub(super) fn next(&mut self, settings: &OrderSettings) -> Next {
        let (lines, number, asked, is_typed) = match self {
            Self::Script(commands) => {
                let next = commands.pop_front();
                return next.map_or(Next::End, |(line, command)| Next::Command(line, command));
            }
            Self::Lines { lines, number, asked, is_typed } => (lines, number, asked, *is_typed),
        };
        loop {
            let line = match lines.try_recv() {
                Ok(Ok(line)) => line,
                Ok(Err(error)) => return Next::Wrong(format!("standard input: {error}")),
                Err(TryRecvError::Disconnected) => return Next::End,
                Err(TryRecvError::Empty) => {
                    if is_typed && !std::mem::replace(asked, true) {
                        prompt();
                    }
                    return Next::Later;
                }
            };
            (*number, *asked) = (*number + 1, false);
            match parse(&line, *number, &|symbol| settings.instrument(symbol)) {
                Ok(Some(command)) => return Next::Command(*number, command),
                Ok(None) => {}
                Err(error) => return Next::Wrong(error.to_string()),
            }
        }
    }
}

/// Asks whoever types for a line.
fn prompt() {
    let mut err = io::stderr().lock();
    let _ = write!(err, "> ").and_then(|()| err.flush());
}
