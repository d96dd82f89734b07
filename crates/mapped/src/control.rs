//! A page of named counters, shared by a parent process and its children.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::MmapRaw;

use crate::memory;

/// "HPCONTRL", read as a little-endian number.
const MAGIC: u64 = u64::from_le_bytes(*b"HPCONTRL");
const VERSION: u32 = 1;
/// One cache line: a counter that one process writes must not slow its neighbour down.
const LINE: usize = 64;
const NAME_MAX: usize = LINE - size_of::<u64>();
/// More than any process of ours counts; bounds what a stranger's header can make us read.
const SLOTS_MAX: usize = 1024;

/// Why a page of counters could not be made or is not believed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ControlError {
    /// No name, more than 1024 names, or a name that is empty, longer than 56 bytes, holds a NUL,
    /// or is there twice.
    #[error("a control page wants 1 to {SLOTS_MAX} different names of 1 to {NAME_MAX} bytes")]
    Names,
    /// The descriptor is not a memory file whose size is sealed.
    #[error("not a sealed memory file")]
    NotSealed,
    /// The file does not begin with the magic number and version of a control page.
    #[error("not a control page of version {VERSION}")]
    NotControl,
    /// The file's size is not the size that its header promises.
    #[error("a control page of the wrong size")]
    Size,
    /// The kernel refused.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// One counter of a [`Control`] page, found once by name and then used on the hot path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot(usize);

/// A page of named 64-bit counters in a sealed memory file.
///
/// Whoever holds the descriptor and maps it sees every counter live: a parent hands it to a child
/// by inheritance, and both then speak through it: progress one way, a stop flag the other. All
/// access is relaxed: a counter says how far something got, never that other memory is ready.
///
/// Layout, one cache line each; the header's integers are little-endian, the values the host's own:
///
/// ```text
/// line 0       magic u64 "HPCONTRL" | version u32 = 1 | slots u32 | zeros
/// line 1 + n   value u64 | name, 1 to 56 bytes of UTF-8, padded with NUL
/// ```
///
/// The names stand in the file, so that a stranger can print the page.
#[derive(Debug)]
pub struct Control {
    memory: MmapRaw,
    file: File,
    names: Box<[String]>,
}

impl Control {
    /// Makes a page with one counter, at zero, for each of `names`.
    ///
    /// The descriptor is close-on-exec until it is handed to a child on purpose.
    ///
    /// # Errors
    /// [`ControlError::Names`] if the names do not fit the layout, [`ControlError::Io`] if the
    /// kernel has no memory or no descriptor left.
    pub fn create(names: &[&str]) -> Result<Self, ControlError> {
        if !are_good(names) {
            return Err(ControlError::Names);
        }
        let mut image = vec![0; LINE * (1 + names.len())];
        image[..8].copy_from_slice(&MAGIC.to_le_bytes());
        image[8..12].copy_from_slice(&VERSION.to_le_bytes());
        image[12..16].copy_from_slice(&(names.len() as u32).to_le_bytes());
        for (line, name) in image.chunks_exact_mut(LINE).skip(1).zip(names) {
            line[8..8 + name.len()].copy_from_slice(name.as_bytes());
        }
        let file = memory::create(c"hairpin-control")?;
        file.write_all_at(&image, 0)?;
        memory::seal(&file)?;
        let names = names.iter().map(ToString::to_string).collect();
        Ok(Self { memory: memory::map(&file)?, file, names })
    }

    /// Opens a page that another process has made, from the descriptor it handed over.
    ///
    /// Nothing is believed before it is checked, and the header is read once, by value.
    ///
    /// # Errors
    /// [`ControlError::NotSealed`], [`NotControl`](ControlError::NotControl),
    /// [`Size`](ControlError::Size) and [`Names`](ControlError::Names) if it is not a control
    /// page, [`ControlError::Io`] if it cannot be read or mapped.
    pub fn open(fd: OwnedFd) -> Result<Self, ControlError> {
        let file = File::from(fd);
        // Before anything else: a file that can shrink kills whoever maps it.
        if !memory::is_sealed(&file) {
            return Err(ControlError::NotSealed);
        }
        let slots = slots_in_header(&file)?;
        let mut image = vec![0; LINE * slots];
        file.read_exact_at(&mut image, LINE as u64)?;
        let names = image
            .chunks_exact(LINE)
            .map(|line| name_in_line(line).map(String::from))
            .collect::<Option<Box<[String]>>>()
            .ok_or(ControlError::Names)?;
        if !are_good(&names) {
            return Err(ControlError::Names);
        }
        Ok(Self { memory: memory::map(&file)?, file, names })
    }

