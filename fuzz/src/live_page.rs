//! A page of live counters of any bytes, which another process may change while it is read.
//!
//! Proves that none makes the reader panic or ask for more than the file has or the largest page
//! needs, also where the second reading is not what the first was; and that what a page says of
//! itself, written again, is the page.
//!
//! An input is the file, but for its last three bytes: where the second reading differs, and by
//! what.

use std::cell::Cell;

use hairpin_mapped::VALUES_MAX;
use hairpin_time::Utc;

use crate::Seed;
use crate::page_layout::{Layout, Spacing};
use crate::metric::{Kind, Metric, Unit};

/// The largest part of a page that says what it is.
const SAYS_MAX: usize = 256 + 64 * VALUES_MAX;

/// One input.
pub fn run(bytes: &[u8]) {
    let Some((file, &[high, low, change])) = bytes.split_last_chunk::<3>() else { return };
    let place = usize::from(high) << 8 | usize::from(low);
    let readings = Cell::new(0);
    let read = |length: usize| {
        assert!(length <= file.len() && length <= SAYS_MAX, "{length} of {} bytes", file.len());
        readings.set(readings.get() + 1);
        let mut image = file[..length].to_vec();
        if let (2, Some(byte)) = (readings.get(), image.get_mut(place)) {
            *byte ^= change;
        }
        Ok(image)
    };
    let Ok(layout) = Layout::decode(file.len() as u64, read) else { return };
    assert_eq!(readings.get(), 2);
    layout.check().expect("it was checked");
    assert_eq!(layout.size(), file.len());
    let mut told = file[..layout.offset(0)].to_vec();
    if let Some(byte) = told.get_mut(place) {
        *byte ^= change;
    }
    let again = layout.encode();
    assert_eq!(again[..told.len()], told);
    assert!(again[told.len()..].iter().all(|&byte| byte == 0));
    assert!(layout.offset(layout.metrics.len() - 1) + size_of::<u64>() <= layout.size());
}

fn layout(values: usize, spacing: Spacing) -> Layout {
    let metric = |index: usize| Metric {
        name: format!("part.value_{index}"),
        kind: Kind::ALL[index % Kind::ALL.len()],
        unit: Unit::ALL[index % Unit::ALL.len()],
    };
    Layout {
        title: "exchange --gateway 127.0.0.1:9100".to_owned(),
        name: "exchange".to_owned(),
        process: 7,
        started: Utc::from_nanos(1_767_225_600_000_000_000),
        spacing,
        metrics: (0..values).map(metric).collect(),
    }
}

/// Pages of both spacings, one that changes while it is read, and one with a value too many.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    let page = |values, spacing, change: [u8; 3]| {
        [layout(values, spacing).encode(), change.to_vec()].concat()
    };
    let mut crowded = page(1, Spacing::Packed, [0; 3]);
    crowded[12..16].copy_from_slice(&(VALUES_MAX as u32 + 1).to_le_bytes());
    vec![
        ("packed".into(), page(3, Spacing::Packed, [0; 3])),
        ("apart".into(), page(20, Spacing::Apart, [0; 3])),
        ("title-changes".into(), page(2, Spacing::Packed, [0, 66, 1])),
        ("number-changes".into(), page(2, Spacing::Packed, [0, 12, 1])),
        ("crowded".into(), crowded),
    ]
}
