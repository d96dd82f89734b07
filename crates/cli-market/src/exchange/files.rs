//! The files that programs need to connect to the exchange: config.xml, and order.toml with its
//! key.
//!
//! A file of the user is never replaced: each file begins with a mark, and one without the mark is
//! an error.

use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use hairpin_cli_harness::secret_key;
use hairpin_cli_harness::t2t_setup::{Account, FIRM, MarketData};
use hairpin_feed_handler::config::{ChannelConfig, Config};
use hairpin_feed_handler::{Addresses, CaptureGroups, Group, Lines, ReplayServer};
use hairpin_mapped::Secret;
use hairpin_measure::{Style, write_text};

use super::args::ExchangeArgs;
use super::open_exchange::OpenExchange;

/// The mark of a file that the exchange may replace, near its beginning.
const MARK: &str = "Written by `hairpin exchange`, which replaces this file at each start. \
                    Remove this line to keep your changes.";
/// The folder of the journal, next to order.toml.
const JOURNAL: &str = "journal";
/// The bytes of a file in which the mark is expected.
const MARK_WITHIN: usize = 512;

/// The files of an exchange.
pub(super) struct Files<'a> {
    arguments: &'a ExchangeArgs,
    config: Option<PathBuf>,
    order: Option<PathBuf>,
    /// `true` if the exchange uses the published test key, which is written next to order.toml.
    has_test_key: bool,
    /// The gateway of the running exchange that has written order.toml before.
    running: Option<SocketAddr>,
}

impl<'a> Files<'a> {
    /// Returns the files that the arguments name; those of a simulator without names are in the
    /// current folder.
    ///
    /// # Errors
    /// A file of the user.
    pub(super) fn new(arguments: &'a ExchangeArgs) -> Result<Self> {
        let (config, order) = (arguments.config_out.clone(), arguments.order_out.clone());
        let is_named = config.is_some() || order.is_some();
        let (config, order) = match is_named || arguments.measures() || arguments.publishes() {
            true => (config, order),
            false => (Some("config.xml".into()), Some("order.toml".into())),
        };
        check_replaceable(config.as_deref(), "--config-out")?;
        check_replaceable(order.as_deref(), "--order-out")?;
        let has_test_key = secret_key::read(&arguments.key)?.is_test_key;
        let running = order.as_deref().and_then(running_gateway);
        Ok(Self { arguments, config, order, has_test_key, running })
    }

    /// Writes the files of an open exchange. Each is complete or absent.
    ///
    /// # Errors
    /// Those of the file system, with the path.
    pub(super) fn write(&self, open: &OpenExchange, interface: Ipv4Addr) -> Result<()> {
        self.write_order_settings(open.gateway)?;
        self.write_config(&open.market_data, open.replay, interface)
    }

    /// Prints what was written, and the next commands.
    pub(super) fn announce(&self) {
        let style = Style::for_stderr();
        for line in self.describe().lines() {
            // A command is copied as a whole.
            let is_command = line.contains(": hairpin ");
            let line = if is_command { line.to_owned() } else { style.wrap(line) };
            // A closed standard error does not stop the exchange.
            let _ = writeln!(io::stderr(), "{line}");
        }
    }

    fn describe(&self) -> String {
        let Self { arguments, config, order, .. } = self;
        let mut text = String::new();
        if let Some(path) = config {
            text += &format!("{}: the feed addresses of the market data\n", path.display());
        }
        if let Some(path) = order {
            let key = match self.has_test_key {
                true => format!(", with its key in {}", key_file(path).display()),
                false => String::new(),
            };
            text += &format!("{}: the settings of trader 1{key}\n", path.display());
            if let Some(gateway) = self.running {
                text += &format!(
                    "{}: replaces that of the exchange at {gateway}, which still runs: programs in \
                     this folder no longer find it\n",
                    path.display()
                );
            }
            let journal = path.with_file_name(JOURNAL);
            if journal.exists() {
                text += &format!(
                    "{0}: a journal of earlier sessions: this exchange does not know their orders; \
                     to begin without them, remove {0}\n",
                    journal.display()
                );
            }
        }
        if arguments.measures() {
            return text;
        }
        if let Some(path) = config {
            let (path, interface) = (path.display(), &arguments.interface);
            text +=
                &format!("prices: hairpin feed --config {path} --interface {interface} --watch\n");
        }
        if let Some(path) = order {
            text += &format!("orders: hairpin order {}\n", path.display());
        }
        text
    }

