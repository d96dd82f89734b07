//! The scripts, below `gtests/net/tcp` of packetdrill.

/// A script.
pub(super) struct Script {
    pub(super) name: &'static str,
    /// The reason why it does not pass; `None` if it passes.
    pub(super) fails: Option<&'static str>,
}

const fn passes(name: &'static str) -> Script {
    Script { name, fails: None }
}

const fn fails(name: &'static str, reason: &'static str) -> Script {
    Script { name, fails: Some(reason) }
}

const RATE: &str = "after a loss, the kernel sends one segment for each that was delivered (PRR); \
                    the engine sends as many as the congestion window permits";
const PUSH: &str = "the kernel sets PSH before the end of the data that were written";
const INFO: &str = "the script reads TCP_INFO";
const CORK: &str = "the shared object has neither TCP_CORK nor MSG_MORE";
const CONNECT: &str = "the script connects: only a listening socket has a handshake here";

/// The scripts for SACK, fast retransmit and recovery, limited transmit, timestamps and Nagle.
pub(super) const SCRIPTS: &[Script] = &[
    fails("sack/sack-route-refresh-ip-tos.pkt", CONNECT),
    fails("sack/sack-shift-sacked-2-6-8-3-9-nofack.pkt", RATE),
    fails("sack/sack-shift-sacked-7-3-4-8-9-fack.pkt", RATE),
    fails("sack/sack-shift-sacked-7-5-6-8-9-fack.pkt", RATE),
    fails(
        "fast_retransmit/fr-4pkt-fack-last-byte.pkt",
        "the kernel does not start its probe timer again for a selective acknowledgment",
    ),
    fails("fast_retransmit/fr-4pkt-fack-last-mss.pkt", RATE),
    passes("fast_retransmit/fr-4pkt-sack.pkt"),
    fails(
        "fast_retransmit/fr-4pkt.pkt",
        "without SACK the engine counts no duplicate acknowledgments: a timer detects losses",
    ),
    fails("fast_recovery/prr-ss-10pkt-lost-1.pkt", INFO),
    fails("fast_recovery/prr-ss-30pkt-lost-1_4-11_16.pkt", PUSH),
    fails("fast_recovery/prr-ss-30pkt-lost1_4.pkt", RATE),
    fails("fast_recovery/prr-ss-ack-below-snd_una-cubic.pkt", RATE),
    fails("limited_transmit/limited-transmit-no-sack.pkt", PUSH),
    fails("limited_transmit/limited-transmit-sack.pkt", PUSH),
    passes("ts_recent/fin_tsval.pkt"),
    fails(
        "ts_recent/invalid_ack.pkt",
        "the engine answers an acknowledgment of unsent data (RFC 9293); the kernel drops it",
    ),
    passes("ts_recent/reset_tsval.pkt"),
    fails("nagle/https_client.pkt", CONNECT),
    fails("nagle/sendmsg_msg_more.pkt", CORK),
    fails("nagle/sockopt_cork_nodelay.pkt", CORK),
];
