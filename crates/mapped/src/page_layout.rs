//! The byte layout of a page of values, which one process writes and others read.

use std::io;

use hairpin_time::Utc;

use crate::metric::{self, Kind, Metric, NAME_MAX, Unit};

/// "HPVALUES", read as a little-endian number.
const MAGIC: u64 = u64::from_le_bytes(*b"HPVALUES");
/// The version of the layout that this crate writes, and the only one that it reads.
pub const PAGE_VERSION: u32 = 1;
/// The size of a cache line.
const LINE: usize = 64;
/// The size of the page header.
const HEADER: usize = 4 * LINE;
const PAGE_NAME_MAX: usize = 32;
/// The maximum length of a title in bytes.
pub const TITLE_MAX: usize = 192;
/// The maximum number of values: more than any process needs. It bounds the memory that another
/// process's header can make this process read.
pub const VALUES_MAX: usize = 1024;
/// The maximum size of a page.
const SIZE_MAX: usize = HEADER + VALUES_MAX * (LINE + LINE);
const _: () = assert!(LINE == size_of::<u64>() + NAME_MAX);
const _: () = assert!(HEADER == 32 + PAGE_NAME_MAX + TITLE_MAX);

/// The error of creating or opening a page of values.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PageError {
    /// The page has no values or more than 1024, or a name is invalid, too long or not unique.
    #[error(
        "invalid value names: use 1 to {VALUES_MAX} unique names of 1 to {NAME_MAX} characters \
         a-z 0-9 . _ -"
    )]
    Names,
    /// The title or the name of the page is empty, too long, or contains other than printable
    /// characters.
    #[error("invalid title or page name: use non-empty printable ASCII")]
    Title,
    /// The descriptor is not a memory file of sealed size.
    #[error("not a memory file of sealed size")]
    NotSealed,
    /// The file does not begin with the magic number of a page of values.
    #[error("not a page of values")]
    NotPage,
    /// The page has a later layout version.
    #[error("unsupported page version {0}: this program supports version {PAGE_VERSION}")]
    Newer(u32),
    /// The file's size does not match its header, or is impossible.
    #[error("file size does not match the header")]
    Size,
    /// A value has an unknown kind or unit, or reserved bytes are not zero.
    #[error("invalid value description")]
    Description,
    /// The kernel returned an error.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The distance between values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spacing {
    /// Adjacent values, eight per cache line, for a single writer thread.
    Packed,
    /// A cache line per value, so that writers of different values do not slow each other down.
    Apart,
}

impl Spacing {
    const fn bytes(self) -> usize {
        match self {
            Self::Packed => size_of::<u64>(),
            Self::Apart => LINE,
        }
    }

    fn from_bytes(bytes: u32) -> Option<Self> {
        [Self::Packed, Self::Apart].into_iter().find(|spacing| spacing.bytes() == bytes as usize)
    }
}

/// The contents of a page except its values.
///
/// Integers are little-endian; the values are in host byte order. Text is padded with NUL:
///
/// ```text
/// 0            magic u64 "HPVALUES" | version u32 = 1 | values u32
/// 16           bytes from value to value u32, 8 or 64 | process id u32 | started u64
/// 32           name of the page, 32 bytes | title, 192 bytes
/// 256 + 64 n   kind u8 | unit u8 | zeros, 6 bytes | name, 56 bytes
/// then         the values, u64 each; the last cache line is filled with zeros
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The description of the process for users: 1 to [`TITLE_MAX`] printable ASCII characters.
    pub(crate) title: String,
    /// The name of the page in its process: a name of 1 to 32 characters.
    pub(crate) name: String,
    /// The creator's process id in its own PID namespace.
    pub(crate) process: u32,
    /// The creation time.
    pub(crate) started: Utc,
    pub(crate) spacing: Spacing,
    pub(crate) metrics: Box<[Metric]>,
}

impl Layout {
    /// Checks the title and the names.
    ///
    /// # Errors
    /// [`PageError::Title`] and [`PageError::Names`].
    pub(crate) fn check(&self) -> Result<(), PageError> {
        let is_title = (1..=TITLE_MAX).contains(&self.title.len())
            && !self.title.starts_with(' ')
            && self.title.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        if !is_title || !metric::is_name(&self.name, PAGE_NAME_MAX) {
            return Err(PageError::Title);
        }
        let mut names: Vec<&str> = self.metrics.iter().map(|metric| &*metric.name).collect();
        names.sort_unstable();
        let are_names = names.iter().all(|name| metric::is_name(name, NAME_MAX));
        let are_different = names.windows(2).all(|pair| pair[0] != pair[1]);
        if (1..=VALUES_MAX).contains(&names.len()) && are_names && are_different {
            Ok(())
        } else {
            Err(PageError::Names)
        }
    }

