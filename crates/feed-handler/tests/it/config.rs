//! CME's configuration files: real, generated and broken.
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::PathBuf;

use hairpin_feed_handler::config::{
    ChannelConfig, Config, ConfigError, ConnectionConfig, FeedType, Product, Protocol,
};
use hairpin_feed_handler::{Addresses, FeedLine};
use proptest::prelude::*;

const INTERFACE: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);

/// Returns a file of real data, or `None` if it is not available.
fn real(name: &str) -> Option<String> {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared");
    let folder =
        std::env::var_os("HAIRPIN_DATA").map_or_else(|| PathBuf::from(default), PathBuf::from);
    let text = std::fs::read_to_string(folder.join("config").join(name));
    if text.is_err() {
        assert!(std::env::var_os("HAIRPIN_DATA_REQUIRED").is_none(), "{name} is missing");
        println!("skipped: no {name}");
    }
    text.ok()
}

#[test]
fn reads_published_cme_files() {
    // Channels, connections and products, counted by an independent program.
    let counted = [
        ("cme-config-production-2016.xml", "Production", 40, 356, 2302),
        ("cme-config-certification-2018.xml", "Certification", 66, 310, 975),
    ];
    for (name, environment, channels, connections, products) in counted {
        let Some(text) = real(name) else { continue };
        let config: Config = text.parse().unwrap();
        assert!(config.environment.eq_ignore_ascii_case(environment), "{}", config.environment);
        assert_eq!(config.channels.len(), channels, "{name}");
        let of =
            |count: fn(&ChannelConfig) -> usize| config.channels.iter().map(count).sum::<usize>();
        assert_eq!(of(|channel| channel.connections.len()), connections, "{name}");
        assert_eq!(of(|channel| channel.products.len()), products, "{name}");
        for channel in &config.channels {
            // Some channels of the certification file have replay loops only.
            let is_feed = |it: &ConnectionConfig| it.protocol == Protocol::Udp;
            let has_one = channel.connections.iter().any(is_feed);
            assert_eq!(channel.addresses(INTERFACE).is_ok(), has_one, "{}", channel.id);
        }
        assert_eq!(config.to_string().parse::<Config>().unwrap(), config, "{name}");
    }
}

#[test]
fn cme_channel_has_its_published_addresses() {
    let Some(text) = real("cme-config-production-2016.xml") else { return };
    let config: Config = text.parse().unwrap();
    let channel = config.channel(Some("310")).unwrap();
    assert_eq!(channel.label, "CME Globex Equity Futures");
    assert_eq!(channel.products, [Product { code: "ES".into(), groups: vec!["ES".into()] }]);
    let Addresses::Multicast(feeds) = channel.addresses(INTERFACE).unwrap() else { panic!() };
    let address = |text: &str| text.parse::<SocketAddrV4>().unwrap();
    let a = feeds.incremental.a.unwrap();
    assert_eq!(a.address, address("224.0.31.1:14310"));
    assert_eq!(
        a.sources,
        ["205.209.223.70", "205.209.221.70"].map(|it| it.parse::<Ipv4Addr>().unwrap())
    );
    assert_eq!(feeds.instrument.b.unwrap().address, address("224.0.32.43:15310"));
    assert_eq!(feeds.snapshot.a.unwrap().address, address("224.0.31.22:14310"));
    assert_eq!(feeds.snapshot_orders.a.unwrap().address, address("233.72.75.1:23310"));
    let replay = channel.connections.iter().find(|it| it.feed_type == FeedType::HistoricalReplay);
    let replay = replay.unwrap();
    assert!(channel.replay_hosts().contains(&SocketAddrV4::new(replay.hosts[0], 10_000)));
    let server = feeds.replay.unwrap();
    assert_eq!((&*server.channel, &server.hosts), ("310", &channel.replay_hosts()));
    assert_eq!((&replay.protocol, replay.group, replay.port), (&Protocol::Tcp, None, 10_000));
}

/// Returns a configuration file with one connection.
fn file(connection: &str) -> String {
    format!(
        "<configuration environment='Test'>\n<channel id='1'><connections>\n\
         <connection id='1IA'>{connection}</connection></connections></channel></configuration>"
    )
}

