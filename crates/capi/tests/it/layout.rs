//! Sizes and offsets: C compilers and Rust agree.

use core::fmt::Write;
use core::mem::offset_of;

use hairpin_capi::*;

use crate::compiler;

/// Writes an assertion of the size and of each offset of a structure.
macro_rules! assertions {
    ($text:ident, $name:ident { $($field:ident),* $(,)? }) => {{
        let name = stringify!($name);
        writeln!(
            $text,
            "_Static_assert(sizeof({name}) == {}, \"{name}\");\n\
             _Static_assert(_Alignof({name}) == {}, \"{name}\");",
            size_of::<$name>(),
            align_of::<$name>(),
        )
        .unwrap();
        $(
            writeln!(
                $text,
                "_Static_assert(offsetof({name}, {0}) == {1}, \"{name} {0}\");",
                stringify!($field),
                offset_of!($name, $field),
            )
            .unwrap();
        )*
        // A member that is missing here does not compile.
        let _ = |it: &$name| {
            let $name { $($field: _),* } = it;
        };
    }};
}

#[rustfmt::skip]
fn market_data(text: &mut String) {
    assertions!(text, hairpin_cl_ord_id { text });
    assertions!(text, hairpin_level { price, quantity, orders, is_present });
    assertions!(text, hairpin_book_event { security_id, changes, best_price_changed, is_resent,
        best_bid, best_ask, transact_time, received });
    assertions!(text, hairpin_trade_event { security_id, aggressor, price, quantity, orders,
        action, is_resent, transact_time, received });
    assertions!(text, hairpin_instrument { security_id, market_segment_id, depth,
        min_price_increment, display_factor, min_trade_vol, max_trade_vol, symbol,
        security_group, asset, security_type, currency });
    assertions!(text, hairpin_status_event { security_id, trading_status, halt_reason, event,
        security_group, asset, transact_time });
    assertions!(text, hairpin_statistic_event { security_id, entry_type, flag, action,
        is_resent, price, quantity, transact_time });
}

#[rustfmt::skip]
fn orders_and_messages(text: &mut String) {
    assertions!(text, hairpin_order_event { cl_ord_id, order_id, security_id, side, state,
        reason_code, has_reason, is_redelivered, price, quantity, open, filled });
    assertions!(text, hairpin_fill { cl_ord_id, order_id, security_id, side, kind, trade_date,
        is_redelivered, last_price, last_quantity, price, open, filled, exec_id });
    assertions!(text, hairpin_order { cl_ord_id, order_id, security_id, side, state, price,
        stop_price, quantity, open, filled });
    assertions!(text, hairpin_not_ready { channel, segment, text });
    assertions!(text, hairpin_problem { channel, text });
    assertions!(text, hairpin_market_message { channel, sequence, sending_time, received, bytes,
        length, template_id, version });
    assertions!(text, hairpin_order_message { uuid, seq_num, segment,
        is_possible_retransmission, is_redelivered, body, length, template_id, version,
        block_length });
}

#[rustfmt::skip]
fn arguments(text: &mut String) {
    assertions!(text, hairpin_time { monotonic, utc });
    assertions!(text, hairpin_new_order { size, security_id, side, order_type, time_in_force,
        price, stop_price, quantity, min_quantity, display_quantity, expire_date });
    assertions!(text, hairpin_settings { size, config, orders, channels, channel_count,
        interface_a, interface_b, core, wait, natural_refresh, security_ids, security_id_count,
        symbols, symbol_count, security_groups, security_group_count, assets, asset_count,
        max_instruments, definition_cache, recording, orders_max, xdp, cancel_on_quit });
    assertions!(text, hairpin_trader { id });
    assertions!(text, hairpin_callbacks { size, on_ready, on_not_ready, on_book, on_trade,
        on_instrument, on_status, on_statistic, on_order, on_fill, on_timer, on_problem,
        on_market_message, on_order_message });
}

#[test]
fn c_and_rust_have_the_same_sizes_and_offsets() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("layout.c");
    let mut text = String::from("#include <stddef.h>\n#include <hairpin.h>\n");
    market_data(&mut text);
    orders_and_messages(&mut text);
    arguments(&mut text);
    text += "int main(void) { return 0; }\n";
    std::fs::write(&source, text).unwrap();
    for compiler in compiler::c() {
        compiler.compile(&source, folder.path());
    }
}