    /// Returns the size of the whole page in bytes.
    pub(crate) fn size(&self) -> usize {
        size(self.metrics.len(), self.spacing)
    }

    /// Returns the offset of value `index` in bytes from the page's start.
    pub(crate) fn offset(&self, index: usize) -> usize {
        HEADER + LINE * self.metrics.len() + self.spacing.bytes() * index
    }

    /// Encodes the page with all values zero.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut image = vec![0; self.size()];
        let numbers = [PAGE_VERSION, self.metrics.len() as u32, self.spacing.bytes() as u32];
        image[..8].copy_from_slice(&MAGIC.to_le_bytes());
        for (at, number) in (8..).step_by(4).zip(numbers.into_iter().chain([self.process])) {
            image[at..at + 4].copy_from_slice(&number.to_le_bytes());
        }
        image[24..32].copy_from_slice(&self.started.as_nanos().to_le_bytes());
        image[32..32 + self.name.len()].copy_from_slice(self.name.as_bytes());
        image[64..64 + self.title.len()].copy_from_slice(self.title.as_bytes());
        for (line, metric) in image[HEADER..].chunks_exact_mut(LINE).zip(&self.metrics) {
            line[0] = metric.kind.code();
            line[1] = metric.unit.code();
            line[8..8 + metric.name.len()].copy_from_slice(metric.name.as_bytes());
        }
        image
    }

    /// Decodes and validates a page of `file_size` bytes. `read` returns a number of bytes from the
    /// page's start. `read` is never called with more bytes than the file or the largest page has.
    ///
    /// # Errors
    /// Every [`PageError`] except [`PageError::NotSealed`].
    pub(crate) fn decode(
        file_size: u64,
        read: impl Fn(usize) -> io::Result<Vec<u8>>,
    ) -> Result<Self, PageError> {
        if file_size < HEADER as u64 {
            return Err(PageError::NotPage);
        }
        let (values, spacing) = numbers(&read(HEADER)?)?;
        if file_size != size(values, spacing) as u64 {
            return Err(PageError::Size);
        }
        let image = read(HEADER + LINE * values)?;
        // The file may have changed in between: only the values read now count.
        if numbers(&image)? != (values, spacing) {
            return Err(PageError::Size);
        }
        let metrics =
            image[HEADER..].chunks_exact(LINE).map(metric_in).collect::<Result<_, _>>()?;
        let layout = Self {
            title: text(&image[64..HEADER]).ok_or(PageError::Title)?,
            name: text(&image[32..64]).ok_or(PageError::Title)?,
            process: u32_at(&image, 20),
            started: Utc::from_nanos(u64_at(&image, 24)),
            spacing,
            metrics,
        };
        layout.check()?;
        Ok(layout)
    }
}

const fn size(values: usize, spacing: Spacing) -> usize {
    HEADER + LINE * values + (spacing.bytes() * values).next_multiple_of(LINE)
}

/// Returns the number of values and their spacing, if the header has this version.
fn numbers(header: &[u8]) -> Result<(usize, Spacing), PageError> {
    if u64_at(header, 0) != MAGIC {
        return Err(PageError::NotPage);
    }
    match u32_at(header, 8) {
        0 => return Err(PageError::NotPage),
        PAGE_VERSION => {}
        newer => return Err(PageError::Newer(newer)),
    }
    let values = u32_at(header, 12) as usize;
    let spacing = Spacing::from_bytes(u32_at(header, 16)).ok_or(PageError::Size)?;
    let fits = values <= VALUES_MAX && size(values, spacing) <= SIZE_MAX;
    if fits { Ok((values, spacing)) } else { Err(PageError::Size) }
}

/// Decodes the description of a value.
fn metric_in(line: &[u8]) -> Result<Metric, PageError> {
    let (kind, unit) = (Kind::from_code(line[0]), Unit::from_code(line[1]));
    match (kind, unit, text(&line[8..])) {
        (Some(kind), Some(unit), Some(name)) if line[2..8] == [0; 6] => {
            Ok(Metric { name, kind, unit })
        }
        (_, _, None) => Err(PageError::Names),
        _ => Err(PageError::Description),
    }
}

/// Decodes ASCII text up to the first NUL; all following bytes must be NUL.
fn text(field: &[u8]) -> Option<String> {
    let length = field.iter().position(|&byte| byte == 0).unwrap_or(field.len());
    let (text, rest) = field.split_at(length);
    let is_valid = text.is_ascii() && rest.iter().all(|&byte| byte == 0);
    is_valid.then(|| text.iter().copied().map(char::from).collect())
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte]))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte]))
}

// The fuzz target includes this file by path, where the test module would not be found.
#[cfg(test)]
#[path = "page_layout/tests.rs"]
pub(crate) mod tests;