const GOOD: &str = "<type feed-type='I'/><protocol>UDP/IP</protocol><ip>239.1.1.1</ip>\
                    <host-ip>10.0.0.9</host-ip><port>5000</port><feed>A</feed>";

#[test]
fn ignores_unknown_elements_and_white_space() {
    let plain: Config = file(GOOD).parse().unwrap();
    let decorated = GOOD
        .replace("<port>", "<!-- a port --><extra><port>1</port></extra><port>\n  ")
        .replace("<feed>A", "<feed> A\n");
    assert_eq!(file(&decorated).parse::<Config>().unwrap(), plain);
    // An unknown protocol is parsed, but the connection is not received.
    let other: Config = file(&GOOD.replace("UDP/IP", "QUIC")).parse().unwrap();
    assert_eq!(other.channels[0].connections[0].protocol, Protocol::Other("QUIC".to_owned()));
    assert!(other.channels[0].addresses(INTERFACE).is_err());
    assert_eq!(plain.channels[0].connections[0].feed_type, FeedType::Incremental);
}

/// Returns the error of the only channel of a file, or of the file.
fn error_of(text: &str) -> String {
    let config = match text.parse::<Config>() {
        Ok(config) => config,
        Err(error) => return error.to_string(),
    };
    // Written and read again, it has the same fault.
    assert_eq!(config.to_string().parse::<Config>().unwrap(), config, "{config}");
    assert_eq!(config.channels.len(), 1);
    let channel = config.channel(None).unwrap();
    assert!(channel.lines(&FeedType::Snapshot).is_err(), "{text}");
    channel.addresses(INTERFACE).unwrap_err().to_string()
}

#[test]
fn reports_missing_and_invalid_values_in_one_line() {
    let without = |part: &str| file(&GOOD.replace(part, ""));
    let with = |old: &str, new: &str| file(&GOOD.replace(old, new));
    let invalid = [
        (String::new(), ""),
        ("<configuration".into(), ""),
        ("<templates/>".into(), "line 1: expected <configuration>, found <templates>"),
        (without("<type feed-type='I'/>"), "line 3: <connection> has no type"),
        (without(" feed-type='I'"), "line 3: <type> has no feed-type"),
        (without("<port>5000</port>"), "<connection> has no port"),
        (without("<feed>A</feed>"), "<connection> has no feed"),
        (without("<protocol>UDP/IP</protocol>"), "<connection> has no protocol"),
        (with("5000", "70000"), "line 3: <port>: '70000' is not a valid port"),
        (with("5000", "-1"), "'-1' is not a valid port"),
        (with("239.1.1.1", "239.1.1"), "'239.1.1' is not a valid IPv4 address"),
        (with("10.0.0.9", "host"), "'host' is not a valid IPv4 address"),
        (with("10.0.0.9", "10.0&#10;.0&#9;.9"), "'10.0 .0 .9' is not a valid IPv4 address"),
        (with(">A<", ">C<"), "'C' is not a valid side"),
        (file(GOOD).replace("channel id='1'", "channel"), "line 2: <channel> has no id"),
        (format!("<!DOCTYPE x [<!ENTITY a 'aa'>]>{}", file(GOOD)), ""),
    ];
    for (text, expected) in invalid {
        let error = error_of(&text);
        assert!(error.contains(expected), "{text}: {error}");
        assert_eq!(error.lines().count(), 1, "{text}: {error}");
    }
    let expected = "channel 1: connection 1IA: line 3: <port>: '70000' is not a valid port";
    assert_eq!(error_of(&with("5000", "70000")), expected);
    let long = with("5000", &"9".repeat(50));
    assert!(error_of(&long).contains(&format!("<port>: '{}\u{2026}'", "9".repeat(39))));
}