    /// The counter of that name.
    #[must_use]
    pub fn slot(&self, name: &str) -> Option<Slot> {
        self.names.iter().position(|known| known == name).map(Slot)
    }

    /// Every counter with its name and value, in the order of creation.
    pub fn iter(&self) -> impl Iterator<Item = (Slot, &str, u64)> {
        self.names.iter().enumerate().map(|(index, name)| {
            let slot = Slot(index);
            (slot, name.as_str(), self.load(slot))
        })
    }

    /// Adds to a counter, wrapping, and returns what it held before.
    ///
    /// # Panics
    /// If the slot is of another page, with more counters than this one.
    pub fn add(&self, slot: Slot, count: u64) -> u64 {
        self.counter(slot).fetch_add(count, Ordering::Relaxed)
    }

    /// Sets a counter.
    ///
    /// # Panics
    /// If the slot is of another page, with more counters than this one.
    pub fn store(&self, slot: Slot, value: u64) {
        self.counter(slot).store(value, Ordering::Relaxed);
    }

    /// Reads a counter.
    ///
    /// # Panics
    /// If the slot is of another page, with more counters than this one.
    #[must_use]
    pub fn load(&self, slot: Slot) -> u64 {
        self.counter(slot).load(Ordering::Relaxed)
    }

    /// The descriptor, for a child to inherit and [`open`](Self::open).
    #[must_use]
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    fn counter(&self, slot: Slot) -> &AtomicU64 {
        assert!(slot.0 < self.names.len(), "a slot of another page");
        // SAFETY: line `1 + slot` lies inside the mapping (its size was checked against the number
        // of names and is sealed), which lives as long as `self`. A mapping begins on a page and
        // a line is 64 bytes, so the value is aligned. Every process reaches it atomically only.
        unsafe { AtomicU64::from_ptr(self.memory.as_mut_ptr().add(LINE * (1 + slot.0)).cast()) }
    }
}

/// The number of counters that the header promises, and the file has room for exactly.
fn slots_in_header(file: &File) -> Result<usize, ControlError> {
    let mut header = [0; 16];
    file.read_exact_at(&mut header, 0).map_err(|_| ControlError::NotControl)?;
    let [magic, fields] =
        [0, 8].map(|at| u64::from_le_bytes(std::array::from_fn(|byte| header[at + byte])));
    let (version, slots) = (fields as u32, (fields >> 32) as usize);
    if magic != MAGIC || version != VERSION {
        return Err(ControlError::NotControl);
    }
    if slots > SLOTS_MAX || file.metadata()?.len() != (LINE * (1 + slots)) as u64 {
        return Err(ControlError::Size);
    }
    Ok(slots)
}

/// The name in a counter's line, if it is one.
fn name_in_line(line: &[u8]) -> Option<&str> {
    let name = line[8..].split(|&byte| byte == 0).next()?;
    std::str::from_utf8(name).ok()
}

