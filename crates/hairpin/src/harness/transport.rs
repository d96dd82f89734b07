//! Through the kernel or past it: the words, and what they ask of a stack.

use anyhow::{Result, bail};
use clap::ValueEnum;
use hairpin_feed_handler::Addresses;
use hairpin_stack::StackSettings;
use hairpin_xdp::{InterfaceSettings, Mode, check_capabilities};
use serde::{Deserialize, Serialize};

use crate::harness::usage::usage_error;

/// Which way packets take between a program and its interface.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
pub(crate) enum Transport {
    /// The kernel's sockets
    #[default]
    Kernel,
    /// AF_XDP, past the kernel
    Xdp,
}

impl Transport {
    /// The name in tables and results.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Xdp => "xdp",
        }
    }
}

/// Where in the kernel the filter runs that sends packets past it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
pub(crate) enum XdpMode {
    /// Behind the driver of a veth; elsewhere in the driver where it can, else behind it
    #[default]
    Auto,
    /// Behind the driver
    Generic,
    /// In the driver
    Native,
}

impl From<XdpMode> for Mode {
    fn from(mode: XdpMode) -> Self {
        match mode {
            XdpMode::Auto => Self::Auto,
            XdpMode::Generic => Self::Generic,
            XdpMode::Native => Self::Native,
        }
    }
}

/// The words about the way of packets.
#[derive(clap::Args, Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[group(skip)]
pub(crate) struct TransportArgs {
    /// How packets travel between the program and its interface: kernel, xdp
    #[arg(long, value_enum, value_name = "WAY", default_value_t)]
    pub(crate) transport: Transport,

    /// Where the filter of --transport xdp runs: auto, generic, native [default: auto]
    #[arg(long, value_enum, value_name = "MODE")]
    xdp_mode: Option<XdpMode>,

    /// With --transport xdp, fail where something would have to go through the kernel after all
    #[arg(long)]
    pub(crate) strict: bool,
}

impl TransportArgs {
    /// Past the kernel, and nothing else.
    pub(crate) fn xdp(xdp_mode: Option<XdpMode>) -> Self {
        Self { transport: Transport::Xdp, xdp_mode, strict: true }
    }

    /// Words that only mean something past the kernel.
    ///
    /// # Errors
    /// One line that names the word.
    pub(crate) fn check(&self) -> Result<()> {
        match self.transport {
            Transport::Xdp => Ok(()),
            Transport::Kernel if self.xdp_mode.is_some() => {
                usage_error!("--xdp-mode is for --transport xdp")
            }
            Transport::Kernel if self.strict => usage_error!("--strict is for --transport xdp"),
            Transport::Kernel => Ok(()),
        }
    }

    /// Whether packets go past the kernel.
    pub(crate) fn is_xdp(&self) -> bool {
        self.transport == Transport::Xdp
    }

    /// A stack as these words ask for it.
    pub(crate) fn stack_settings(&self) -> StackSettings {
        let mode = self.xdp_mode.unwrap_or_default().into();
        let interface = InterfaceSettings { mode, ..InterfaceSettings::default() };
        StackSettings { interface, strict: self.strict, ..StackSettings::default() }
    }

    /// The same as [`check`](Self::check), for one who goes by the interface that is named.
    ///
    /// # Errors
    /// One line: words that contradict each other, or no interface that frames leave by.
    pub(crate) fn check_interface(&self, interface: Option<&str>) -> Result<()> {
        self.check()?;
        match interface {
            _ if !self.is_xdp() => Ok(()),
            None => {
                usage_error!("--transport xdp needs to know by which interface: --interface IF")
            }
            Some("lo") => {
                usage_error!("--transport xdp needs an interface that leaves this host, not lo")
            }
            Some(_) => Ok(()),
        }
    }

    /// Market data by TCP goes through the kernel.
    ///
    /// # Errors
    /// One line, if it was to go past it.
    pub(crate) fn check_feed(&self, addresses: &Addresses) -> Result<()> {
        if self.is_xdp() && matches!(addresses, Addresses::Tcp(_)) {
            bail!("the channel goes by TCP, through the kernel: --transport xdp is for multicast");
        }
        Ok(())
    }

    /// The same for one who makes two hosts, unless an interface is named: to be called before.
    ///
    /// # Errors
    /// One line: words that contradict each other, an interface over which this host would speak to
    /// itself, or the capabilities that are missing.
    pub(crate) fn check_between_hosts(&self, interface: Option<&str>) -> Result<()> {
        self.check()?;
        if !self.is_xdp() {
            return Ok(());
        }
        if let Some(name) = interface {
            usage_error!(
                "both ends at {name} are this host, and the kernel's: --transport xdp needs two"
            );
        }
        Ok(check_capabilities()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::args::parse_line;

    fn line(args: &str) -> Result<TransportArgs, clap::Error> {
        parse_line(args.split_whitespace())
    }

    #[test]
    fn packets_go_by_the_kernel_unless_told_otherwise() {
        let arguments = line("").unwrap();
        assert_eq!((arguments.transport, arguments.is_xdp()), (Transport::Kernel, false));
        assert!(arguments.check().is_ok());
        assert!(line("--transport xdp").unwrap().is_xdp());
        assert!(line("--transport tcp").is_err());
    }

    #[test]
    fn the_mode_is_that_of_the_filter() {
        let mode = |args: &str| line(args).unwrap().stack_settings().interface.mode;
        assert_eq!(mode("--transport xdp"), Mode::Auto);
        assert_eq!(mode("--transport xdp --xdp-mode generic"), Mode::Generic);
        assert_eq!(mode("--transport xdp --xdp-mode native"), Mode::Native);
    }

    #[test]
    fn words_about_xdp_are_refused_where_it_is_not_used() {
        for (args, named) in [("--xdp-mode auto", "--xdp-mode"), ("--strict", "--strict")] {
            let refused = line(args).unwrap().check().unwrap_err().to_string();
            assert_eq!(refused, format!("{named} is for --transport xdp"));
            assert!(line(&format!("--transport xdp {args}")).unwrap().check().is_ok());
        }
    }

    #[test]
    fn an_interface_is_needed_that_leaves_the_host() {
        let check = |args: &str, interface| {
            line(args).unwrap().check_interface(interface).map_err(|error| error.to_string())
        };
        assert!(check("", None).is_ok() && check("", Some("lo")).is_ok());
        assert!(check("--transport xdp", Some("eth1")).is_ok());
        assert!(check("--transport xdp", None).unwrap_err().contains("--interface IF"));
        assert!(check("--transport xdp", Some("lo")).unwrap_err().contains("not lo"));
        assert!(check("--strict", Some("eth1")).is_err());
    }

    #[test]
    fn two_hosts_of_which_both_are_this_one_are_none() {
        let check = |args: &str, interface| line(args).unwrap().check_between_hosts(interface);
        assert!(check("", Some("eth1")).is_ok() && check("", None).is_ok());
        let refused = check("--transport xdp", Some("eth1")).unwrap_err().to_string();
        assert!(refused.contains("both ends at eth1 are this host"), "{refused}");
        assert!(check("--xdp-mode native", None).is_err());
    }

    #[test]
    fn who_is_strict_has_a_strict_stack() {
        let is_strict = |args: &str| line(args).unwrap().stack_settings().strict;
        assert!(is_strict("--transport xdp --strict") && !is_strict("--transport xdp"));
    }
}