#[test]
fn invalid_entry_is_an_error_of_its_channel_alone() {
    let invalid = [
        GOOD.replace("239.1.1.1", ""),
        GOOD.replace("239.1.1.1", "239.1.1"),
        GOOD.replace("<port>5000</port>", ""),
        GOOD.replace("5000", "65536"),
        GOOD.replace("5000", ""),
        GOOD.replace("5000", "0"),
        GOOD.replace(">A<", ">C<"),
        GOOD.replace(">A<", "><"),
        GOOD.replace("<feed>A</feed>", ""),
        GOOD.replace(" feed-type='I'", ""),
        GOOD.replace("<protocol>UDP/IP</protocol>", ""),
        GOOD.replace("10.0.0.9", "sender.example"),
        GOOD.replace("239.1.1.1", "10.1.1.1"),
        GOOD.replace("<ip>239.1.1.1</ip>", ""),
        GOOD.replace("UDP/IP", "QUIC"),
        GOOD.replace("'I'", "'X'"),
        format!("{GOOD}</connection><connection id='2IA'>{GOOD}"),
        format!("{GOOD}</connection><connection id='2IB'>{GOOD}"),
    ];
    for connection in invalid {
        let other = format!(
            "<channel id='2'><connections><connection id='2IA'>{connection}</connection>\
             </connections></channel></configuration>"
        );
        let config: Config = file(GOOD).replace("</configuration>", &other).parse().unwrap();
        assert_eq!(config.to_string().parse::<Config>().unwrap(), config);
        let of = |id| config.channel(Some(id)).unwrap().addresses(INTERFACE);
        assert!(of("1").is_ok(), "{connection}");
        let error = of("2").unwrap_err().to_string();
        assert!(error.contains("channel 2: ") && !error.contains('\n'), "{connection}: {error}");
        let names_connection = error.contains("connection 2IA") || error.contains("duplicate");
        assert!(names_connection, "{connection}: {error}");
    }
    let broken = file(&GOOD.replace("5000", "x"));
    let error = broken.parse::<Config>().unwrap().channel(Some("2")).unwrap_err().to_string();
    assert_eq!(error, "cannot find channel 2: the file has channels 1 (invalid)");
}

