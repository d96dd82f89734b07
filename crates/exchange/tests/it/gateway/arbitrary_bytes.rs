//! Arbitrary bytes.

use hairpin_cme_codecs::ilink3::{KeepAliveLapsed, OrderTypeReq};
use hairpin_exchange::{Action, SessionState};
use hairpin_sbe::Decimal;
use hairpin_testbed::scaled;
use hairpin_time::Duration;
use proptest::prelude::*;

use super::harness::{Harness, START, UUID};
use crate::client::{
    CancelNames, QuoteEntry, cancel, establish, mass_action_with, mass_quote,
    mass_status_request_with, negotiate, order, order_with, quote_cancel, quote_cancel_by,
    replace_with, retransmit_request, sequence, status_request, terminate,
};

/// Returns frames that a client could send, to be modified.
fn valid_frames() -> Vec<Vec<u8>> {
    vec![
        negotiate(UUID, START + 5),
        establish(UUID, START + 6, 1),
        sequence(UUID, 1, KeepAliveLapsed::LAPSED),
        order(1, 980_000_000_000),
        order(2, 1_050_000_000_000),
        cancel(3, 1),
        retransmit_request(UUID, 1),
        status_request(4, 1),
        mass_status_request_with(5, |_| {}),
        mass_action_with(6, |_| {}),
        order_with(7, 1_060_000_000_000, |order| {
            order.set_ord_type(OrderTypeReq::STOP_LIMIT).set_stop_px(Decimal(1_050_000_000_000));
        }),
        replace_with(8, 1, 980_000_000_000, |_| {}),
        mass_quote(9, &[QuoteEntry { bid: (980_000_000_000, 3), ..QuoteEntry::default() }]),
        quote_cancel(10, CancelNames::Instruments(&[1_001])),
        quote_cancel_by(11, CancelNames::Sets(&[1])),
        terminate(UUID, 1, 0),
    ]
}

fn modified_bytes() -> impl Strategy<Value = Vec<u8>> {
    let frames = valid_frames();
    let bent = (0..frames.len(), any::<prop::sample::Index>(), any::<u8>(), 0_u8..6).prop_map(
        move |(which, place, value, kind)| {
            let mut bytes = frames[which].clone();
            let place = place.index(bytes.len());
            match kind {
                0 => bytes[place] = value,
                1 => bytes.truncate(place),
                2 => bytes.insert(place, value),
                3 => bytes.extend(vec![value; place]),
                4 => {
                    // A shorter declared block, in a frame that fits it.
                    let shorter = u16::try_from(place).unwrap_or(0);
                    bytes[4..6].copy_from_slice(&shorter.to_le_bytes());
                }
                _ => {}
            }
            bytes
        },
    );
    prop_oneof![4 => bent, 1 => prop::collection::vec(any::<u8>(), 0..200)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: scaled(500) as u32, ..ProptestConfig::default() })]
    #[test]
    fn arbitrary_bytes_are_counted_without_panic(
        is_established: bool,
        chunks in prop::collection::vec(modified_bytes(), 1..12),
        pause in 0_u64..8_000,
    ) {
        let (mut harness, id) = if is_established {
            Harness::established()
        } else {
            let mut harness = Harness::new();
            let id = harness.connect();
            (harness, id)
        };
        for chunk in &chunks {
            let before = harness.counters();
            if harness.gateway.can_receive(id) {
                harness.send(id, chunk);
            }
            harness.pass(Duration::from_millis(pause));
            harness.timeout(id);
            let after = harness.counters();
            // Every end of a session is counted.
            prop_assert!(after.frames + after.bad_frames >= before.frames + before.bad_frames);
            let failed = after.terminates > before.terminates;
            while let Some(action) = harness.gateway.poll_action(&mut harness.listener) {
                prop_assert_eq!(action, Action::Close(id));
                prop_assert_eq!(harness.gateway.state(id), SessionState::Closed);
            }
            prop_assert!(!failed || harness.gateway.state(id) == SessionState::Closed);
            let answered =
                after.acknowledgements + after.order_rejects + after.business_rejects;
            prop_assert!(answered >= after.orders);
        }
    }
}
