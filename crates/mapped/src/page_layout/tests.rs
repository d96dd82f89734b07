//! Tests of the page layout, rule by rule and on arbitrary bytes.

use proptest::prelude::*;

use super::*;

fn metric(name: &str, kind: Kind, unit: Unit) -> Metric {
    Metric { name: name.to_owned(), kind, unit }
}

/// Returns the layout of a page with two values.
pub(crate) fn layout() -> Layout {
    Layout {
        title: "exchange --interface lo".to_owned(),
        name: "exchange".to_owned(),
        process: 4711,
        started: Utc::from_nanos(1_800_000_000_000_000_000),
        spacing: Spacing::Packed,
        metrics: [
            metric("exchange.ticks", Kind::Counter, Unit::Count),
            metric("exchange.traders", Kind::Gauge, Unit::Connections),
        ]
        .into(),
    }
}

fn decode(image: &[u8]) -> Result<Layout, PageError> {
    Layout::decode(image.len() as u64, |length| Ok(image[..length].to_vec()))
}

/// Decodes a valid page after writing `bytes` at offset `at`.
fn with(at: usize, bytes: &[u8]) -> Result<Layout, PageError> {
    let mut image = layout().encode();
    image[at..at + bytes.len()].copy_from_slice(bytes);
    decode(&image)
}

#[test]
fn encodes_documented_layout() {
    let image = layout().encode();
    assert_eq!(image.len(), 256 + 2 * 64 + 64);
    assert_eq!(image[..24], *b"HPVALUES\x01\0\0\0\x02\0\0\0\x08\0\0\0\x67\x12\0\0");
    assert_eq!(image[24..32], 1_800_000_000_000_000_000_u64.to_le_bytes());
    assert_eq!(image[32..41], *b"exchange\0");
    assert_eq!(image[64..88], *b"exchange --interface lo\0");
    assert_eq!(image[256..280], *b"\x01\x01\0\0\0\0\0\0exchange.ticks\0\0");
    assert_eq!(image[320..346], *b"\x02\x07\0\0\0\0\0\0exchange.traders\0\0");
    assert!(image[384..].iter().all(|&byte| byte == 0));
    assert_eq!([0, 1].map(|index| layout().offset(index)), [384, 392]);
    assert_eq!(decode(&image).unwrap(), layout());
}

#[test]
fn spaced_values_have_own_cache_lines() {
    let layout = Layout { spacing: Spacing::Apart, ..layout() };
    assert_eq!(layout.size(), 256 + 4 * 64);
    assert_eq!([0, 1].map(|index| layout.offset(index)), [384, 448]);
    assert_eq!(decode(&layout.encode()).unwrap(), layout);
}

#[test]
fn rejects_other_magic() {
    for at in [0, 7] {
        assert!(matches!(with(at, b"?"), Err(PageError::NotPage)), "byte {at}");
    }
    assert!(matches!(with(8, &[0]), Err(PageError::NotPage)), "there is no version 0");
    let image = layout().encode();
    for length in [0, 1, 255] {
        assert!(matches!(decode(&image[..length]), Err(PageError::NotPage)), "{length} bytes");
    }
}

#[test]
fn reports_newer_version() {
    assert!(matches!(with(8, &[2]), Err(PageError::Newer(2))));
    assert!(matches!(with(8, &[0xff; 4]), Err(PageError::Newer(u32::MAX))));
    // The rest of a later version is unknown and is not validated.
    assert!(matches!(with(8, &[2, 0, 0, 0, 0xff, 0xff]), Err(PageError::Newer(2))));
}

#[test]
fn rejects_wrong_size() {
    let image = layout().encode();
    for length in [256, 320, 384, 447, 449, 512] {
        let mut image = image.clone();
        image.resize(length, 0);
        assert!(matches!(decode(&image), Err(PageError::Size)), "{length} bytes");
    }
    for values in [1, 3, 1025, u32::MAX] {
        let outcome = with(12, &values.to_le_bytes());
        assert!(matches!(outcome, Err(PageError::Size)), "{values} values");
    }
}

#[test]
fn rejects_too_many_values_before_reading() {
    let promised = [VALUES_MAX as u32 + 1, u32::MAX];
    for values in promised {
        let mut image = layout().encode();
        image[12..16].copy_from_slice(&values.to_le_bytes());
        let size = HEADER as u64 + u64::from(values) * 72;
        let outcome = Layout::decode(size.next_multiple_of(64), |length| {
            assert_eq!(length, HEADER);
            Ok(image[..length].to_vec())
        });
        assert!(matches!(outcome, Err(PageError::Size)), "{values}");
    }
}

