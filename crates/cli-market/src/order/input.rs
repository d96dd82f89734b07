//! The source of commands: a script that was read before, or standard input as it arrives.

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

/// Commands, with their line numbers.
pub(super) enum Input {
    /// All commands, already parsed.
    Script(VecDeque<(usize, Command)>),
    /// Commands that arrive line by line.
    Lines {
        lines: Receiver<io::Result<String>>,
        /// The number of the last line.
        number: usize,
        typist: LineSource,
    },
}

/// Who enters the lines: a person may continue after an error.
pub(super) enum LineSource {
    /// A program.
    Nobody,
    /// A person who is prompted for each line; `true` if the prompt is printed.
    Asked(bool),
    /// A person who edits lines on a terminal, which is restored at the end.
    Edits { history: CommandHistory, _terminal: Terminal },
}

/// The next command.
pub(super) enum Next {
    Command(usize, Command),
    /// A line that is not valid, and why.
    Wrong(String),
    /// Nothing yet.
    Later,
    /// The end of the input.
    End,
}

impl Input {
    /// Reads a script to its end.
    ///
    /// # Errors
    /// The first wrong line, with the file's name; a file that cannot be read.
    pub(super) fn script(path: &Path, settings: &OrderSettings) -> Result<Self> {
        let named = || format!("{} cannot be read", path.display());
        let text = std::fs::read_to_string(path).with_context(named)?;
        let symbol = |symbol: &str| settings.instrument(symbol);
        let mut commands = VecDeque::new();
        for (number, line) in (1..).zip(text.lines()) {
            let command = parse(line, number, &symbol);
            let command = command.map_err(anyhow::Error::from).and_then(|command| {
                command.map(|command| settings.with_wire_prices(number, command)).transpose()
            });
            let command = command.with_context(|| path.display().to_string())?;
            commands.extend(command.map(|command| (number, command)));
        }
        Ok(Self::Script(commands))
    }

    /// Returns standard input, and if lines are edited, the printer above the edited line.
    ///
    /// # Errors
    /// If the thread that reads it cannot be started.
    pub(super) fn standard() -> Result<(Self, Option<PrinterAbove>)> {
        let history = CommandHistory::of_user();
        let Some(Prompt { lines, above, terminal }) = Prompt::open(history.commands())? else {
            return Ok((Self::plain()?, None));
        };
        let typist = LineSource::Edits { history, _terminal: terminal };
        Ok((Self::Lines { lines, number: 0, typist }, Some(above)))
    }

    /// Returns standard input as it arrives. A thread reads it, which ends with it or with the
    /// process.
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
        thread.spawn(read).context("cannot read standard input")?;
        let is_typed = io::stdin().is_terminal();
        let typist = if is_typed { LineSource::Asked(false) } else { LineSource::Nobody };
        Ok(Self::Lines { lines, number: 0, typist })
    }

    /// Returns `true` if the input may continue after an error.
    pub(super) fn is_typed(&self) -> bool {
        matches!(self, Self::Lines { typist: LineSource::Asked(_) | LineSource::Edits { .. }, .. })
    }

    /// Returns `true` if lines are edited, so that everything must be printed above them.
    pub(super) fn is_edited(&self) -> bool {
        matches!(self, Self::Lines { typist: LineSource::Edits { .. }, .. })
    }

    /// Returns the next command without waiting.
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
            let is_typed = !matches!(typist, LineSource::Nobody);
            let command = parse(&line, *number, &|symbol| settings.instrument(symbol));
            typist.has_typed(&line, matches!(command, Ok(Some(_))));
            match command {
                Ok(Some(command)) => {
                    return match settings.with_wire_prices(*number, command) {
                        Ok(command) => Next::Command(*number, command),
                        Err(error) if is_typed => Next::Wrong(error.root_cause().to_string()),
                        Err(error) => Next::Wrong(format!("{error:#}")),
                    };
                }
                Ok(None) => {}
                Err(error) if is_typed => return Next::Wrong(error.without_place()),
                Err(error) => return Next::Wrong(error.to_string()),
            }
        }
    }
}

impl LineSource {
    /// Prompts for a line, unless already done. A line editor prompts by itself.
    fn ask(&mut self) {
        if let Self::Asked(asked @ false) = self {
            *asked = true;
            let mut err = io::stderr().lock();
            let _ = write!(err, "> ").and_then(|()| err.flush());
        }
    }

    /// Handles an entered line: only valid commands are stored in the history.
    fn has_typed(&mut self, line: &str, is_understood: bool) {
        match self {
            Self::Nobody => {}
            Self::Asked(asked) => *asked = false,
            Self::Edits { history, .. } if is_understood => history.keep(line),
            Self::Edits { .. } => {}
        }
    }
}