    /// Returns `true` if config.xml is written.
    pub(super) fn has_config(&self) -> bool {
        self.config.is_some()
    }

    /// Writes the configuration file, if any. The file is complete or absent. `replay` is where
    /// packets are replayed, if they are.
    ///
    /// # Errors
    /// Those of the file system, with the path.
    fn write_config(
        &self,
        data: &MarketData,
        replay: Option<SocketAddrV4>,
        interface: Ipv4Addr,
    ) -> Result<()> {
        let mut addresses = data.addresses(interface, &[interface]);
        if let (MarketData::Multicast(groups), Addresses::Multicast(feeds)) = (data, &mut addresses)
        {
            let group = |address| Group::new(address, &[interface]);
            if let Some(hairpin_exchange::Groups { a, b }) =
                self.arguments.market.order_snapshots(groups.snapshot)
            {
                feeds.snapshot_orders = Lines { a: Some(group(a)), b: b.map(group) };
            }
            let channel = self.arguments.channel();
            feeds.replay = replay.map(|address| ReplayServer::new(&channel, &[address]));
        }
        self.write_addresses(&addresses)
    }

    /// Writes the settings of trader 1, if requested: order.toml, and next to it the published test
    /// key if the exchange uses that one. The journal's folder is next to the file, too.
    ///
    /// # Errors
    /// Those of the file system, with the path.
    fn write_order_settings(&self, gateway: SocketAddrV4) -> Result<()> {
        let Some(path) = &self.order else { return Ok(()) };
        let arguments = self.arguments;
        let key = secret_key::read(&arguments.key)?;
        let secret = match &arguments.key.secret_key_file {
            Some(file) => {
                let insecure =
                    if arguments.key.insecure_key_file { "\ninsecure_key_file = true" } else { "" };
                format!("secret_file = {}{insecure}", quoted(&file.canonicalize()?))
            }
            None if key.is_test_key => {
                let file = key_file(path);
                write_test_key(&file, key.base64url())?;
                format!("secret_file = {}", quoted(Path::new(file.file_name().unwrap_or_default())))
            }
            None => format!("secret_env = \"{}\"", secret_key::VARIABLE),
        };
        let Account { access_key_id, session } = Account::new(1);
        let instruments = arguments.market.floor(0).instruments;
        let instruments: String = instruments
            .iter()
            .map(|it| format!("{} = {}\n", toml_key(&it.symbol), it.security_id))
            .collect();
        let text = format!(
            "# {MARK}\n\
             [gateway]\nprimary = [\"{gateway}\"]\n\n\
             [logon]\naccess_key_id = \"{access_key_id}\"\n{secret}\nsession = \"{session}\"\n\
             firm = \"{FIRM}\"\nsystem_name = \"Hairpin\"\nsystem_version = \"{}\"\n\
             system_vendor = \"Hairpin\"\n\n\
             [operator]\nsender_id = \"TRADER\"\nlocation = \"US,IL\"\n\n\
             [journal]\nfolder = \"{JOURNAL}\"\n\n\
             [conduct]\n# cancel_on_quit = true    # cancel all orders at the end of a run\n\n\
             [instruments]\n{instruments}",
            env!("CARGO_PKG_VERSION"),
        );
        write_file(path, &text)
    }

