//! The mutants of the session, of order entry and of the gateway that the order simulation must
//! detect.

use super::mutant::{Change, Mutant, change};

const NOT_HELD_FOR_PREVIOUS_UUID: Change = change(
    "ilink3/src/session/inbound.rs",
    "is_on && !self.recovery.current_uuid_blocked\n",
    "is_on\n",
);
const ACCEPT_LATER: Change = change(
    "ilink3/src/session/inbound.rs",
    "&& message.seq_num == progress.next_incoming",
    "&& message.seq_num >= progress.next_incoming",
);
const ADVANCE_PAST_GAP: Change = change(
    "ilink3/src/session/inbound.rs",
    "+= u64::from(is_retransmitted);\n        self.advance();",
    "+= u64::from(is_retransmitted);\n        self.advance();\n        \
     self.outbound.progress.next_incoming = message.seq_num + 1;",
);
const ADVANCE_PAST_GAP_ON_FAST_PATH: Change = change(
    "ilink3/src/session/inbound.rs",
    "*message);\n        }\n        self.advance();\n        true\n    }\n\n    /// Returns `true` \
     if the next",
    "*message);\n        }\n        self.advance();\n        \
     self.outbound.progress.next_incoming = message.seq_num + 1;\n        \
     true\n    }\n\n    /// Returns `true` if the next",
);