fn are_good(names: &[impl AsRef<str>]) -> bool {
    let fits = |name: &str| (1..=NAME_MAX).contains(&name.len()) && !name.contains('\0');
    (1..=SLOTS_MAX).contains(&names.len())
        && names.iter().enumerate().all(|(index, name)| {
            let name = name.as_ref();
            fits(name) && names[..index].iter().all(|other| other.as_ref() != name)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn foreign(image: &[u8]) -> OwnedFd {
        let file = memory::create(c"hairpin-test").unwrap();
        file.write_all_at(image, 0).unwrap();
        memory::seal(&file).unwrap();
        file.into()
    }

    fn image() -> Vec<u8> {
        let control = Control::create(&["stop", "orders"]).unwrap();
        let mut image = vec![0; 3 * LINE];
        control.file.read_exact_at(&mut image, 0).unwrap();
        image
    }

    fn refusal(image: &[u8]) -> ControlError {
        Control::open(foreign(image)).unwrap_err()
    }

    #[test]
    fn both_sides_see_each_other_count() {
        let ours = Control::create(&["stop", "orders"]).unwrap();
        let theirs = Control::open(ours.fd().try_clone_to_owned().unwrap()).unwrap();
        let (stop, orders) = (ours.slot("stop").unwrap(), theirs.slot("orders").unwrap());
        assert_eq!(theirs.add(orders, 3), 0);
        assert_eq!(theirs.add(orders, 4), 3);
        ours.store(stop, 1);
        assert_eq!(ours.iter().collect::<Vec<_>>(), [(stop, "stop", 1), (orders, "orders", 7)]);
        assert_eq!(theirs.load(stop), 1);
    }

    #[test]
    fn a_stranger_can_read_the_names() {
        let page = Control::open(foreign(&image())).unwrap();
        assert_eq!(page.iter().map(|(_, name, _)| name).collect::<Vec<_>>(), ["stop", "orders"]);
        assert_eq!(page.slot("order"), None);
    }

    #[test]
    fn values_of_neighbours_are_a_cache_line_apart() {
        let page = Control::create(&["a", "b"]).unwrap();
        let at = |name| page.counter(page.slot(name).unwrap()).as_ptr() as usize;
        assert_eq!(at("b") - at("a"), 64);
        assert_eq!(at("a") % 64, 0);
    }

    #[test]
    fn names_that_do_not_fit_the_layout_are_refused() {
        let long = "n".repeat(NAME_MAX + 1);
        let many: Vec<String> = (0..=SLOTS_MAX).map(|n| n.to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        for names in [&[][..], &[""], &["a", "a"], &[&long], &["a\0b"], &many] {
            assert!(matches!(Control::create(names), Err(ControlError::Names)), "{names:?}");
        }
        let longest = Control::create(&[&long[1..]]).unwrap();
        let again = Control::open(longest.fd().try_clone_to_owned().unwrap()).unwrap();
        assert!(again.slot(&long[1..]).is_some());
        assert!(Control::create(&many[1..]).is_ok());
    }

    #[test]
    fn what_is_not_sealed_is_not_mapped() {
        let file = memory::create(c"hairpin-test").unwrap();
        file.write_all_at(&image(), 0).unwrap();
        assert!(matches!(Control::open(file.into()), Err(ControlError::NotSealed)));
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(&image(), 0).unwrap();
        assert!(matches!(Control::open(file.into()), Err(ControlError::NotSealed)));
    }

    #[test]
    fn a_foreign_header_is_refused() {
        for at in [0, 7, 8, 11] {
            let mut image = image();
            image[at] ^= 0x40;
            assert!(matches!(refusal(&image), ControlError::NotControl), "byte {at}");
        }
        assert!(matches!(refusal(&image()[..15]), ControlError::NotControl));
        assert!(matches!(refusal(&[]), ControlError::NotControl));
    }

    #[test]
    fn a_page_of_another_size_than_promised_is_refused() {
        for length in [16, 64, 128, 191] {
            assert!(matches!(refusal(&image()[..length]), ControlError::Size), "{length} bytes");
        }
        let mut huge = image();
        huge[12..16].fill(0xff);
        assert!(matches!(refusal(&huge), ControlError::Size));
        let mut many = image();
        many.resize(LINE * (2 + SLOTS_MAX), 0);
        many[12..16].copy_from_slice(&(SLOTS_MAX as u32 + 1).to_le_bytes());
        assert!(matches!(refusal(&many), ControlError::Size));
    }

    #[test]
    #[should_panic(expected = "a slot of another page")]
    fn a_slot_of_a_larger_page_is_a_defect() {
        let larger = Control::create(&["a", "b"]).unwrap();
        let smaller = Control::create(&["a"]).unwrap();
        let _ = smaller.load(larger.slot("b").unwrap());
    }

    #[test]
    fn names_that_are_no_names_are_refused() {
        for name in [&b"\xff\xff\0\0"[..], b"\0\0\0\0", b"orders\0"] {
            let mut image = image();
            image[LINE + 8..LINE + 8 + name.len()].copy_from_slice(name);
            assert!(matches!(refusal(&image), ControlError::Names), "{name:?}");
        }
        let mut empty = image();
        empty.truncate(LINE);
        empty[12..16].fill(0);
        assert!(matches!(refusal(&empty), ControlError::Names));
    }
}
