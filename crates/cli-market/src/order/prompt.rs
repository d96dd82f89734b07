//! A terminal for commands: lines are edited, and the output of the session is printed above them.

use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;

use anyhow::{Context, Result};
use nix::sys::termios::{SetArg, Termios, tcgetattr, tcsetattr};
use nix::unistd::dup2_stdout;
use rustyline::config::Configurer;
use rustyline::error::ReadlineError;
use rustyline::history::MemHistory;
use rustyline::{Config, Editor, ExternalPrinter};
use signal_hook::consts::SIGINT;

use super::history::COMMANDS_MAX;

/// The prompt.
const PROMPT: &str = "> ";
/// A line without output: an empty one would print an empty line.
const NOTHING: &str = "\x1b[A\n";
/// Ends bracketed paste, which the editor has begun, and clears the line that will not be finished.
const END_EDITING: &[u8] = b"\x1b[?2004l\r\x1b[K";

/// A line editor in its own thread, which ends with the terminal or the process.
pub(super) struct Prompt {
    pub(super) lines: Receiver<io::Result<String>>,
    pub(super) above: PrinterAbove,
    pub(super) terminal: Terminal,
}

type Printer = Box<dyn ExternalPrinter + Send>;

impl Prompt {
    /// Opens a prompt with these earlier commands; returns `None` if standard input or output is
    /// not a terminal, or the terminal cannot edit.
    ///
    /// # Errors
    /// If the thread cannot be started.
    pub(super) fn open(commands: Vec<String>) -> Result<Option<Self>> {
        let (input, output) = (io::stdin(), io::stdout());
        if !input.is_terminal() || !output.is_terminal() {
            return Ok(None);
        }
        let Ok(settings) = tcgetattr(&input) else { return Ok(None) };
        let screen = output.as_fd().try_clone_to_owned().context("cannot copy standard output")?;
        // Without a limit: the editor must not wait for the session while that waits for it.
        let (sender, lines) = channel();
        let (tell, told) = sync_channel(1);
        let edit = move || edit(&commands, &tell, &sender);
        let thread = thread::Builder::new().name("hairpin-input".to_owned());
        thread.spawn(edit).context("cannot read standard input")?;
        // Without an editor the thread has ended.
        let printer = told.recv().ok();
        Ok(printer.map(|printer| Self {
            lines,
            above: PrinterAbove { printer, line: Vec::new() },
            terminal: Terminal { settings, screen: File::from(screen) },
        }))
    }
}

/// Reads lines until the end of the input.
fn edit(commands: &[String], tell: &SyncSender<Printer>, sender: &Sender<io::Result<String>>) {
    let Ok((mut editor, printer)) = editor(commands) else { return };
    if tell.send(printer).is_err() {
        return;
    }
    loop {
        let line = match editor.readline(PROMPT) {
            Ok(line) => Ok(line),
            Err(ReadlineError::Eof) => return,
            // While lines are edited, the terminal sends no signal.
            Err(ReadlineError::Interrupted) => {
                let _ = signal_hook::low_level::raise(SIGINT);
                print_until_the_end(editor);
            }
            Err(ReadlineError::Io(error)) => Err(error),
            Err(error) => Err(io::Error::other(error)),
        };
        let Ok(line) = line else {
            let _ = sender.send(line);
            return;
        };
        // Pasted text may have several lines.
        for line in line.lines() {
            if sender.send(Ok(line.to_owned())).is_err() {
                return;
            }
            if line.trim() == "quit" {
                print_until_the_end(editor);
            }
        }
    }
}

/// Prints what the session prints while it logs off, without a prompt. A line may already wait for
/// the editor, which has room for one: without a reader, the session would wait with the next one
/// without end.
fn print_until_the_end(mut editor: Editor<(), MemHistory>) -> ! {
    loop {
        match editor.readline("") {
            Ok(_) => {}
            Err(ReadlineError::Interrupted) => {
                let _ = signal_hook::low_level::raise(SIGINT);
            }
            Err(_) => break,
        }
    }
    // The session logs off first; the end of the lines' channel would end it too.
    loop {
        thread::park();
    }
}

fn editor(commands: &[String]) -> rustyline::Result<(Editor<(), MemHistory>, Printer)> {
    // The end of the command may cut the output of the editor off, which must leave no update open.
    let mut config = Config::builder().max_history_size(COMMANDS_MAX)?.auto_add_history(true);
    config.enable_synchronized_output(false);
    let config = config.build();
    let history = MemHistory::with_config(&config);
    let mut editor = Editor::<(), _>::with_history(config, history)?;
    for command in commands {
        editor.add_history_entry(command)?;
    }
    let printer = Box::new(editor.create_external_printer()?);
    Ok((editor, printer))
}

/// Prints whole lines above the edited line.
pub(super) struct PrinterAbove {
    printer: Printer,
    line: Vec<u8>,
}

impl Write for PrinterAbove {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.line.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let line = String::from_utf8_lossy(&self.line).into_owned();
        self.line.clear();
        if self.printer.print(line.clone()).is_ok() {
            return Ok(());
        }
        // The editor has ended meanwhile.
        let mut out = io::stdout().lock();
        out.write_all(line.as_bytes())?;
        out.flush()
    }
}

/// The editor prints in its own thread, and has room for one line besides the one that it prints:
/// once it has accepted the second of these, the last line is printed, and the process may end. The
/// prompts that the editor would print after it are discarded.
impl Drop for PrinterAbove {
    fn drop(&mut self) {
        for _ in 0..2 {
            let _ = self.printer.print(NOTHING.to_owned());
        }
        if let Ok(nowhere) = OpenOptions::new().write(true).open("/dev/null") {
            let _ = dup2_stdout(nowhere);
        }
    }
}

/// Restores the terminal even if a line is still being edited.
pub(super) struct Terminal {
    settings: Termios,
    screen: File,
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = tcsetattr(io::stdin(), SetArg::TCSADRAIN, &self.settings);
        let _ = self.screen.write_all(END_EDITING);
    }
}
