//! The cores that threads are pinned to.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use hairpin_host::allowed_cores;
use serde::Deserialize;

use crate::two_numbers::parse_two;

/// The arguments for cores that commands share.
#[derive(clap::Args, Debug, Clone)]
#[group(skip)]
pub struct CoreArgs {
    /// Pin the exchange to core A and the trader to core B [default: the first two allowed]
    #[arg(long, value_name = "A,B", value_parser = parse_pair)]
    cpus: Option<(usize, usize)>,

    /// Pin threads as a TOML file with a table [threads] says, such as exchange = 0, trader = 1
    #[arg(long, value_name = "FILE", conflicts_with = "cpus")]
    threads: Option<PathBuf>,
}

/// The core of each thread; `None` leaves the choice to the kernel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cores {
    /// The core of the exchange.
    pub exchange: Option<usize>,
    /// The core of the trader.
    pub trader: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    threads: Cores,
}

impl CoreArgs {
    /// Returns the cores of the arguments, else the first two allowed cores, or none if there is
    /// only one.
    ///
    /// # Errors
    /// A core that is not allowed, both threads on one core, or a file that cannot be read or
    /// parsed.
    pub fn choose(&self) -> Result<Cores> {
        let allowed = allowed_cores().context("cannot read the allowed cores")?;
        let asked = match (self.cpus, &self.threads) {
            (Some((exchange, trader)), _) => {
                Cores { exchange: Some(exchange), trader: Some(trader) }
            }
            (None, Some(file)) => read(file)?,
            (None, None) => {
                return Ok(match allowed[..] {
                    [exchange, trader, ..] => {
                        Cores { exchange: Some(exchange), trader: Some(trader) }
                    }
                    _ => Cores::default(),
                });
            }
        };
        check(asked, &allowed)?;
        Ok(asked)
    }
}

impl Cores {
    /// Returns the cores that threads are pinned to.
    pub fn chosen(self) -> Vec<usize> {
        [self.exchange, self.trader].into_iter().flatten().collect()
    }

    /// Describes the pinning in a line.
    pub fn describe(self) -> String {
        let core =
            |core: Option<usize>| core.map_or("no core".to_owned(), |core| format!("core {core}"));
        match self {
            Self { exchange: None, trader: None } => {
                "nothing is pinned, so values mean little".to_owned()
            }
            Self { exchange, trader } => {
                format!("exchange (spinning) on {}, trader on {}", core(exchange), core(trader))
            }
        }
    }
}

fn read(path: &Path) -> Result<Cores> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read threads from {}", path.display()))?;
    parse(&text).map_err(|what| anyhow::anyhow!("{}, {what}", path.display()))
}

/// Parses a file with the table \[threads\].
///
/// # Errors
/// One line, with the place in the text.
pub fn parse(text: &str) -> Result<Cores, String> {
    let file: File = toml::from_str(text).map_err(|error| {
        let line = error.span().map_or(1, |span| text[..span.start].lines().count().max(1));
        format!("line {line}: {}", one_line(error.message()))
    })?;
    Ok(file.threads)
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn check(cores: Cores, allowed: &[usize]) -> Result<()> {
    for core in [cores.exchange, cores.trader].into_iter().flatten() {
        if !allowed.contains(&core) {
            bail!("cannot pin to core {core}: allowed cores are {allowed:?}");
        }
    }
    if cores.exchange.is_some() && cores.exchange == cores.trader {
        bail!("exchange and trader need a core each");
    }
    Ok(())
}

fn parse_pair(text: &str) -> Result<(usize, usize), String> {
    match parse_two(text, "two core numbers, such as 0,1")? {
        (a, b) if a == b => Err("exchange and trader need a core each".to_owned()),
        pair => Ok(pair),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn from_file(text: &str) -> Result<Cores> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        read(file.path())
    }

    #[test]
    fn threads_are_bound_by_name() {
        let cores = from_file("[threads]\nexchange = 0\ntrader = 1\n").unwrap();
        assert_eq!(cores, Cores { exchange: Some(0), trader: Some(1) });
        let cores = from_file("[threads]\ntrader = 3").unwrap();
        assert_eq!(cores, Cores { exchange: None, trader: Some(3) });
    }

    #[test]
    fn rejects_other_files_in_one_line() {
        for text in [
            "",
            "[threads]\nbroker = 1",
            "[threads]\nexchange = -1",
            "[threads]\nexchange = \"0\"",
            "[threads\n",
            "threads = 3",
            "[threads]\nexchange = 0\n[more]\n",
        ] {
            let error = format!("{:#}", from_file(text).unwrap_err());
            assert_eq!(error.lines().count(), 1, "{text:?}: {error}");
        }
    }

    #[test]
    fn requires_two_allowed_cores() {
        let cores = |exchange, trader| Cores { exchange, trader };
        assert!(check(cores(Some(0), Some(1)), &[0, 1]).is_ok());
        assert!(check(cores(None, Some(1)), &[0, 1]).is_ok());
        assert!(check(cores(Some(0), Some(0)), &[0, 1]).is_err());
        assert!(check(cores(Some(2), None), &[0, 1]).is_err());
    }

    #[test]
    fn parses_two_different_numbers() {
        assert_eq!(parse_pair("0, 1"), Ok((0, 1)));
        assert!(["1", "1,1", "a,b", "-1,0", ""].iter().all(|text| parse_pair(text).is_err()));
    }
}
