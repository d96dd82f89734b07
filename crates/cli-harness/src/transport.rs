//! The arguments for the datapath, kernel or AF_XDP, and the stack settings that follow.

use anyhow::{Result, bail};
use clap::ValueEnum;
use hairpin_feed_handler::Addresses;
use hairpin_reactor::Wait;
use hairpin_stack::StackSettings;
use hairpin_xdp::{InterfaceSettings, Mode, check_capabilities};
use serde::{Deserialize, Serialize};

use crate::usage::usage_error;

/// The datapath between a program and its interface.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
pub enum Transport {
    /// Kernel sockets
    #[default]
    Kernel,
    /// AF_XDP, bypassing the kernel
    Xdp,
    /// Kernel sockets that `hairpin run` accelerates over AF_XDP
    Preload,
}

impl Transport {
    /// Returns the name in tables and results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Xdp => "xdp",
            Self::Preload => "preload",
        }
    }

    /// Returns the beginning of a column's name for a transport in a results file.
    pub fn prefix(name: &str) -> String {
        let is_named = [Self::Xdp, Self::Preload].iter().any(|transport| transport.name() == name);
        if is_named { format!("{name}, ") } else { String::new() }
    }
}

/// The place of the XDP filter in the kernel.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
pub enum XdpMode {
    /// On a veth generic, with TCP native; elsewhere native where the driver supports it, else
    /// generic
    #[default]
    Auto,
    /// After the driver
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

/// The arguments for the datapath.
#[derive(clap::Args, Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[group(skip)]
pub struct TransportArgs {
    /// Transport of packets between the program and its interface: kernel, xdp, preload
    #[arg(long, value_enum, value_name = "WAY", default_value_t)]
    pub transport: Transport,

    /// Mode of the filter of --transport xdp: auto, generic, native [default: auto]
    #[arg(long, value_enum, value_name = "MODE")]
    xdp_mode: Option<XdpMode>,

    /// With --transport xdp, fail if packets would have to fall back to the kernel; --transport
    /// preload is always strict
    #[arg(long)]
    pub(crate) strict: bool,

    /// `true` if connections are among the traffic.
    #[arg(skip)]
    tcp: bool,
}

impl TransportArgs {
    /// Returns arguments for AF_XDP without fallback.
    pub fn xdp(xdp_mode: Option<XdpMode>) -> Self {
        Self { transport: Transport::Xdp, xdp_mode, strict: true, tcp: false }
    }

    /// Returns arguments for kernel sockets under `hairpin run`.
    pub fn preload() -> Self {
        Self { transport: Transport::Preload, ..Self::default() }
    }

    /// Returns the arguments of a command that carries TCP connections.
    pub const fn for_tcp(self) -> Self {
        Self { tcp: true, ..self }
    }

    /// Checks for arguments that require AF_XDP.
    ///
    /// # Errors
    /// One line with the argument.
    pub fn check(&self) -> Result<()> {
        match self.transport {
            Transport::Xdp => Ok(()),
            _ if self.xdp_mode.is_some() => usage_error!("--xdp-mode is for --transport xdp"),
            _ if self.strict => usage_error!("--strict is for --transport xdp"),
            Transport::Kernel | Transport::Preload => Ok(()),
        }
    }

    /// Checks that the host and the transport support `wait`.
    ///
    /// # Errors
    /// The reason in a few words.
    pub fn probe(&self, wait: Wait) -> Result<(), String> {
        if (self.transport, wait) == (Transport::Preload, Wait::IoUring) {
            return Err("hairpin run does not accelerate io_uring".to_owned());
        }
        wait.probe().map_err(|error| error.to_string())
    }

    /// Returns `true` for AF_XDP with endpoints of our own.
    pub fn is_xdp(&self) -> bool {
        self.transport == Transport::Xdp
    }

    /// Returns `true` if packets bypass the kernel, which requires an interface and capabilities.
    pub fn bypasses_kernel(&self) -> bool {
        self.transport != Transport::Kernel
    }

    /// Returns the stack settings.
    pub fn stack_settings(&self) -> StackSettings {
        let mode = self.xdp_mode.unwrap_or_default().into();
        let interface = InterfaceSettings { mode, ..InterfaceSettings::default() };
        let Self { strict, tcp, .. } = *self;
        StackSettings { interface, strict, tcp, ..StackSettings::default() }
    }

    /// Like [`check`](Self::check), for a command that runs on the named interface.
    ///
    /// # Errors
    /// Conflicting arguments, or no interface that frames can leave from.
    pub fn check_interface(&self, interface: Option<&str>) -> Result<()> {
        self.check()?;
        let name = self.transport.name();
        match interface {
            _ if !self.bypasses_kernel() => Ok(()),
            None => usage_error!("--transport {name} needs an interface: --interface IF"),
            Some("lo") => {
                usage_error!("--transport {name} needs an interface that leaves this host, not lo")
            }
            Some(_) => Ok(()),
        }
    }

    /// Checks that AF_XDP is not combined with market data over TCP.
    ///
    /// # Errors
    /// AF_XDP was selected and the channel uses TCP.
    pub fn check_feed(&self, addresses: &Addresses) -> Result<()> {
        if self.is_xdp() && matches!(addresses, Addresses::Tcp(_)) {
            bail!(
                "the channel uses TCP, which needs kernel sockets: --transport xdp is for \
                   multicast"
            );
        }
        Ok(())
    }

    /// Like [`check`](Self::check), for a command that creates two hosts unless an interface is
    /// named.
    ///
    /// # Errors
    /// Conflicting arguments, an interface on which this host would be its own peer, or missing
    /// capabilities.
    pub fn check_between_hosts(&self, interface: Option<&str>) -> Result<()> {
        self.check()?;
        if !self.bypasses_kernel() {
            return Ok(());
        }
        if let Some(name) = interface {
            let transport = self.transport.name();
            usage_error!("both ends at {name} are this host: --transport {transport} needs two");
        }
        Ok(check_capabilities()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::parse_line;

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
    fn uses_mode_of_filter() {
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
    fn requires_interface_that_leaves_host() {
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
    fn rejects_pair_within_this_host() {
        let check = |args: &str, interface| line(args).unwrap().check_between_hosts(interface);
        assert!(check("", Some("eth1")).is_ok() && check("", None).is_ok());
        let refused = check("--transport xdp", Some("eth1")).unwrap_err().to_string();
        assert!(refused.contains("both ends at eth1 are this host"), "{refused}");
        assert!(check("--xdp-mode native", None).is_err());
    }

    #[test]
    fn passes_strict_to_stack() {
        let is_strict = |args: &str| line(args).unwrap().stack_settings().strict;
        assert!(is_strict("--transport xdp --strict") && !is_strict("--transport xdp"));
    }
}
