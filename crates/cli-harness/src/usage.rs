//! Errors in the arguments.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use hairpin_measure::Style;

use crate::output;

/// The least likeness of two names, from 0 to 1, of which one may be meant to be the other: by
/// their beginnings, or by the letters that match.
const MIN_BEGINNING: f64 = 0.8;
const MIN_MATCHING: f64 = 0.6;

/// An error in the arguments alone, whatever the machine: exit status 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);

/// Returns a [`UsageError`] with a `format!` message.
#[macro_export]
macro_rules! usage_error {
    ($($message:tt)*) => {
        return Err($crate::usage::UsageError(format!($($message)*)).into())
    };
}
pub use usage_error;

/// Returns the exit status of a failed command: 2 for errors in the arguments alone, else 1.
pub fn status_of(error: &anyhow::Error) -> ExitCode {
    if error.is::<UsageError>() { ExitCode::from(2) } else { ExitCode::FAILURE }
}

/// Prints help and version as clap formats them, with exit status 0; prints an error in one line,
/// with exit status 2. `command` is the command line that the error is of.
///
/// # Errors
/// Those of standard output.
pub fn report(error: &clap::Error, command: &Command) -> io::Result<ExitCode> {
    Ok(match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            output::print(&error.to_string())?;
            ExitCode::SUCCESS
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = write!(std::io::stderr(), "{error}");
            ExitCode::from(2)
        }
        _ => {
            let text = describe(error, command);
            let text = hairpin_order_entry::redact_keys(&text);
            let text = Style::for_stderr().wrap(&format!("hairpin: {text}; try --help"));
            let _ = writeln!(std::io::stderr(), "{text}");
            ExitCode::from(2)
        }
    })
}

/// Describes an error in one line: every missing argument, the values of a choice, and the nearest
/// name.
fn describe(error: &clap::Error, command: &Command) -> String {
    let list = |kind| match error.get(kind) {
        Some(ContextValue::Strings(values)) => values.iter().map(String::as_str).collect(),
        Some(ContextValue::String(value)) => vec![value.as_str()],
        _ => Vec::new(),
    };
    let invalid_value = list(ContextKind::InvalidValue).concat();
    match error.kind() {
        ErrorKind::MissingRequiredArgument => {
            let required: Vec<_> = list(ContextKind::InvalidArg).into_iter().map(choice).collect();
            let verb = if required.len() > 1 { "are" } else { "is" };
            format!("{} {verb} required", required.join(" and "))
        }
        ErrorKind::ArgumentConflict if error.get(ContextKind::PriorArg).is_some() => {
            let others = list(ContextKind::PriorArg).join(", ");
            format!("{} conflicts with {others}", list(ContextKind::InvalidArg).concat())
        }
        ErrorKind::InvalidValue => {
            let name = list(ContextKind::InvalidArg).concat();
            let values = list(ContextKind::ValidValue);
            let given = match invalid_value.is_empty() {
                true => format!("{name} requires a value"),
                false => format!("invalid value '{invalid_value}' for {name}"),
            };
            match values.is_empty() {
                true => given,
                false => format!("{given}: use {}", alternatives(&values)),
            }
        }
        ErrorKind::InvalidSubcommand => {
            let name = list(ContextKind::InvalidSubcommand).concat();
            format!("unknown command '{name}'{}", nearest_command(&name, command))
        }
        ErrorKind::MissingSubcommand => {
            let name = list(ContextKind::InvalidSubcommand).concat();
            let is_hidden =
                |name: &str| command.find_subcommand(name).is_some_and(Command::is_hide_set);
            let names = list(ContextKind::ValidSubcommand).into_iter();
            let names: Vec<_> = names.filter(|name| !is_hidden(name)).collect();
            format!("'{name}' requires a command: use {}", alternatives(&names))
        }
        ErrorKind::UnknownArgument => {
            let name = list(ContextKind::InvalidArg).concat();
            let nearest = list(ContextKind::SuggestedArg).pop();
            format!("unexpected argument '{name}'{}", nearest_is(nearest))
        }
        _ => first_line(&error.to_string())
            .replace("invalid digit found in string", "not a whole number")
            .replace("cannot parse integer from empty string", "not a whole number"),
    }
}

