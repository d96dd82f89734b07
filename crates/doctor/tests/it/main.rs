//! Compares the report with what opening an interface does, between hosts made for it.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use hairpin_doctor::{ExamineError, Report, Severity, examine};
use hairpin_stack::{Stack, StackSettings};
use hairpin_testbed::{Queues, Testbed, become_ordinary_user};

fn found<'a>(report: &'a Report, id: &str) -> Option<&'a str> {
    let mut findings = report.findings.iter().filter(|finding| finding.id == id);
    findings.next().map(|finding| finding.found.as_str())
}

fn open(name: &str, tcp: bool) -> Result<Stack, String> {
    let settings = StackSettings { tcp, ..StackSettings::default() };
    Stack::open(name, &settings).map_err(|error| error.to_string())
}

#[test]
#[ignore = "needs root"]
fn summary_is_what_a_stack_does() {
    for count in [1, 2] {
        let queues = Queues { rx: count, tx: count };
        let testbed = Testbed::builder().queues(queues).build().unwrap();
        let [host, _] = testbed.hosts();
        let name = host.interface();
        host.run(|| {
            let report = examine(Some(name)).unwrap();
            let [interface] = &report.interfaces[..] else { panic!("{report}") };
            assert_eq!(interface.obstacle, None);
            assert_eq!((interface.queues, interface.mtu), (count, host.mtu().unwrap()));
            for (tcp, mode) in [(false, &interface.mode), (true, &interface.tcp_mode)] {
                let stack = open(name, tcp).unwrap();
                let plural = if count == 1 { "" } else { "s" };
                let mode = mode.as_ref().unwrap();
                let expected = format!("{name}: veth, {count} queue{plural}, {mode} mode, copy");
                assert!(stack.to_string().starts_with(&expected), "{stack}");
            }
        })
        .unwrap();
    }
}

#[test]
#[ignore = "needs root"]
fn program_that_is_attached_is_found_with_its_process() {
    let testbed = Testbed::namespaces().unwrap();
    let [host, _] = testbed.hosts();
    host.run(|| {
        assert_eq!(found(&examine(None).unwrap(), "interface.program"), None);
        let _stack = open(host.interface(), false).unwrap();
        let report = examine(Some(host.interface())).unwrap();
        let program = found(&report, "interface.program").unwrap();
        let process = format!("(process {})", std::process::id());
        assert!(program.contains(&process) && report.has_important(), "{program}");
    })
    .unwrap();
}

#[test]
#[ignore = "needs root"]
fn mtu_above_a_frame_is_named_as_the_stack_treats_it() {
    let testbed = Testbed::builder().mtu(9_000).build().unwrap();
    let [host, _] = testbed.hosts();
    host.run(|| {
        let report = examine(Some(host.interface())).unwrap();
        // Linux 6.6 and newer deliver long frames in parts.
        let error = open(host.interface(), false).err();
        let long = Some("MTU 9000: packets above 3822 bytes").filter(|_| error.is_none());
        assert_eq!(found(&report, "interface.mtu"), error.as_deref());
        assert_eq!(found(&report, "interface.long_packets"), long);
        assert_eq!(report.interfaces[0].obstacle, error);
    })
    .unwrap();
}

#[test]
#[ignore = "needs root"]
fn interface_that_is_down_is_examined_only_by_name() {
    let testbed = Testbed::namespaces().unwrap();
    let [host, _] = testbed.hosts();
    host.rtnetlink().unwrap().set_down(host.interface_index()).unwrap();
    host.run(|| {
        assert_eq!(examine(None).unwrap().interfaces, []);
        let report = examine(Some(host.interface())).unwrap();
        assert_eq!(found(&report, "interface.down"), Some("the interface is down"));
    })
    .unwrap();
}

#[test]
#[ignore = "needs root"]
fn ordinary_user_is_told_what_is_missing_and_what_was_not_read() {
    let testbed = Testbed::namespaces().unwrap();
    let [host, _] = testbed.hosts();
    host.run(|| {
        become_ordinary_user(&[]).unwrap();
        let report = examine(None).unwrap();
        let missing = found(&report, "privileges.capabilities");
        assert_eq!(missing, Some("missing CAP_NET_ADMIN, CAP_NET_RAW, CAP_BPF"));
        assert!(found(&report, "firewall.unread").is_some(), "{report}");
        assert!(!report.unread.is_empty());
        let text = report.to_string();
        assert!(text.contains("\nNot readable for this user: "), "{text}");
    })
    .unwrap();
}

#[test]
fn loopback_stays_with_the_kernel() {
    let report = examine(Some("lo")).unwrap();
    let [interface] = &report.interfaces[..] else { panic!("{report}") };
    assert_eq!((interface.mode.as_ref(), interface.queues), (None, 1));
    let loopback = report.findings.iter().find(|finding| finding.id == "interface.loopback");
    assert_eq!(loopback.unwrap().severity, Severity::Important);
}

#[test]
fn missing_interface_is_an_error() {
    let error = examine(Some("nope0")).unwrap_err();
    assert!(matches!(error, ExamineError::Device(_)));
    assert_eq!(error.to_string(), "cannot find interface nope0: no such interface");
}