#[test]
fn reads_utf_16_and_iso_8859_1() {
    let text = file(GOOD).replace("id='1'", "id='1' label='Z\u{fc}rich'");
    let declared = |encoding: &str| format!("<?xml version='1.0' encoding='{encoding}'?>\n{text}");
    let latin = |text: &str| text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    let wide =
        |text: &str, bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect();
    let files: [Vec<u8>; 7] = [
        latin(&declared("ISO-8859-1")),
        latin(&text),
        wide(&declared("UTF-16"), u16::to_le_bytes),
        wide(&format!("\u{feff}{}", declared("UTF-16")), u16::to_le_bytes),
        wide(&format!("\u{feff}{text}"), u16::to_be_bytes),
        format!("\u{feff}{text}").into_bytes(),
        declared("UTF-8").into_bytes(),
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.xml");
    for bytes in files {
        std::fs::write(&path, &bytes).unwrap();
        let config = Config::read(&path).unwrap();
        assert_eq!(config, text.parse().unwrap());
        assert_eq!(config.channels[0].label, "Z\u{fc}rich");
    }
    std::fs::write(&path, b"\xff\xfe<").unwrap();
    let error = Config::read(&path).unwrap_err().to_string();
    assert_eq!(error, "not text in UTF-16, although it begins as such");
}

#[test]
fn connections_of_unknown_kinds_are_named() {
    let other = GOOD.replace("'I'", "'X'");
    let channel = with_another(&other);
    assert!(channel.addresses(INTERFACE).is_ok());
    let unknown: Vec<_> =
        channel.unknown_connections().map(|(it, cause)| (&*it.id, cause)).collect();
    assert_eq!(unknown, [("1X", "unknown feed-type 'X'".to_owned())]);
    let config: Config = file(&other).parse().unwrap();
    let error = config.channels[0].addresses(INTERFACE).unwrap_err().to_string();
    let expected = "cannot receive channel 1: no incremental feed (feed-type I); connection 1IA: \
                    unknown feed-type 'X'";
    assert_eq!(error, expected);
}

#[test]
fn finds_a_channel_by_id_or_as_the_only_one() {
    let channel = |id: &str| ChannelConfig { id: id.into(), ..ChannelConfig::default() };
    let two = Config { channels: vec![channel("1"), channel("2")], ..Config::default() };
    assert_eq!(two.channel(Some("2")).unwrap().id, "2");
    let error = two.channel(Some("3")).unwrap_err().to_string();
    assert_eq!(error, "cannot find channel 3: the file has channels 1, 2");
    let error = two.channel(None).unwrap_err().to_string();
    assert_eq!(error, "cannot choose a channel: the file has channels 1, 2; give its id");
    let one = Config { channels: vec![channel("1")], ..Config::default() };
    assert_eq!(one.channel(None).unwrap().id, "1");
    assert!(matches!(Config::default().channel(None), Err(ConfigError::SeveralChannels { .. })));
}

#[test]
fn rejects_duplicate_and_incomplete_connections() {
    let config: Config = file(GOOD).parse().unwrap();
    let channel = &config.channels[0];
    let mut twice = channel.clone();
    twice.connections.push(twice.connections[0].clone());
    let error = twice.addresses(INTERFACE).unwrap_err().to_string();
    assert_eq!(error, "channel 1: duplicate connection for feed-type I, side A");
    let mut incomplete = channel.clone();
    incomplete.connections[0].group = None;
    let error = incomplete.addresses(INTERFACE).unwrap_err().to_string();
    assert_eq!(error, "channel 1: connection 1IA has no <ip>");
    incomplete.connections[0].protocol = Protocol::Tcp;
    incomplete.connections[0].hosts.clear();
    let error = incomplete.addresses(INTERFACE).unwrap_err().to_string();
    assert_eq!(error, "channel 1: connection 1IA has no <host-ip>");
    incomplete.connections.clear();
    let error = incomplete.addresses(INTERFACE).unwrap_err();
    assert!(matches!(error, ConfigError::NoIncrementalFeed { .. }));
}

/// Returns the channel of the file with a second connection.
fn with_another(connection: &str) -> ChannelConfig {
    let another = format!("</connection><connection id='1X'>{connection}</connection>");
    let text = file(GOOD).replacen("</connection>", &another, 1);
    text.parse::<Config>().unwrap().channels.remove(0)
}

#[test]
fn multicast_is_preferred_over_tcp() {
    let tcp = GOOD.replace("UDP/IP", "TCP/IP").replace("<ip>239.1.1.1</ip>", "");
    let addresses = with_another(&tcp).addresses(INTERFACE).unwrap();
    let Addresses::Multicast(feeds) = addresses else { panic!("{addresses:?}") };
    assert_eq!(feeds.incremental.a.unwrap().address, "239.1.1.1:5000".parse().unwrap());
}

#[test]
fn order_snapshots_have_separate_groups() {
    let orders = GOOD.replace("'I'", "'SMBO'").replace("239.1.1.1", "239.1.1.2");
    let addresses = with_another(&orders).addresses(INTERFACE).unwrap();
    let Addresses::Multicast(feeds) = addresses else { panic!("{addresses:?}") };
    assert_eq!(feeds.snapshot_orders.a.unwrap().address, "239.1.1.2:5000".parse().unwrap());
    assert!(feeds.snapshot.a.is_none());
}

#[test]
fn lists_every_tcp_replay_host() {
    let replay = GOOD.replace("'I'", "'H'").replace("<ip>239.1.1.1</ip>", "");
    let by_tcp = replay.replace("UDP/IP", "TCP/IP");
    let two = by_tcp.replace("<port>", "<host-ip>10.0.0.8</host-ip><port>");
    let hosts = ["10.0.0.9:5000", "10.0.0.8:5000"].map(|host| host.parse().unwrap());
    assert_eq!(with_another(&two).replay_hosts(), hosts);
    assert!(with_another(&replay).replay_hosts().is_empty());
}

#[test]
fn rejects_duplicate_ids_and_unicast_groups() {
    let valid = file(GOOD);
    let twice = valid.replace("</configuration>", "\n<channel id='1'/></configuration>");
    let config: Config = twice.parse().unwrap();
    for channel in &config.channels {
        let error = channel.addresses(INTERFACE).unwrap_err().to_string();
        assert_eq!(error, "channel 1: line 4: duplicate <channel> id 1");
    }
    let again = format!("</connection>\n<connection id='1IA'>{GOOD}</connection></connections>");
    let twice = valid.replace("</connection></connections>", &again);
    let expected = "channel 1: connection 1IA: line 4: duplicate <connection> id 1IA";
    assert_eq!(error_of(&twice), expected);
    let config: Config = file(&GOOD.replace("239.1.1.1", "10.1.1.1")).parse().unwrap();
    let error = config.channels[0].addresses(INTERFACE).unwrap_err().to_string();
    let expected = "channel 1: connection 1IA: <ip>: 10.1.1.1 is not a multicast address";
    assert_eq!(error, expected);
}

#[test]
fn xml_error_is_one_line() {
    let error = |text: &str| text.parse::<Config>().unwrap_err().to_string();
    assert_eq!(error("<a/\n>"), r"expected '>' not '\n' at 1:4");
    assert_eq!(error("<a b=\n\u{1}>").lines().count(), 1);
}

#[test]
fn limits_length_depth_and_width_of_a_document() {
    let deep = "<a>".repeat(500_000) + &"</a>".repeat(500_000);
    assert!(deep.parse::<Config>().is_err());
    let wide = format!("<configuration>{}</configuration>", "<a/>".repeat(1 << 20));
    assert!(matches!(wide.parse::<Config>(), Err(ConfigError::Xml(_))));
    let file = std::env::temp_dir().join(format!("hairpin-config-{}.xml", std::process::id()));
    std::fs::write(&file, " ".repeat((16 << 20) + 1)).unwrap();
    let error = Config::read(&file).unwrap_err();
    std::fs::remove_file(&file).unwrap();
    assert_eq!(error.to_string(), "cannot read configuration: longer than 16777216 bytes");
}

#[test]
fn tcp_addresses_round_trip() {
    let lines = hairpin_feed_handler::TcpLines {
        interface: INTERFACE,
        ..hairpin_feed_handler::TcpLines::both(
            "10.0.0.2:5001".parse().unwrap(),
            "10.0.0.2:5002".parse().unwrap(),
        )
    };
    let addresses = Addresses::Tcp(lines);
    let channels = vec![ChannelConfig::from_addresses("310", "Hairpin", &addresses)];
    let text = Config { channels, ..Config::default() }.to_string();
    let read: Config = text.parse().unwrap();
    assert_eq!(read.channels[0].addresses(INTERFACE).unwrap(), addresses);
    assert_eq!(read.channels[0].connections[1].side, FeedLine::B);
}

#[test]
fn tcp_side_uses_its_first_host() {
    let good = GOOD.replace("UDP/IP", "TCP/IP").replace("<ip>239.1.1.1</ip>", "");
    let hosts = good.replace("<port>", "<host-ip>10.0.0.10</host-ip><port>");
    let read: Config = file(&hosts).parse().unwrap();
    let a = Some("10.0.0.9:5000".parse().unwrap());
    let lines = hairpin_feed_handler::TcpLines { a, b: None, interface: INTERFACE };
    assert_eq!(read.channels[0].addresses(INTERFACE).unwrap(), Addresses::Tcp(lines));
}

fn text() -> impl Strategy<Value = String> {
    "[ -~\t\n\r\u{e9}\u{20ac}]{0,12}"
}

fn connections() -> impl Strategy<Value = ConnectionConfig> {
    let feed_type = prop_oneof!["I|N|S|SMBO|H", "[a-zA-Z<&\"' ]{0,6}"];
    let hosts = prop::collection::vec(any::<[u8; 4]>(), 0..3);
    let shape = (any::<bool>(), any::<Option<[u8; 4]>>(), hosts, any::<u16>(), any::<bool>());
    (text(), feed_type, shape).prop_map(|(id, feed_type, (is_udp, group, hosts, port, is_a))| {
        ConnectionConfig {
            id,
            feed_type: FeedType::from_code(&feed_type),
            protocol: match (is_udp, port % 3) {
                (_, 0) => Protocol::Other("A & \"<B>\"".to_owned()),
                (true, _) => Protocol::Udp,
                (false, _) => Protocol::Tcp,
            },
            group: group.map(Ipv4Addr::from),
            hosts: hosts.into_iter().map(Ipv4Addr::from).collect(),
            port,
            side: if is_a { FeedLine::A } else { FeedLine::B },
            interface: (port % 5 == 0).then_some(Ipv4Addr::new(10, 0, 0, 1)),
        }
    })
}

fn channels() -> impl Strategy<Value = ChannelConfig> {
    let groups = prop::collection::vec(text(), 0..3);
    let product = (text(), groups).prop_map(|(code, groups)| Product { code, groups });
    let products = prop::collection::vec(product, 0..3);
    let connections = prop::collection::vec(connections(), 0..4);
    (text(), text(), products, connections).prop_map(|(id, label, products, mut connections)| {
        number(connections.iter_mut().map(|connection| &mut connection.id));
        ChannelConfig { id, label, products, connections, ..ChannelConfig::default() }
    })
}

/// Makes ids unique.
fn number<'a>(ids: impl Iterator<Item = &'a mut String>) {
    for (number, id) in ids.enumerate() {
        id.push_str(&number.to_string());
    }
}

