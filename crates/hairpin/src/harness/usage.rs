//! Errors in the arguments.

use std::io::Write;
use std::process::ExitCode;

/// An error in the arguments alone, whatever the machine: exit status 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct UsageError(pub(crate) String);

/// Returns a [`UsageError`] with a `format!` message.
macro_rules! usage_error {
    ($($message:tt)*) => {
        return Err($crate::harness::usage::UsageError(format!($($message)*)).into())
    };
}
pub(crate) use usage_error;

/// Returns the exit status of a failed command: 2 for errors in the arguments alone, else 1.
pub(crate) fn status_of(error: &anyhow::Error) -> ExitCode {
    if error.is::<UsageError>() { ExitCode::from(2) } else { ExitCode::FAILURE }
}

/// Prints help and version as clap formats them, with exit status 0; prints the first line of an
/// error with a hint, with exit status 2.
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
            let text = first_line(&error.to_string());
            let text = hairpin_order_entry::redact_keys(&text);
            let _ = writeln!(std::io::stderr(), "hairpin: {text}; try --help");
            ExitCode::from(2)
        }
    }
}

/// Returns the first line of clap's message, with the next line if the first ends in a colon.
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
