//! Tests of compressed captures, and of several as one.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::*;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

/// Returns a capture of several hundred kilobytes, a quarter of which cannot be compressed.
fn file() -> Vec<u8> {
    let mut state = 1_u32;
    let packets: Vec<_> = (0..900_u32)
        .map(|number| {
            let noise = (0..100).map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 24) as u8
            });
            noise.chain(number.to_le_bytes().repeat(75)).collect::<Vec<_>>()
        })
        .collect();
    let packets: Vec<_> =
        packets.iter().enumerate().map(|(at, it)| (at as u32, 7, &it[..])).collect();
    pcap(false, true, 1, &packets)
}

#[test]
fn reads_compressed_files_by_their_contents() {
    let file = file();
    let plain = frames(&file[..]).unwrap();
    assert_eq!((plain.0.len(), &plain.1), (900, &None));
    // A frame without data, as parallel compressors write.
    let skippable = [&[0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"any"].concat();
    for compress in [gzip as fn(&[u8]) -> Vec<u8>, zstd] {
        let one = compress(&file);
        assert!(one.len() < file.len() / 2, "{}", one.len());
        let (first, rest) = file.split_at(100_001);
        let two = [compress(first), compress(rest)].concat();
        let padded = [&one[..], &[0; 513]].concat();
        let empty = [compress(&[]), one.clone()].concat();
        let mixed = [compress(first), gzip(rest)].concat();
        let skipped = [&skippable[..], &compress(first), &skippable, &compress(rest), &skippable];
        for (bytes, what) in [
            (one, "one member"),
            (two, "two members"),
            (padded, "padding"),
            (empty, "an empty member"),
            (mixed, "both formats"),
            (skipped.concat(), "skippable frames"),
        ] {
            assert_eq!(frames(&bytes[..]).unwrap(), plain, "{what}");
            for some in [1, 3, 4_096] {
                assert_eq!(frames(Pipe(&bytes, some, 0)).unwrap(), plain, "{what}, {some}");
            }
        }
    }
}

#[test]
fn truncated_archive_is_read_to_its_end() {
    let file = file();
    let plain = frames(&file[..]).unwrap().0;
    let archive = gzip(&file);
    for cut in [archive.len() - 1, archive.len() * 2 / 3, archive.len() / 2] {
        let (read, ending) = frames(&archive[..cut]).unwrap();
        assert!(plain.starts_with(&read) && read.len() > 300, "{cut}");
        assert_eq!(ending.as_deref(), Some("the compressed file is truncated"), "{cut}");
    }
    // The decoder keeps the window of a frame, here all of the second one, until the frame ends.
    let (first, rest) = file.split_at(200_000);
    let archive = [zstd(first), zstd(rest)].concat();
    let (read, ending) = frames(&archive[..archive.len() - 1]).unwrap();
    assert!(plain.starts_with(&read) && read.len() > 300);
    assert_eq!(ending.as_deref(), Some("the compressed file is truncated"));
    let error = frames(&zstd(&file)[..1_000]).unwrap_err();
    assert_eq!(error.to_string(), "the compressed file is truncated");
}

#[test]
fn damaged_archive_is_an_error() {
    let file = file();
    for archive in [gzip(&file), zstd(&file)] {
        let followed = [&archive[..], b"other bytes"].concat();
        let (read, ending) = frames(&followed[..]).unwrap();
        assert_eq!(read.len(), 900);
        assert!(ending.unwrap().starts_with("the compressed file is damaged: other bytes"));
        let mut damaged = archive.clone();
        let place = damaged.len() - 2;
        damaged[place] ^= 0x55;
        let (_, ending) = frames(&damaged[..]).unwrap();
        assert!(ending.unwrap().starts_with("the compressed file is damaged: "));
    }
    for bytes in [gzip(b"no capture"), zstd(b"no capture"), gzip(&[])] {
        assert!(matches!(CaptureReader::new(&bytes[..]), Err(CaptureError::NoCapture)));
    }
}

fn merged(inputs: Vec<CaptureInput>) -> Contents {
    frames(MergedCaptures::new(inputs).unwrap()).unwrap()
}

fn reader(bytes: &[u8]) -> CaptureInput {
    CaptureInput::Reader("pipe".into(), Box::new(io::Cursor::new(bytes.to_vec())))
}

#[test]
fn several_captures_are_read_in_order_of_time() {
    let ng = PcapngBuilder { is_big: true };
    let interface = ng.interface(1, 0, &[(2, b"310IA"), (3, b"clock=hardware"), (9, &[9])]);
    let second = 1_000_000_000;
    let pcapng = [
        ng.section(),
        interface,
        ng.enhanced(0, 2 * second, b"c"),
        ng.enhanced(0, 5 * second, b"f"),
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        CaptureInput::File(path)
    };
    let first = pcap(false, false, 1, &[(1, 0, b"a"), (5, 0, b"e"), (4, 0, b"g")]);
    let third = gzip(&pcap(true, true, 101, &[(1, 0, b"b"), (3, 1, b"d"), (9, 0, b"h")]));
    let (read, ending) = merged(vec![
        path("one", &first),
        path("two", &pcapng.concat()),
        reader(&third),
        path("empty", &pcap(false, false, 1, &[])),
    ]);
    let expected =
        [(1, b"a"), (1, b"b"), (2, b"c"), (3, b"d"), (5, b"e"), (4, b"g"), (5, b"f"), (9, b"h")];
    let times = read.iter().map(|(time, bytes)| (time.unwrap() / second, &bytes[..]));
    assert!(times.eq(expected.iter().map(|(time, bytes)| (*time, &bytes[..]))), "{read:?}");
    assert_eq!(read[3].0, Some(3 * second + 1));
    assert_eq!(ending, None);
    let inputs = vec![path("two", &pcapng.concat()), reader(&third)];
    let mut reader = CaptureReader::new(MergedCaptures::new(inputs).unwrap()).unwrap();
    let mut links = Vec::new();
    while let Some(frame) = reader.next_frame().unwrap() {
        links.push((frame.link.unwrap().0, frame.time.unwrap().clock));
    }
    use CaptureClock::{Hardware, Unknown};
    assert_eq!(
        links,
        [(101, Unknown), (1, Hardware), (101, Unknown), (1, Hardware), (101, Unknown)]
    );
    assert_eq!(reader.interfaces()[1].name, "310IA");
}

#[test]
fn merged_capture_ends_with_the_errors_of_its_files() {
    let file = pcap(false, false, 1, &[(1, 0, b"one"), (3, 0, b"three")]);
    let other = pcap(false, false, 1, &[(2, 0, b"two"), (4, 0, b"four")]);
    let (read, ending) = merged(vec![reader(&file[..file.len() - 1]), reader(&other)]);
    assert_eq!(read.len(), 3);
    assert!(ending.unwrap().starts_with("pipe: the file ends 20 bytes into a packet or block"));
    let missing = CaptureInput::File("no/such/file".into());
    let error = MergedCaptures::new([missing]).err().unwrap();
    assert!(error.to_string().starts_with("no/such/file: No such file"), "{error}");
    let error = MergedCaptures::new([reader(b"text")]).err().unwrap();
    assert_eq!(error.to_string(), "pipe: not a pcap or pcapng file");
}
