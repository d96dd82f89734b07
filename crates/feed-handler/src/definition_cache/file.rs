//! The file format of a definition cache.
//!
//! ```text
//!  0  "HAIRPDEF"                8 bytes      40  count of messages      u64
//!  8  format version, 1         u32
//! 12  schema id                 u16          48  bytes of the messages  u64
//! 14  schema version            u16          56  checksum (FNV-1a, 64 bits) of bytes 0..56 and
//! 16  channel (ApplID)          u16              of the messages        u64
//! 18  reserved, 0               6 bytes      64  messages, each MsgSize u16, SBE header, body
//! 24  saved, ns since 1970      u64
//! 32  latest LastUpdateTime     u64          all little-endian
//! ```

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use hairpin_cme_codecs::mdp3::{SCHEMA_ID, SCHEMA_VERSION};
use hairpin_mdp3::Messages;
use hairpin_time::Utc;

use super::message::{self, DefinitionInfo};
use super::{DefinitionCache, Entry};

const MAGIC: [u8; 8] = *b"HAIRPDEF";
const FORMAT_VERSION: u32 = 1;
const HEADER: usize = 64;
/// The file size limit in bytes. A channel has at most about 100,000 instruments, of up to 1 kB
/// each.
const MAX_BYTES: u64 = 256 << 20;

/// An error of a definition cache.
///
/// A program can continue without a cache: the instrument feed delivers every definition.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CacheError {
    /// The file cannot be read or written.
    #[error("cannot access the definition cache: {0}")]
    Io(#[from] io::Error),
    /// The file is not a definition cache, or has another format version.
    #[error("cannot use the definition cache: not a cache file of format {FORMAT_VERSION}")]
    UnknownFormat,
    /// The file is truncated or corrupt.
    #[error("cannot use the definition cache: file damaged")]
    Damaged,
    /// The cache belongs to another channel.
    #[error("cannot use the definition cache: it is for channel {found}, expected {wanted}")]
    OtherChannel {
        /// The channel in the file.
        found: u16,
        /// The requested channel.
        wanted: u16,
    },
    /// The cache was written with another schema.
    #[error(
        "cannot use the definition cache: schema {id} version {version}, expected {SCHEMA_ID} \
         version {SCHEMA_VERSION}"
    )]
    OtherSchema {
        /// The schema id in the file.
        id: u16,
        /// The schema version in the file.
        version: u16,
    },
    /// The cache was saved in another week, or in the future.
    #[error("cannot use the definition cache: saved at {saved}, outside the current week")]
    OtherWeek {
        /// The time of the save.
        saved: Utc,
    },
    /// The channel does not collect definitions.
    #[error("cannot load definitions: the channel is not collecting definitions")]
    NotCollecting,
}

impl DefinitionCache {
    /// Writes the cache to a temporary file and renames the file to `path`. A reader sees either
    /// the old or the new cache, never a partial one.
    ///
    /// # Errors
    /// [`CacheError::Io`].
    pub fn save(&mut self, path: &Path, now: Utc) -> Result<(), CacheError> {
        let bytes = self.to_bytes(now);
        let mut temporary = path.as_os_str().to_owned();
        temporary.push(format!(".{}.new", std::process::id()));
        let write = || -> io::Result<()> {
            // A leftover, or a link that another user has placed.
            let _ = fs::remove_file(&temporary);
            let mut file = File::create_new(&temporary)?;
            file.write_all(&bytes)?;
            file.sync_all()?;
            fs::rename(&temporary, path)
        };
        let written = write();
        if written.is_err() {
            // A partial file is useless. The write error is the one to report.
            let _ = fs::remove_file(&temporary);
        }
        written?;
        self.changed = false;
        Ok(())
    }

    /// Reads the cache of a channel. Accepts a complete file of this channel and schema, saved in
    /// the week of `now`.
    ///
    /// CME renumbers and replaces expired instruments between weeks. A week begins on Saturday at
    /// 0:00 UTC, when all markets are closed.
    ///
    /// # Errors
    /// [`CacheError`], with the reason for rejecting the file.
    pub fn read(path: &Path, channel: u16, now: Utc) -> Result<Self, CacheError> {
        let mut bytes = Vec::new();
        File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
        Self::from_bytes(&bytes, channel, now)
    }

