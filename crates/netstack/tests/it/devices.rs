//! Devices and addresses that change while the engine runs, and the queries about them.

use crate::support::*;
use hairpin_netstack::{DeviceSettings, Error, Kernel, SocketOptions, Verdict};
use hairpin_wire::MacAddress;

#[test]
fn device_changes_its_address_and_mtu() {
    let (mut engine, device) = engine();
    let socket = bound(&mut engine, at("10.0.0.1", 7));
    let mut frame = frame(at("10.0.0.2", 9), at("10.0.0.1", 7), b"x");
    let new = MacAddress([2, 0, 0, 0, 0, 9]);
    engine.handle_frame(NOW, device, &frame, &mut Seen::default());
    engine.set_device(device, new, 576).unwrap();
    let expected = DeviceSettings { mac: new, mtu: 576, ..DEVICE };
    assert_eq!(engine.device_settings(device).unwrap(), expected);
    let verdict = engine.handle_frame(NOW, device, &frame, &mut Seen::default());
    assert_eq!(verdict, Verdict::Kernel(Kernel::OtherMac));
    frame[..6].copy_from_slice(&new.0);
    let verdict = engine.handle_frame(NOW, device, &frame, &mut Seen::default());
    assert_eq!(verdict, Verdict::Delivered(1));
    let header = engine.prepare(socket, &route(device, "10.0.0.1", at("10.0.0.2", 9))).unwrap();
    assert_eq!(header.limit(), 576 - 28);
    let mut buffer = [0; 100];
    engine.send(&header, 1, &mut buffer, |_| {}).unwrap();
    assert_eq!(buffer[6..12], new.0);
}

#[test]
fn removed_device_loses_its_addresses_and_memberships() {
    let (mut engine, device) = engine();
    let vlan = DeviceSettings { vlan: Some((device, 5)), ..DEVICE };
    let vlan = engine.add_device(&vlan).unwrap();
    let other = engine.add_device(&DEVICE).unwrap();
    let (group, socket) = (ip("239.1.1.1"), bound(&mut engine, at("0.0.0.0", 7)));
    for device in [device, other] {
        engine.join(socket, device, group).unwrap();
    }
    let to_host = frame(at("10.0.0.2", 9), at("10.0.0.1", 7), b"x");
    let to_group = frame(at("10.0.0.2", 9), at("239.1.1.1", 7), b"x");
    engine.handle_frame(NOW, device, &to_host, &mut Seen::default());
    assert_eq!(engine.remove_device(device), Err(Error::HasVlans));
    engine.remove_device(vlan).unwrap();
    engine.remove_device(device).unwrap();
    assert_eq!(engine.remove_device(device), Err(Error::NoSuchDevice));
    assert_eq!(engine.device_ids().collect::<Vec<_>>(), [other]);
    assert_eq!(engine.groups(socket).collect::<Vec<_>>(), [(other, group)]);
    assert_eq!(engine.addresses(device).count(), 0);
    for (at, frame, expected) in [
        (device, &to_host, Verdict::Kernel(Kernel::OtherDevice)),
        (other, &to_host, Verdict::Kernel(Kernel::NoSocket)),
        (other, &to_group, Verdict::Delivered(1)),
    ] {
        assert_eq!(engine.handle_frame(NOW, at, frame, &mut Seen::default()), expected);
    }
    let again = engine.add_device(&DEVICE).unwrap();
    assert_eq!((again, engine.device_counters(again).unwrap().frames), (device, 0));
    let verdict = engine.handle_frame(NOW, again, &to_group, &mut Seen::default());
    assert_eq!(verdict, Verdict::Kernel(Kernel::NoSocket));
}

#[test]
fn invalid_vlan_identifiers_are_rejected() {
    let (mut engine, device) = engine();
    for identifier in [0, 4_095, 4_096] {
        let settings = DeviceSettings { vlan: Some((device, identifier)), ..DEVICE };
        assert_eq!(engine.add_device(&settings), Err(Error::NoSuchVlan));
    }
    let settings = DeviceSettings { vlan: Some((device, 4_094)), ..DEVICE };
    let vlan = engine.add_device(&settings).unwrap();
    assert_eq!(engine.device_settings(vlan).unwrap(), settings);
}

#[test]
fn settings_can_be_read_back() {
    let (mut engine, device) = engine();
    let addresses: Vec<_> = engine.addresses(device).collect();
    assert_eq!(addresses, [ip("10.0.0.1"), ip("fd00::1")]);
    let options = SocketOptions {
        ttl: 1,
        multicast_ttl: 2,
        traffic_class: 3,
        broadcast: true,
        checksum: false,
        reuse_address: true,
        dual_stack: true,
        multicast_all: true,
    };
    let socket = engine.open_socket(&SocketOptions::default()).unwrap();
    assert_eq!(engine.options(socket).unwrap(), SocketOptions::default());
    engine.set_options(socket, &options).unwrap();
    assert_eq!(engine.options(socket).unwrap(), options);
    assert_eq!(engine.endpoints(socket).unwrap(), (None, None));
    engine.bind(socket, at("0.0.0.0", 7)).unwrap();
    assert_eq!(engine.endpoints(socket).unwrap(), (Some(at("0.0.0.0", 7)), None));
    let peer = at("10.0.0.2", 9);
    engine.connect(socket, ip("10.0.0.1"), peer).unwrap();
    assert_eq!(engine.endpoints(socket).unwrap(), (Some(at("10.0.0.1", 7)), Some(peer)));
    let other = bound(&mut engine, at("::", 7));
    assert_eq!(engine.socket_ids().collect::<Vec<_>>(), [socket, other]);
    engine.close(socket).unwrap();
    assert_eq!(engine.socket_ids().collect::<Vec<_>>(), [other]);
    assert_eq!(engine.endpoints(socket), Err(Error::NoSuchSocket));
}
