//! The sockets of this process as text, for `hairpin stat --sockets`.

use std::fmt::Write;

use crate::slots;

/// Returns a line for each socket that the library tracks. Its fields, separated by tabs:
/// descriptor; `bypass` or `kernel`; messages received by bypass and through the kernel, and the
/// same sent; takeovers; handbacks; the cause of the last handback; bytes unread and
/// unacknowledged while it is taken over.
pub(crate) fn text() -> String {
    let mut text = String::new();
    slots::for_each(|fd, slot| {
        let path = if slots::bypasses(fd) { "bypass" } else { "kernel" };
        let line = if let Some(socket) = slot.socket().as_deref() {
            let counters = &socket.counters;
            let [received, sent] = [
                [counters.received_bypass, counters.received_kernel],
                [counters.sent_bypass, counters.sent_kernel],
            ];
            (received, sent, [1, u32::from(!socket.is_adopted())], "", [0; 2])
        } else if slot.is_stream() {
            let [received, sent] = slot.stream.messages().map(u64::from);
            let mut line = ([0, received], [0, sent], [0, 0], "", [0; 2]);
            if let Some(stream) = slot.stream.stream().as_deref_mut() {
                let [received, sent] = stream.unreported.total();
                (line.0[0], line.1[0]) = (received, sent);
                (line.2, line.3, line.4) = stream.transitions();
            }
            line
        } else {
            return;
        };
        let (received, sent, [takeovers, handbacks], cause, [unread, unacknowledged]) = line;
        let _ = writeln!(
            text,
            "{fd}\t{path}\t{}\t{}\t{}\t{}\t{takeovers}\t{handbacks}\t{cause}\t{unread}\t\
             {unacknowledged}",
            received[0], received[1], sent[0], sent[1]
        );
    });
    text
}