/// Every mutant of order entry.
pub(super) const ORDER_MUTANTS: &[Mutant] = &[
    Mutant {
        name: "PossRetrans ignored: duplicates delivered",
        changes: &[change(
            "ilink3/src/session/out_of_sequence.rs",
            "            self.handle_current_uuid(context, message);",
            "            if message.possible_retransmission\n                \
             && message.seq_num < progress.next_incoming\n            \
             {\n                return true;\n            }\n            \
             self.handle_current_uuid(context, message);",
        )],
    },
    Mutant {
        name: "PossRetrans ignored: accepted as new",
        changes: &[change(
            "ilink3/src/session/out_of_sequence.rs",
            "let possible = message.possible_retransmission;",
            "let possible = false;",
        )],
    },
    Mutant {
        name: "own messages sent before they are journaled",
        changes: &[change(
            "order-entry/src/journaled_connection.rs",
            "        let record = self.journal.commit(&self.tag, length);\n        \
             self.connect.on_frame(",
            "        if self.fast_path {\n            \
             let bytes = self.journal.claim(length);\n            \
             let bytes = bytes.map(|it| it.to_vec()).unwrap_or_default();\n            \
             let Self { stream, write_error, counters, .. } = self;\n            \
             let left = write(stream, write_error, counters, &bytes);\n            \
             let record = self.journal.commit(&self.tag, length);\n            \
             if left < length {\n                \
             self.queue.push(record, left);\n                \
             self.fast_path = false;\n            }\n            \
             return Delivery::Written;\n        }\n        \
             let record = self.journal.commit(&self.tag, length);\n        \
             self.connect.on_frame(",
        )],
    },
    Mutant {
        name: "processed mark before the callback",
        changes: &[change(
            "ilink3/src/session/inbound.rs",
            "            $session.keep_message($context, &message, $frame);",
            "            $session.keep_message($context, &message, $frame);\n            \
             $session.mark_processed($context, &message);",
        )],
    },
    Mutant {
        name: "last message not retransmitted",
        changes: &[change(
            "ilink3/src/replay.rs",
            "let to = self.progress.next_outgoing - 1;",
            "let to = (self.progress.next_outgoing - 2).max(from);",
        )],
    },
    Mutant {
        name: "number reused after kill",
        changes: &[change(
            "order-entry/src/journal_record.rs",
            "progress.next_outgoing.max(tag.seq_num.saturating_add(1))",
            "progress.next_outgoing.max(tag.seq_num)",
        )],
    },
    Mutant {
        name: "retransmission sent twice",
        changes: &[change(
            "ilink3/src/replay.rs",
            "            match sink.resend(next) {",
            "            let _ = sink.resend(next);\n            \
             match sink.resend(next) {",
        )],
    },
    Mutant {
        name: "NotApplied off by one, in the order tracker",
        changes: &[change(
            "order-entry/src/orders.rs",
            "let numbers = from..from.saturating_add(not_applied.count);",
            "let numbers = from..from.saturating_add(not_applied.count - 1);",
        )],
    },
    Mutant {
        name: "NotApplied off by one, in the retransmission",
        changes: &[change(
            "ilink3/src/session/not_applied.rs",
            "self.outbound.replay(context.now, &mut *context.sink, from);",
            "self.outbound.replay(context.now, &mut *context.sink, from + 1);",
        )],
    },
    Mutant {
        name: "NotApplied off by one, at the gateway",
        changes: &[change(
            "exchange/src/gateway/order_requests.rs",
            "self.session.send_not_applied(self.now, from, number - from + 1);",
            "self.session.send_not_applied(self.now, from, number - from);",
        )],
    },
    Mutant {
        name: "live before retransmitted message, previous UUID",
        changes: &[NOT_HELD_FOR_PREVIOUS_UUID],
    },
    Mutant {
        name: "live before retransmitted message, same UUID",
        changes: &[ACCEPT_LATER, ADVANCE_PAST_GAP, ADVANCE_PAST_GAP_ON_FAST_PATH],
    },
    Mutant {
        name: "own messages sent before they are durable",
        changes: &[change(
            "order-entry/src/journaled_connection.rs",
            "        if self.sync_before_write {\n            self.wait_durable(record);\n        \
             }\n        let now",
            "        let now",
        )],
    },
    Mutant {
        name: "redelivery not marked",
        changes: &[change(
            "ilink3/src/session/inbound.rs",
            "let redelivered = self.redelivering;",
            "let redelivered = false;",
        )],
    },
    Mutant {
        name: "elimination not passed to the order tracker",
        changes: &[change(
            "order-entry/src/orders/apply.rs",
            "            ExecutionReportElimination524 => apply_elimination,\n",
            "",
        )],
    },
    Mutant {
        name: "sequence number of a reject not released",
        changes: &[change(
            "ilink3/src/session/inbound.rs",
            "self.outbound.reclaim_seq_num(reject.business_reject_ref_id());",
            "",
        )],
    },
    Mutant {
        name: "retransmission over the sequence number of a reject",
        changes: &[change("ilink3/src/replay.rs", " && !self.advertised.gap_after_reject", "")],
    },
    Mutant {
        name: "retransmit request of more than 2,500 messages",
        changes: &[change(
            "ilink3/src/session/recovery.rs",
            "pub const REQUEST_MAX: u16 = 2_500;",
            "pub const REQUEST_MAX: u16 = 2_501;",
        )],
    },
    Mutant {
        name: "messages of a previous UUID requested under the current UUID",
        changes: &[change(
            "ilink3/src/session/retransmit_request.rs",
            ".set_last_uuid((requested_uuid != uuid).then_some(requested_uuid))",
            ".set_last_uuid((requested_uuid == 1).then_some(requested_uuid))",
        )],
    },
    Mutant {
        name: "NotApplied sent with the establishment and again",
        changes: &[change(
            "exchange/src/gateway/logon.rs",
            "            self.session.not_applied = next - 1;\n",
            "            self.session.not_applied = 0;\n",
        )],
    },
    Mutant {
        name: "failover: outbound sequence numbers not carried over",
        changes: &[change(
            "ilink3/src/session/backup.rs",
            "Progress { request_timestamp, ..primary };",
            "Progress {\n            \
             request_timestamp,\n            \
             next_outgoing: present.next_outgoing,\n            \
             ..primary\n        \
             };",
        )],
    },
    Mutant {
        name: "failover: inbound sequence numbers not carried over",
        changes: &[change(
            "ilink3/src/session/backup.rs",
            "Progress { request_timestamp, ..primary };",
            "Progress {\n            \
             request_timestamp,\n            \
             next_incoming: failover.next_seq_no,\n            \
             ..primary\n        \
             };",
        )],
    },
    Mutant {
        name: "failover: inbound messages not journaled afterwards",
        changes: &[change(
            "order-entry/src/journaled_connection.rs",
            "        self.stream = stream;\n",
            "        self.stream = stream;\n        self.journal_inbound = false;\n",
        )],
    },
    Mutant {
        name: "failover: no processed marks afterwards",
        changes: &[
            change(
                "order-entry/src/journaled_connection.rs",
                "        self.stream = stream;\n",
                "        self.stream = stream;\n        \
                 self.counters.unjournaled_requests = u64::MAX;\n",
            ),
            change(
                "order-entry/src/journaled_connection.rs",
                "if let Some(record) = self.delivering.take() {",
                "if let Some(record) = self.delivering.take()\n            \
                 && self.counters.unjournaled_requests < u64::MAX\n        \
                 {",
            ),
        ],
    },
    Mutant {
        name: "failover: a request journaled twice",
        changes: &[change(
            "order-entry/src/standby.rs",
            "                active.journal_backup_request(",
            "                active\n                    \
             .journal_backup_request(&self.control[..length], request_timestamp);\n                \
             active.journal_backup_request(",
        )],
    },
    Mutant {
        name: "failover: the connector is not notified",
        changes: &[change(
            "order-entry/src/reconnecting_session.rs",
            "        self.connector.handle_failover(now);\n",
            "",
        )],
    },
    Mutant {
        name: "failover: the gateway sends the wrong sequence number",
        changes: &[change(
            "exchange/src/gateway/failover.rs",
            "let next = self.accounts[account].next_outbound;",
            "let next = self.accounts[account].next_inbound;",
        )],
    },
];
