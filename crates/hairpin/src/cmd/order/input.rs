//! Where commands come from: a script that was read before, or standard input as it comes.

use std::collections::VecDeque;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::thread;

use anyhow::{Context, Result};

use super::history::CommandHistory;
use super::prompt::{PrinterAbove, Prompt, Terminal};
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
        typist: LineSource,
    },
}

/// Who types the lines: somebody may be wrong, and goes on.
pub(super) enum LineSource {
    /// Nobody.
    Nobody,
    /// Somebody who is asked for each line, and may have been.
    Asked(bool),
    /// Somebody who edits lines, at a terminal that is to be left as it was found.
    Edits { history: CommandHistory, _terminal: Terminal },
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

    /// Standard input; with what prints above the line that is edited, if lines are.
    ///
    /// # Errors
    /// If there can be no thread that reads it.
    pub(super) fn standard() -> Result<(Self, Option<PrinterAbove>)> {
        let history = CommandHistory::of_user();
        let Some(Prompt { lines, above, terminal }) = Prompt::open(history.commands())? else {
            return Ok((Self::plain()?, None));
        };
        let typist = LineSource::Edits { history, _terminal: terminal };
        Ok((Self::Lines { lines, number: 0, typist }, Some(above)))
    }

    /// Standard input as it comes. A thread reads it, which ends with it or with the process.
    fn plain() -> Result<Self> {
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
        let typist = if is_typed { LineSource::Asked(false) } else { LineSource::Nobody };
        Ok(Self::Lines { lines, number: 0, typist })
    }

    /// Whether whoever types may go on after an error.
    pub(super) fn is_typed(&self) -> bool {
        matches!(self, Self::Lines { typist: LineSource::Asked(_) | LineSource::Edits { .. }, .. })
    }

    /// Whether lines are edited, so that nothing may be printed but above them.
    pub(super) fn is_edited(&self) -> bool {
        matches!(self, Self::Lines { typist: LineSource::Edits { .. }, .. })
    }

    /// The next command. Does not wait.
    pub(super) fn next(&mut self, settings: &OrderSettings) -> Next {
        let (lines, number, typist) = match self {
            Self::Script(commands) => {
                let next = commands.pop_front();
                return next.map_or(Next::End, |(line, command)| Next::Command(line, command));
            }
            Self::Lines { lines, number, typist } => (lines, number, typist),
        };
        loop {
            let line = match lines.try_recv() {
                Ok(Ok(line)) => line,
                Ok(Err(error)) => return Next::Wrong(format!("standard input: {error}")),
                Err(TryRecvError::Disconnected) => return Next::End,
                Err(TryRecvError::Empty) => {
                    typist.ask();
                    return Next::Later;
                }
            };
            *number += 1;
            let command = parse(&line, *number, &|symbol| settings.instrument(symbol));
            typist.has_typed(&line, matches!(command, Ok(Some(_))));
            match command {
                Ok(Some(command)) => return Next::Command(*number, command),
                Ok(None) => {}
                Err(error) => return Next::Wrong(error.to_string()),
            }
        }
    }
}

impl LineSource {
    /// Asks for a line, unless that was done. An editor asks by itself.
    fn ask(&mut self) {
        if let Self::Asked(asked @ false) = self {
            *asked = true;
            let mut err = io::stderr().lock();
            let _ = write!(err, "> ").and_then(|()| err.flush());
        }
    }

    /// A line has come. Only what was understood is written down.
    fn has_typed(&mut self, line: &str, is_understood: bool) {
        match self {
            Self::Nobody => {}
            Self::Asked(asked) => *asked = false,
            Self::Edits { history, .. } if is_understood => history.keep(line),
            Self::Edits { .. } => {}
        }
    }
}
