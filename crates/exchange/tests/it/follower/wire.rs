//! Packets and messages as bytes: little-endian, by offset.

/// A decoded packet.
pub(crate) struct Packet<'a> {
    pub sequence: u32,
    pub messages: Vec<Message<'a>>,
}

/// A message: its root block and its groups.
pub(crate) struct Message<'a> {
    pub template: u16,
    pub block: &'a [u8],
    rest: &'a [u8],
}

impl<'a> Packet<'a> {
    /// Checks the framing of a packet up to its last byte.
    pub(crate) fn open(bytes: &'a [u8]) -> Self {
        assert!(bytes.len() <= 1_420, "{} bytes", bytes.len());
        let mut messages = Vec::new();
        let mut rest = &bytes[12..];
        while !rest.is_empty() {
            let (message, behind) = rest.split_at(usize::from(u16_at(rest, 0)));
            let [length, template, schema, version] = [2, 4, 6, 8].map(|at| u16_at(message, at));
            assert_eq!((schema, version), (1, 13));
            let (block, groups) = message[10..].split_at(usize::from(length));
            messages.push(Message { template, block, rest: groups });
            rest = behind;
        }
        Self { sequence: u32_at(bytes, 0), messages }
    }
}

impl<'a> Message<'a> {
    /// Returns the entries of all groups, whose blocks have these lengths. The dimension of a wide
    /// group has eight bytes, of others three.
    pub(crate) fn groups(&self, lengths: &[usize], wide: &[bool]) -> Vec<Vec<&'a [u8]>> {
        let mut rest = self.rest;
        let mut groups = Vec::new();
        for (&expected, &is_wide) in lengths.iter().zip(wide) {
            let (dimension, behind) = rest.split_at(if is_wide { 8 } else { 3 });
            let length = usize::from(u16_at(dimension, 0));
            let count = usize::from(dimension[if is_wide { 7 } else { 2 }]);
            assert!(length == expected, "template {}: block length {length}", self.template);
            let (entries, behind) = behind.split_at(length * count);
            groups.push(entries.chunks(length).collect());
            rest = behind;
        }
        assert!(rest.is_empty(), "template {}: {} trailing bytes", self.template, rest.len());
        groups
    }
}

pub(crate) fn byte(bytes: &[u8], at: usize) -> u8 {
    bytes[at]
}

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(bytes[at..at + 2].try_into().unwrap())
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

pub(crate) fn i32_at(bytes: &[u8], at: usize) -> i32 {
    u32_at(bytes, at) as i32
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

pub(crate) fn i64_at(bytes: &[u8], at: usize) -> i64 {
    u64_at(bytes, at) as i64
}

pub(crate) fn chars(bytes: &[u8], at: usize, length: usize) -> String {
    let text = &bytes[at..at + length];
    let end = text.iter().position(|&byte| byte == 0).unwrap_or(length);
    String::from_utf8(text[..end].to_vec()).unwrap()
}