    /// Returns the file contents, with `now` as the time of the save.
    #[must_use]
    pub fn to_bytes(&mut self, now: Utc) -> Vec<u8> {
        self.saved = now;
        let messages: Vec<&[u8]> = self.messages().collect();
        let length: usize = messages.iter().map(|message| message.len()).sum();
        let in_force = self.entries.values().filter(|entry| !entry.deleted);
        let latest = in_force.map(|entry| entry.updated).max().unwrap_or(Utc::EPOCH);
        let mut bytes = Vec::with_capacity(HEADER + length);
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
        for word in [SCHEMA_ID, SCHEMA_VERSION, self.channel, 0, 0, 0] {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        bytes.extend_from_slice(&self.saved.as_nanos().to_le_bytes());
        bytes.extend_from_slice(&latest.as_nanos().to_le_bytes());
        bytes.extend_from_slice(&(messages.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&(length as u64).to_le_bytes());
        let messages = messages.concat();
        let checksum = checksum([&bytes, &messages]);
        bytes.extend_from_slice(&checksum.to_le_bytes());
        bytes.extend_from_slice(&messages);
        bytes
    }

    /// Parses a file's contents; see [`DefinitionCache::read`].
    ///
    /// # Errors
    /// [`CacheError`].
    pub fn from_bytes(bytes: &[u8], channel: u16, now: Utc) -> Result<Self, CacheError> {
        if bytes.first_chunk() != Some(&MAGIC) {
            return Err(CacheError::UnknownFormat);
        }
        let Some((header, messages)) = bytes.split_first_chunk::<HEADER>() else {
            return Err(CacheError::Damaged);
        };
        if word::<4>(header, 8) != u64::from(FORMAT_VERSION) {
            return Err(CacheError::UnknownFormat);
        }
        if word::<8>(header, 56) != checksum([&header[..56], messages]) {
            return Err(CacheError::Damaged);
        }
        let [id, version, found] = [12, 14, 16].map(|at| word::<2>(header, at) as u16);
        if (id, version) != (SCHEMA_ID, SCHEMA_VERSION) {
            return Err(CacheError::OtherSchema { id, version });
        }
        if found != channel {
            return Err(CacheError::OtherChannel { found, wanted: channel });
        }
        let saved = Utc::from_nanos(word::<8>(header, 24));
        let latest = Utc::from_nanos(word::<8>(header, 32));
        if saved > now || latest > now || week(saved) != week(now) {
            return Err(CacheError::OtherWeek { saved });
        }
        let mut cache = Self { saved, ..Self::new(channel) };
        cache.insert_messages(messages)?;
        let is_complete = cache.entries.len() as u64 == word::<8>(header, 40);
        if is_complete { Ok(cache) } else { Err(CacheError::Damaged) }
    }

    fn insert_messages(&mut self, messages: &[u8]) -> Result<(), CacheError> {
        self.bytes = messages.to_vec();
        let mut start = 0;
        for message in Messages::new(messages) {
            let message = message.map_err(|_| CacheError::Damaged)?;
            let info = DefinitionInfo::read(&message).filter(|info| info.channel == self.channel);
            let Some(info) = info.filter(|_| message::is_definition(message.header.template_id))
            else {
                return Err(CacheError::Damaged);
            };
            let DefinitionInfo { security_id, updated, deleted, .. } = info;
            let length = message.bytes.len() + 2;
            self.entries.insert(security_id, Entry { start, length, updated, deleted });
            start += length;
        }
        Ok(())
    }
}

/// Returns the number of weeks since the first Saturday of 1970.
fn week(utc: Utc) -> u64 {
    // 1970-01-01 was a Thursday.
    (utc.days() + 5) / 7
}

/// Reads an unsigned little-endian integer of N bytes.
fn word<const N: usize>(bytes: &[u8; HEADER], at: usize) -> u64 {
    bytes[at..at + N].iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// Computes FNV-1a with 64 bits. Detects accidental damage only.
fn checksum<const N: usize>(parts: [&[u8]; N]) -> u64 {
    let bytes = parts.into_iter().flatten();
    bytes.fold(0xCBF2_9CE4_8422_2325, |sum, &byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn week_begins_on_saturday() {
        let at = |seconds: u64| Utc::from_nanos(seconds * 1_000_000_000);
        // Friday 2026-11-20 23:59:59 and Saturday 2026-11-21 00:00:00.
        let saturday = 1_795_219_200;
        assert!(at(saturday).to_string().starts_with("2026-11-21T00:00:00"));
        assert_eq!(week(at(saturday - 1)) + 1, week(at(saturday)));
        assert_eq!(week(at(saturday + 7 * 86_400 - 1)), week(at(saturday)));
    }
}