    /// Writes the configuration file for the groups found in a capture.
    ///
    /// # Errors
    /// Those of the file system, with the path.
    pub(super) fn write_detected(&self, groups: &CaptureGroups, interface: Ipv4Addr) -> Result<()> {
        self.write_addresses(&Addresses::Multicast(groups.multicast(interface)))
    }

    fn write_addresses(&self, addresses: &Addresses) -> Result<()> {
        let Some(path) = &self.config else { return Ok(()) };
        let id = self.arguments.channel();
        let mut channel = ChannelConfig::from_addresses(&id, "Hairpin's benchmark", addresses);
        // The routes of most hosts lead multicast to another interface than lo.
        if let Addresses::Multicast(feeds) = addresses
            && feeds.interface.is_loopback()
        {
            let multicast = channel.connections.iter_mut().filter(|it| it.group.is_some());
            multicast.for_each(|it| it.interface = Some(feeds.interface));
        }
        let config = Config {
            environment: "Hairpin".to_owned(),
            channels: vec![channel],
            ..Config::default()
        };
        let (start, text) = (r#"<?xml version="1.0" encoding="UTF-8"?>"#, config.to_string());
        write_file(path, &text.replacen(start, &format!("{start}\n<!-- {MARK} -->"), 1))
    }
}

/// Returns the file of the key next to order.toml.
fn key_file(path: &Path) -> PathBuf {
    path.with_extension("key")
}

/// Returns the gateway that an order.toml of before names, if a program still listens there.
fn running_gateway(order: &Path) -> Option<SocketAddr> {
    let text = order.is_file().then(|| fs::read_to_string(order).ok()).flatten()?;
    let (_, gateways) = text.split_once("primary = [\"")?;
    let gateway = gateways.split_once('"')?.0.parse::<SocketAddr>().ok()?;
    let error = TcpListener::bind(gateway).err()?;
    (error.kind() == io::ErrorKind::AddrInUse).then_some(gateway)
}

/// Checks that a file does not exist, has the mark, or is a device. `flag` names another one.
fn check_replaceable(path: Option<&Path>, flag: &str) -> Result<()> {
    let Some(path) = path.filter(|path| path.is_file()) else { return Ok(()) };
    let text = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let start = String::from_utf8_lossy(&text[..text.len().min(MARK_WITHIN)]).into_owned();
    if !start.contains(MARK) {
        bail!(
            "cannot replace {}: `hairpin exchange` has not written it: use another folder, or \
             {flag} FILE",
            path.display()
        );
    }
    Ok(())
}

fn write_file(path: &Path, text: &str) -> Result<()> {
    write_text(path, text).with_context(|| format!("{} cannot be written", path.display()))
}

/// Writes the published test key to a file that only the user can access, as the key files of
/// sessions must be. Does not replace another file.
fn write_test_key(path: &Path, key: &str) -> Result<()> {
    let failed = || format!("{} cannot be written", path.display());
    let mut options = OpenOptions::new();
    match options.write(true).create_new(true).mode(0o600).open(path) {
        Ok(mut file) => writeln!(file, "{key}").with_context(failed),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let found = Secret::read_file(path, true).with_context(failed)?;
            if found.as_text().map(str::trim) != Some(key) {
                bail!("{}: the file exists with another key", failed());
            }
            let permissions = Permissions::from_mode(0o600);
            fs::set_permissions(path, permissions).with_context(failed)
        }
        Err(error) => Err(error).with_context(failed),
    }
}

/// Returns a symbol as a TOML key, quoted if it has blanks.
fn toml_key(symbol: &str) -> String {
    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    match !symbol.is_empty() && symbol.bytes().all(is_bare) {
        true => symbol.to_owned(),
        false => toml::Value::String(symbol.to_owned()).to_string(),
    }
}

/// Returns a path as a TOML string.
fn quoted(path: &Path) -> toml::Value {
    toml::Value::String(path.display().to_string())
}
