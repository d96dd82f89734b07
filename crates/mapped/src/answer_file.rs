//! A text that a process writes when another process asks for it.
//!
//! The file, little-endian: the number of the last question (8 bytes), the number of the question
//! that is answered (8), the id of the process that answers (8), the length of the text (8), the
//! text.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::mapping;

const ANSWERED: u64 = 8;
const PROCESS: u64 = 16;
const LENGTH: u64 = 24;
const TEXT: u64 = 32;
/// The longest text that is read: another process may write anything.
const TEXT_MAX: u64 = 64 << 20;
const POLL: Duration = Duration::from_millis(10);

/// The file in which this process answers: a memory file that [`Question::ask`] finds.
///
/// Nothing is formatted until a question comes: [`answer_if_asked`](Self::answer_if_asked) costs
/// one system call. Only processes that may inspect this one can ask or read.
#[derive(Debug)]
pub struct AnswerFile {
    file: File,
    answered: u64,
}

impl AnswerFile {
    /// Creates the file.
    ///
    /// # Errors
    /// The kernel's if memory or descriptors are exhausted.
    pub fn create() -> io::Result<Self> {
        let file = mapping::create(c"hairpin-answers")?;
        file.set_len(TEXT)?;
        mapping::seal_seals(&file)?;
        Ok(Self { file, answered: 0 })
    }

    /// Writes the text if a question has come since the last call.
    ///
    /// # Errors
    /// The kernel's if memory is exhausted.
    pub fn answer_if_asked(&mut self, text: impl FnOnce() -> String) -> io::Result<()> {
        let question = word(&self.file, 0)?;
        if question == self.answered {
            return Ok(());
        }
        let text = text();
        self.file.write_all_at(text.as_bytes(), TEXT)?;
        self.file.write_all_at(&(text.len() as u64).to_le_bytes(), LENGTH)?;
        self.file.write_all_at(&u64::from(std::process::id()).to_le_bytes(), PROCESS)?;
        self.file.write_all_at(&question.to_le_bytes(), ANSWERED)?;
        self.answered = question;
        Ok(())
    }

    /// Returns the file's descriptor.
    #[must_use]
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// A question to a process that has an [`AnswerFile`].
#[derive(Debug)]
pub struct Question {
    file: File,
    number: u64,
    /// The id of the process in its own namespace; `None` if the kernel does not report it.
    process: Option<u64>,
}

impl Question {
    /// Asks a process. Returns `None` if the process answers no questions.
    ///
    /// # Errors
    /// The process has ended, or may not be inspected.
    pub fn ask(process: u32) -> io::Result<Option<Self>> {
        for link in fs::read_dir(format!("/proc/{process}/fd"))?.filter_map(Result::ok) {
            let link = link.path();
            let target = fs::read_link(&link);
            if target.is_ok_and(|it| it.as_os_str() == "/memfd:hairpin-answers (deleted)") {
                return Self::open(process, &link);
            }
        }
        Ok(None)
    }

    fn open(process: u32, link: &Path) -> io::Result<Option<Self>> {
        // O_PATH neither reads nor blocks, and another process may put any file there.
        let handle = OpenOptions::new().read(true).custom_flags(libc::O_PATH).open(link)?;
        if !handle.metadata()?.is_file() || handle.metadata()?.nlink() != 0 {
            return Ok(None);
        }
        let path = format!("/proc/self/fd/{}", handle.as_raw_fd());
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        if !mapping::is_seal_sealed(&file) {
            return Ok(None);
        }
        // Two processes that ask at the same time may share the number.
        let number = word(&file, 0)?.wrapping_add(1);
        file.write_all_at(&number.to_le_bytes(), 0)?;
        Ok(Some(Self { file, number, process: own_id(process) }))
    }

    /// Waits for the answer until a time; `None` if the process does not answer: it is stopped.
    ///
    /// # Errors
    /// The kernel's; an answer of more than 64 MiB; `Other` if another process answers. A child of
    /// clone(2) that runs no program of its own has the file of its parent.
    pub fn answer(&self, until: Instant) -> io::Result<Option<String>> {
        loop {
            let answered = word(&self.file, ANSWERED)?;
            if answered >= self.number {
                let length = word(&self.file, LENGTH)?;
                if length > TEXT_MAX {
                    return Err(io::ErrorKind::FileTooLarge.into());
                }
                let mut text = vec![0; length as usize];
                self.file.read_exact_at(&mut text, TEXT)?;
                // Another question may have replaced it meanwhile.
                let by = word(&self.file, PROCESS)?;
                if word(&self.file, ANSWERED)? == answered && word(&self.file, 0)? == answered {
                    if self.process.is_some_and(|process| process != by) {
                        return Err(io::Error::other("only its parent answers"));
                    }
                    return Ok(Some(String::from_utf8_lossy(&text).into_owned()));
                }
            }
            if Instant::now() >= until {
                return Ok(None);
            }
            std::thread::sleep(POLL);
        }
    }
}

/// Returns the id of a process in the innermost namespace that it is in.
fn own_id(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let ids = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    ids.split_whitespace().last()?.parse().ok()
}

fn word(file: &File, at: u64) -> io::Result<u64> {
    let mut bytes = [0; 8];
    file.read_exact_at(&mut bytes, at)?;
    Ok(u64::from_le_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_questions_are_answered() {
        let mut file = AnswerFile::create().unwrap();
        file.answer_if_asked(|| unreachable!("no process has asked")).unwrap();
        let question = Question::ask(std::process::id()).unwrap().unwrap();
        assert_eq!(question.answer(Instant::now()).unwrap(), None);
        file.answer_if_asked(|| "a longer text".to_owned()).unwrap();
        assert_eq!(question.answer(Instant::now()).unwrap().as_deref(), Some("a longer text"));
        file.answer_if_asked(|| unreachable!("it was answered")).unwrap();
        let question = Question::ask(std::process::id()).unwrap().unwrap();
        file.answer_if_asked(|| "short".to_owned()).unwrap();
        assert_eq!(question.answer(Instant::now()).unwrap().as_deref(), Some("short"));
        let mut question = Question::ask(std::process::id()).unwrap().unwrap();
        question.process = Some(1);
        file.answer_if_asked(String::new).unwrap();
        assert_eq!(question.answer(Instant::now()).unwrap_err().kind(), io::ErrorKind::Other);
        question.process = own_id(std::process::id());
        assert_eq!(question.process, Some(u64::from(std::process::id())));
        file.file.write_all_at(&u64::MAX.to_le_bytes(), LENGTH).unwrap();
        assert!(question.answer(Instant::now()).is_err());
    }
}
