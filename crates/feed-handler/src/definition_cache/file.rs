//! A cache as a file.
//!
//! ```text
//!  0  "HAIRPDEF"                8 bytes      40  count of messages      u64
//!  8  form of the file, 1       u32
//! 12  schema id                 u16          48  bytes of the messages  u64
//! 14  schema version            u16          56  sum (FNV-1a, 64 bits) of bytes 0..56 and of
//! 16  channel (ApplID)          u16              the messages           u64
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

use super::message::{self, Known};
use super::{DefinitionCache, Entry};

const MAGIC: [u8; 8] = *b"HAIRPDEF";
const FORM: u32 = 1;
const HEADER: usize = 64;
/// A channel has some 100,000 instruments at the most, of up to a kilobyte.
const LONGEST: u64 = 256 << 20;

/// Why a cache is of no use. None of these need end a program: the loop of definitions brings
/// everything.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CacheError {
    /// The file cannot be read or written.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The file is something else, or of another form.
    #[error("no definition cache of form {FORM}")]
    Foreign,
    /// The file is cut short or damaged.
    #[error("the definition cache is damaged")]
    Damaged,
    /// It is of another channel.
    #[error("the definition cache is of channel {found}, not {wanted}")]
    OtherChannel {
        /// The channel of the file.
        found: u16,
        /// The channel asked for.
        wanted: u16,
    },
    /// It was written when another schema was in force.
    #[error(
        "the definition cache is of schema {id} version {version}, not {SCHEMA_ID} version \
         {SCHEMA_VERSION}"
    )]
    OtherSchema {
        /// Its schema.
        id: u16,
        /// The version.
        version: u16,
    },
    /// It is of another week, or of a time that has not come.
    #[error("the definition cache was saved at {saved}: not in this week")]
    OtherWeek {
        /// When it was saved.
        saved: Utc,
    },
    /// The channel does not collect definitions.
    #[error("the channel does not collect definitions")]
    NotWanted,
}

impl DefinitionCache {
    /// Writes the cache beside the file at `path` and puts it in its place: whoever reads it sees
    /// the old one or the new one, whole.
    ///
    /// # Errors
    /// [`CacheError::Io`].
    pub fn save(&mut self, path: &Path, now: Utc) -> Result<(), CacheError> {
        let bytes = self.to_bytes(now);
        let mut beside = path.as_os_str().to_owned();
        beside.push(format!(".{}.new", std::process::id()));
        let write = || -> io::Result<()> {
            let mut file = File::create(&beside)?;
            file.write_all(&bytes)?;
            file.sync_all()?;
            fs::rename(&beside, path)
        };
        let written = write();
        if written.is_err() {
            // What there is of it is of no use; that it is not there neither.
            let _ = fs::remove_file(&beside);
        }
        written?;
        self.has_changed = false;
        Ok(())
    }

    /// Reads the cache of a channel, if it is whole, of this channel and schema, and of the week
    /// that `now` is in. CME numbers anew and replaces expired instruments between weeks; a week
    /// begins on Saturday at 0:00 UTC, when nothing is open.
    ///
    /// # Errors
    /// See [`CacheError`]; each tells why the cache is not taken.
    pub fn read(path: &Path, channel: u16, now: Utc) -> Result<Self, CacheError> {
        let mut bytes = Vec::new();
        File::open(path)?.take(LONGEST + 1).read_to_end(&mut bytes)?;
        Self::from_bytes(&bytes, channel, now)
    }

    /// The file, as saved at `now`.
    #[must_use]
    pub fn to_bytes(&mut self, now: Utc) -> Vec<u8> {
        self.saved = now;
        let messages: Vec<&[u8]> = self.messages().collect();
        let length: usize = messages.iter().map(|message| message.len()).sum();
        let in_force = self.known.values().filter(|entry| !entry.is_deleted);
        let latest = in_force.map(|entry| entry.updated).max().unwrap_or(Utc::EPOCH);
        let mut bytes = Vec::with_capacity(HEADER + length);
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&FORM.to_le_bytes());
        for word in [SCHEMA_ID, SCHEMA_VERSION, self.channel, 0, 0, 0] {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        bytes.extend_from_slice(&self.saved.as_nanos().to_le_bytes());
        bytes.extend_from_slice(&latest.as_nanos().to_le_bytes());
        bytes.extend_from_slice(&(messages.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&(length as u64).to_le_bytes());
        let messages = messages.concat();
        let sum = sum([&bytes, &messages]);
        bytes.extend_from_slice(&sum.to_le_bytes());
        bytes.extend_from_slice(&messages);
        bytes
    }

    /// The cache in a file, if it can be taken: see [`DefinitionCache::read`].
    ///
    /// # Errors
    /// See [`CacheError`].
    pub fn from_bytes(bytes: &[u8], channel: u16, now: Utc) -> Result<Self, CacheError> {
        if bytes.first_chunk() != Some(&MAGIC) {
            return Err(CacheError::Foreign);
        }
        let Some((header, messages)) = bytes.split_first_chunk::<HEADER>() else {
            return Err(CacheError::Damaged);
        };
        if word::<4>(header, 8) != u64::from(FORM) {
            return Err(CacheError::Foreign);
        }
        if word::<8>(header, 56) != sum([&header[..56], messages]) {
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
        cache.take(messages)?;
        let is_whole = cache.known.len() as u64 == word::<8>(header, 40);
        if is_whole { Ok(cache) } else { Err(CacheError::Damaged) }
    }

    fn take(&mut self, messages: &[u8]) -> Result<(), CacheError> {
        self.bytes = messages.to_vec();
        let mut start = 0;
        for message in Messages::new(messages) {
            let message = message.map_err(|_| CacheError::Damaged)?;
            let known = Known::read(&message).filter(|known| known.channel == self.channel);
            let Some(known) = known.filter(|_| message::is_definition(message.header.template_id))
            else {
                return Err(CacheError::Damaged);
            };
            let Known { security_id, updated, is_deleted, .. } = known;
            let length = message.bytes.len() + 2;
            self.known.insert(security_id, Entry { start, length, updated, is_deleted });
            start += length;
        }
        Ok(())
    }
}

/// Weeks since the first Saturday of 1970.
fn week(utc: Utc) -> u64 {
    // 1970-01-01 was a Thursday.
    (utc.days() + 5) / 7
}

/// An unsigned number of N bytes.
fn word<const N: usize>(bytes: &[u8; HEADER], at: usize) -> u64 {
    bytes[at..at + N].iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// FNV-1a with 64 bits: it is against accidents, not against anybody.
fn sum<const N: usize>(parts: [&[u8]; N]) -> u64 {
    let bytes = parts.into_iter().flatten();
    bytes.fold(0xCBF2_9CE4_8422_2325, |sum, &byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weeks_begin_on_saturday() {
        let at = |seconds: u64| Utc::from_nanos(seconds * 1_000_000_000);
        // Friday 2026-11-20 23:59:59 and Saturday 2026-11-21 00:00:00.
        let saturday = 1_795_219_200;
        assert!(at(saturday).to_string().starts_with("2026-11-21T00:00:00"));
        assert_eq!(week(at(saturday - 1)) + 1, week(at(saturday)));
        assert_eq!(week(at(saturday + 7 * 86_400 - 1)), week(at(saturday)));
    }
}