#[test]
fn rejects_other_spacing() {
    for spacing in [0_u32, 1, 16, 63, 128, u32::MAX] {
        let outcome = with(16, &spacing.to_le_bytes());
        assert!(matches!(outcome, Err(PageError::Size)), "{spacing}");
    }
}

#[test]
fn rejects_header_that_changes_during_read() {
    let image = layout().encode();
    let outcome = Layout::decode(image.len() as u64, |length| {
        let mut image = image[..length].to_vec();
        if length > HEADER {
            image[12] = 1;
        }
        Ok(image)
    });
    assert!(matches!(outcome, Err(PageError::Size)));
}

#[test]
fn rejects_unprintable_titles_and_names() {
    for (at, bytes) in [
        (32, &b"\0\0\0\0\0\0\0\0"[..]),
        (32, b"Exchange"),
        (32, b"ex hange"),
        (40, b"\0x"),
        (64, b"\x1b[2J"),
        (64, b" "),
        (64, b"\xc3\xa4"),
        (64, b"\x7f"),
        (64, b"\0"),
        (255, b"x"),
    ] {
        assert!(matches!(with(at, bytes), Err(PageError::Title)), "{bytes:?} at {at}");
    }
    let longest =
        Layout { title: "t".repeat(TITLE_MAX), name: "n".repeat(PAGE_NAME_MAX), ..layout() };
    assert_eq!(decode(&longest.encode()).unwrap(), longest);
    for layout in [
        Layout { title: "t".repeat(TITLE_MAX + 1), ..layout() },
        Layout { name: "n".repeat(PAGE_NAME_MAX + 1), ..layout() },
    ] {
        assert!(matches!(layout.check(), Err(PageError::Title)));
    }
}

#[test]
fn rejects_invalid_and_duplicate_names() {
    for bytes in [&b"\0"[..], b"Exchange", b"\xff\xff", b"a\0b", b"exchange\n"] {
        assert!(matches!(with(264, bytes), Err(PageError::Names)), "{bytes:?}");
    }
    let twice = with(328, b"exchange.ticks\0\0");
    assert!(matches!(twice, Err(PageError::Names)), "{twice:?}");
    let none = Layout { metrics: Box::default(), ..layout() };
    assert!(matches!(decode(&none.encode()), Err(PageError::Names)));
}

#[test]
fn rejects_unknown_kinds_and_units() {
    for (at, byte) in [(256, 0), (256, 3), (257, 0), (257, 9), (257, 0xff), (258, 1), (263, 1)] {
        let outcome = with(at, &[byte]);
        assert!(matches!(outcome, Err(PageError::Description)), "{byte} at {at}: {outcome:?}");
    }
}

fn any_metric() -> impl Strategy<Value = Metric> {
    let kind = prop::sample::select(&Kind::ALL[..]);
    let unit = prop::sample::select(&Unit::ALL[..]);
    ("[a-z0-9._-]{1,56}", kind, unit).prop_map(|(name, kind, unit)| Metric { name, kind, unit })
}

fn any_layout() -> impl Strategy<Value = Layout> {
    let spacing = prop::sample::select(&[Spacing::Packed, Spacing::Apart][..]);
    let metrics = prop::collection::vec(any_metric(), 1..40).prop_map(|mut metrics| {
        metrics.sort_by(|a, b| a.name.cmp(&b.name));
        metrics.dedup_by(|a, b| a.name == b.name);
        metrics.into()
    });
    ("[!-~][ -~]{0,191}", "[a-z0-9._-]{1,32}", any::<u32>(), any::<u64>(), spacing, metrics)
        .prop_map(|(title, name, process, started, spacing, metrics)| Layout {
            title,
            name,
            process,
            started: Utc::from_nanos(started),
            spacing,
            metrics,
        })
}

proptest! {
    #[test]
    fn decodes_encoded_layout(layout in any_layout()) {
        layout.check().unwrap();
        prop_assert_eq!(decode(&layout.encode()).unwrap(), layout);
    }

    #[test]
    fn never_panics_on_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..1_000)) {
        prop_assert!(decode(&bytes).is_err());
        let mut bytes = bytes;
        let start = layout().encode();
        let length = bytes.len().min(24);
        bytes[..length].copy_from_slice(&start[..length]);
        let _ = decode(&bytes);
    }

    /// Every accepted page encodes to the same bytes, so no byte is unchecked.
    #[test]
    fn damaged_page_is_rejected_or_consistent(
        layout in any_layout(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut image = layout.encode();
        let described = layout.offset(0);
        for (at, byte) in damage {
            image[at.index(described)] = byte;
        }
        if let Ok(read) = decode(&image) {
            prop_assert_eq!(read.encode(), image);
        }
    }
}