/// Returns a missing argument, as usage prints it, without the brackets of a choice.
fn choice(argument: &str) -> String {
    match argument.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')) {
        Some(choice) if choice.contains('|') => {
            let options: Vec<&str> = choice.split('|').collect();
            alternatives(&options)
        }
        _ => argument.to_owned(),
    }
}

/// Joins alternatives: `a, b or c`.
pub fn alternatives(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [name] => (*name).to_owned(),
        [rest @ .., last] => format!("{} or {last}", rest.join(", ")),
    }
}

/// Returns the end of an error that names the nearest of the visible commands.
fn nearest_command(name: &str, command: &Command) -> String {
    let visible = command.get_subcommands().filter(|it| !it.is_hide_set()).map(Command::get_name);
    nearest_is(nearest(name, visible))
}

/// Returns the end of an error that names the nearest name.
pub fn nearest_is(nearest: Option<&str>) -> String {
    nearest.map(|name| format!(": the nearest is '{name}'")).unwrap_or_default()
}

/// Returns the name that a word is probably meant to be.
pub fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // The first measure is high for a common beginning, the second for a mistake in a short name.
    let beginning = |name: &str| strsim::jaro_winkler(word, name);
    let mistakes = |name: &str| strsim::normalized_damerau_levenshtein(word, name);
    let is_near = |name: &str| beginning(name) > MIN_BEGINNING || mistakes(name) > MIN_MATCHING;
    let near = names.filter(|name| is_near(name));
    near.max_by(|a, b| beginning(a).max(mistakes(a)).total_cmp(&beginning(b).max(mistakes(b))))
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
    use clap::Arg;

    use super::*;

    fn error(line: &str) -> String {
        let required = |name: &'static str| Arg::new(name).long(name).required(true);
        let mut command = Command::new("words").subcommand_required(true);
        command = command.subcommand(Command::new("hidden-exchange").hide(true));
        command = command.subcommand(Command::new("exchange").args([
            required("config"),
            required("gateway").value_parser(["primary", "backup"]),
            Arg::new("size").long("size").value_parser(clap::value_parser!(u32)),
            Arg::new("all").long("all").conflicts_with_all(["size", "config"]),
        ]));
        let words = ["words"].into_iter().chain(line.split_whitespace());
        describe(&command.clone().try_get_matches_from(words).unwrap_err(), &command)
    }

    #[test]
    fn names_every_required_argument_and_every_value_of_a_choice() {
        for (line, expected) in [
            ("exchange", "--config <config> and --gateway <gateway> are required"),
            ("exchange --config x", "--gateway <gateway> is required"),
            ("exchange --gateway", "--gateway <gateway> requires a value: use primary or backup"),
            (
                "exchange --gateway x",
                "invalid value 'x' for --gateway <gateway>: use primary or backup",
            ),
            ("", "'words' requires a command: use exchange or help"),
        ] {
            assert_eq!(error(line), expected, "{line}");
        }
        assert_eq!(
            choice("<--pcap <FILE>...|--interface <IF>>"),
            "--pcap <FILE>... or --interface <IF>"
        );
        assert_eq!(choice("<FILE>"), "<FILE>");
    }

    #[test]
    fn names_the_nearest_flag_and_command_that_are_not_hidden() {
        for (line, expected) in [
            (
                "exchange --gateways x",
                "unexpected argument '--gateways': the nearest is '--gateway'",
            ),
            ("exchange --nonsense", "unexpected argument '--nonsense'"),
            ("hidden-exchang", "unknown command 'hidden-exchang'"),
            ("exhcange", "unknown command 'exhcange': the nearest is 'exchange'"),
            ("exchnage", "unknown command 'exchnage': the nearest is 'exchange'"),
        ] {
            assert_eq!(error(line), expected, "{line}");
        }
    }

    #[test]
    fn names_wrong_numbers_and_every_conflict() {
        for (line, expected) in [
            ("exchange --size 1x", "invalid value '1x' for '--size <size>': not a whole number"),
            (
                "exchange --all x --size 1 --config x",
                "--all <all> conflicts with --size <size>, --config <config>",
            ),
        ] {
            assert_eq!(error(line), expected, "{line}");
        }
    }
}
