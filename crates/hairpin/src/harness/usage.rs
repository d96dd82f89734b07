//! What is said about wrong words on the command line.

use std::io::Write;
use std::process::ExitCode;

/// Words that are wrong whatever the machine, though each is known: exit status 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct UsageError(pub(crate) String);

/// Returns [`UsageError`], told as `format!` has it.
macro_rules! usage_error {
    ($($said:tt)*) => {
        return Err($crate::harness::usage::UsageError(format!($($said)*)).into())
    };
}
pub(crate) use usage_error;

/// The exit status of a command that failed: whether by its words alone.
pub(crate) fn status_of(error: &anyhow::Error) -> ExitCode {
    if error.is::<UsageError>() { ExitCode::from(2) } else { ExitCode::FAILURE }
}

/// Help and version as clap has them, exit status 0; of an error the first line and where to look,
/// exit status 2.
pub(crate) fn report(error: &clap::Error) -> ExitCode {
    use clap::error::ErrorKind;
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let _ = write!(std::io::stdout(), "{error}");
            ExitCode::SUCCESS
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = write!(std::io::stderr(), "{error}");
            ExitCode::from(2)
        }
        _ => {
            let text = error.to_string();
            let _ = writeln!(std::io::stderr(), "hairpin: {}; try --help", first_line(&text));
            ExitCode::from(2)
        }
    }
}

/// The first line of clap's message; where that line ends in a colon, what it announces as well.
fn first_line(text: &str) -> String {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or("bad arguments").trim_start_matches("error: ");
    match (first.ends_with(':'), lines.next()) {
        (true, Some(second)) => format!("{first} {second}"),
        _ => first.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::first_line;

    #[test]
    fn keeps_the_first_line_only() {
        assert_eq!(
            first_line("error: unexpected argument '--x'\n\nUsage: y"),
            "unexpected argument '--x'"
        );
    }

    #[test]
    fn names_the_argument_that_a_first_line_announces() {
        let text = "error: the following required arguments were not provided:\n  <FILE>\n\nUsage";
        assert_eq!(first_line(text), "the following required arguments were not provided: <FILE>");
    }
}
