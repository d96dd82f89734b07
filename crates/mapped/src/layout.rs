//! Where everything lies in a page of values, as bytes: written by its maker, read by strangers.

use std::io;

use hairpin_time::Utc;

use crate::metric::{self, Kind, Metric, NAME_MAX, Unit};

/// "HPVALUES", read as a little-endian number.
const MAGIC: u64 = u64::from_le_bytes(*b"HPVALUES");
/// The version of the layout that this crate writes, and the only one that it reads.
pub const PAGE_VERSION: u32 = 1;
/// One cache line.
const LINE: usize = 64;
/// Bytes before the first description.
const HEADER: usize = 4 * LINE;
const PAGE_NAME_MAX: usize = 32;
/// The longest title, in bytes.
pub const TITLE_MAX: usize = 192;
/// More than any process of ours counts; bounds what a stranger's header can make us read.
pub const VALUES_MAX: usize = 1024;
/// The size of the largest page.
const SIZE_MAX: usize = HEADER + VALUES_MAX * (LINE + LINE);
const _: () = assert!(LINE == size_of::<u64>() + NAME_MAX);
const _: () = assert!(HEADER == 32 + PAGE_NAME_MAX + TITLE_MAX);

/// Why a page of values could not be made or is not believed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PageError {
    /// No value, more than 1024, or a name that is no name, is too long or is there twice.
    #[error("a page wants 1 to {VALUES_MAX} different names of 1 to {NAME_MAX} letters")]
    Names,
    /// A title or a name of the page that is empty, too long, or has other than plain letters.
    #[error("a page wants a title and a name in printable letters")]
    Title,
    /// The descriptor is not a memory file whose size is sealed.
    #[error("not a sealed memory file")]
    NotSealed,
    /// The file does not begin as a page of values does.
    #[error("not a page of values")]
    NotPage,
    /// The page's layout is of a later Hairpin.
    #[error("a page of version {0}, and this program knows version {PAGE_VERSION}")]
    Newer(u32),
    /// The file's size is not the size that its header promises, or that is impossible.
    #[error("a page of the wrong size")]
    Size,
    /// A value of unknown kind or unit, or bytes where there should be zeros.
    #[error("a page with a description that is none")]
    Description,
    /// The kernel refused.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// How far values lie from each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spacing {
    /// Side by side, eight to a cache line: one thread writes them all.
    Packed,
    /// A cache line each: whoever writes one does not slow him down who writes its neighbour.
    Apart,
}

impl Spacing {
    const fn bytes(self) -> usize {
        match self {
            Self::Packed => size_of::<u64>(),
            Self::Apart => LINE,
        }
    }

    fn of_bytes(bytes: u32) -> Option<Self> {
        [Self::Packed, Self::Apart].into_iter().find(|spacing| spacing.bytes() == bytes as usize)
    }
}

/// All of a page but its values.
///
/// Integers are little-endian; the values are the host's own. Text is padded with NUL:
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
    /// What the process is, for a person: 1 to [`TITLE_MAX`] printable ASCII letters.
    pub(crate) title: String,
    /// What the page is in its process: 1 to 32 letters of a name.
    pub(crate) name: String,
    /// The maker's process id, as it sees itself.
    pub(crate) process: u32,
    /// When the page was made.
    pub(crate) started: Utc,
    pub(crate) spacing: Spacing,
    pub(crate) metrics: Box<[Metric]>,
}

impl Layout {
    /// Whether a page can be laid out so.
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

    /// The size of the whole page in bytes.
    pub(crate) fn size(&self) -> usize {
        size(self.metrics.len(), self.spacing)
    }

    /// Where value `index` lies, in bytes from the page's start.
    pub(crate) fn offset(&self, index: usize) -> usize {
        HEADER + LINE * self.metrics.len() + self.spacing.bytes() * index
    }

    /// The page with all its values at zero.
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

    /// Reads what a page says of itself, out of `file_size` bytes, by `read` of so many bytes from
    /// its start. Nothing is asked of `read` that the file does not have, nor more than the
    /// largest page has.
    ///
    /// # Errors
    /// Every [`PageError`] but [`PageError::NotSealed`].
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
        // The file may have changed in between: what is read now is what counts.
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

/// The number of values and how far they lie apart, if the header is one of this version.
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
    let spacing = Spacing::of_bytes(u32_at(header, 16)).ok_or(PageError::Size)?;
    let fits = values <= VALUES_MAX && size(values, spacing) <= SIZE_MAX;
    if fits { Ok((values, spacing)) } else { Err(PageError::Size) }
}

/// What a value's line says of it.
fn metric_in(line: &[u8]) -> Result<Metric, PageError> {
    let (kind, unit) = (Kind::of_code(line[0]), Unit::of_code(line[1]));
    match (kind, unit, text(&line[8..])) {
        (Some(kind), Some(unit), Some(name)) if line[2..8] == [0; 6] => {
            Ok(Metric { name, kind, unit })
        }
        (_, _, None) => Err(PageError::Names),
        _ => Err(PageError::Description),
    }
}

/// ASCII text up to the first NUL, behind which nothing else may stand.
fn text(field: &[u8]) -> Option<String> {
    let length = field.iter().position(|&byte| byte == 0).unwrap_or(field.len());
    let (text, rest) = field.split_at(length);
    let is_sound = text.is_ascii() && rest.iter().all(|&byte| byte == 0);
    is_sound.then(|| text.iter().copied().map(char::from).collect())
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte]))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte]))
}

// The fuzz target has this file by its path, from where it would be looked for elsewhere.
#[cfg(test)]
#[path = "layout/tests.rs"]
pub(crate) mod tests;