proptest! {
    #[test]
    fn config_round_trips(
        environment in text(),
        updated in text(),
        mut channels in prop::collection::vec(channels(), 0..4),
    ) {
        number(channels.iter_mut().map(|channel| &mut channel.id));
        let config = Config { environment, updated, channels };
        prop_assert_eq!(config.to_string().parse::<Config>().unwrap(), config);
    }

    #[test]
    fn never_panics_on_altered_text(
        channel in channels(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<char>()), 0..8),
    ) {
        let mut text: Vec<char> =
            Config { channels: vec![channel], ..Config::default() }.to_string().chars().collect();
        for (index, character) in changes {
            let index = index.index(text.len());
            text[index] = character;
        }
        let text: String = text.into_iter().collect();
        if let Ok(config) = text.parse::<Config>() {
            for channel in &config.channels {
                let _ = channel.addresses(INTERFACE);
            }
        }
    }

    #[test]
    fn text_that_xml_cannot_represent_still_gives_a_valid_file(label: String) {
        let channel = ChannelConfig { id: "1".to_owned(), label, ..ChannelConfig::default() };
        let text = Config { channels: vec![channel], ..Config::default() }.to_string();
        prop_assert!(text.parse::<Config>().is_ok());
    }

    /// Bytes of a real file are altered, removed and duplicated. A parsed result must be writable.
    #[test]
    fn altered_real_file_is_parsed_or_rejected_in_one_line(
        is_production: bool,
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..4u8, any::<u8>()), 1..6),
        cut in 8_000..40_000usize,
    ) {
        let (production, other) =
            ("cme-config-production-2016.xml", "cme-config-certification-2018.xml");
        let Some(text) = real(if is_production { production } else { other }) else {
            return Ok(());
        };
        // Use a prefix of whole lines, to parse quickly.
        let end = text[..cut].rfind('\n').unwrap_or(cut);
        let end = text[..end].rfind("</channel>").map_or(end, |end| end + "</channel>".len());
        let mut bytes = [&text.as_bytes()[..end], b"</configuration>"].concat();
        for (place, edit, value) in edits {
            let place = place.index(bytes.len());
            let end = (place + usize::from(value)).min(bytes.len() - 1).max(place);
            match edit {
                0 => bytes[place] = value,
                1 => bytes[place] ^= 1 << (value % 8),
                2 => drop(bytes.drain(place..end)),
                _ => {
                    let again = bytes[place..end].to_vec();
                    drop(bytes.splice(place..place, again));
                }
            }
        }
        let Ok(text) = String::from_utf8(bytes) else { return Ok(()) };
        match text.parse::<Config>() {
            Err(error) => prop_assert_eq!(error.to_string().lines().count(), 1, "{}", error),
            Ok(config) => {
                for channel in &config.channels {
                    let _ = channel.addresses(INTERFACE);
                }
                prop_assert_eq!(config.to_string().parse::<Config>().unwrap(), config);
            }
        }
    }
}
