//! Bulk transfer: through the kernel without a filter and with one attached, and over a connection
//! that was taken over, and is handed back because of the transfer.

use std::fmt::Write as _;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use hairpin_stack::{Mode, Stack, StackSettings, TcpSocket};
use hairpin_testbed::Testbed;

use crate::tcp::take_over;

/// The bytes of a transfer.
const LENGTH: usize = 16 << 30;
/// The bytes of a write.
const WRITE: usize = 64 << 10;

/// The transfers of a round. The stack of a mode is open at the sender during both.
const NAMES: [&str; 5] = [
    "kernel, no program attached",
    "kernel, generic program attached",
    "taken over, generic mode",
    "kernel, native program attached",
    "taken over, native mode",
];

/// The rates of all rounds in MB/s.
#[derive(Debug, Default)]
pub(crate) struct Rates([Vec<f64>; NAMES.len()]);

impl Rates {
    /// Runs a round. Each testbed is for one of: no program, generic mode, native mode.
    pub(crate) fn add_round(
        &mut self,
        beds: &[Testbed],
        settings: impl Fn(Mode) -> StackSettings,
        connect: impl Fn(&Testbed) -> io::Result<[TcpStream; 2]>,
    ) -> io::Result<()> {
        let [plain, generic, native] = beds else { return Err(ErrorKind::InvalidInput.into()) };
        self.0[0].push(kernel(connect(plain)?)?);
        for (at, testbed, mode) in [(1, generic, Mode::Generic), (3, native, Mode::Native)] {
            let host = &testbed.hosts()[1];
            let settings = settings(mode);
            let open = || Stack::open(host.interface(), &settings);
            let stack = host.run(open)?.map_err(io::Error::other)?;
            self.0[at].push(kernel(connect(testbed)?)?);
            let [reader, writer] = connect(testbed)?;
            let mut socket = stack.adopt_tcp(writer)?;
            host.run(|| take_over(&mut socket)).flatten()?;
            self.0[at + 1].push(taken_over(reader, socket)?);
        }
        Ok(())
    }

    /// Returns a table, and the ratios within rounds.
    pub(crate) fn render(&self) -> String {
        let mut text =
            format!("{} MiB to a kernel peer, MB/s: median, least, greatest\n", LENGTH >> 20);
        for (name, rates) in NAMES.iter().zip(&self.0) {
            let [median, least, greatest] = spread(rates.clone());
            let _ = writeln!(text, "{name:<34} {median:>7.0} {least:>7.0} {greatest:>7.0}");
        }
        text += "\nRatios within a round: median, least, greatest\n";
        for (above, below) in [(1, 0), (3, 0), (2, 1), (4, 3)] {
            let ratios = self.0[above].iter().zip(&self.0[below]).map(|(a, b)| a / b).collect();
            let [median, least, greatest] = spread(ratios);
            let name = format!("{} / {}", NAMES[above], NAMES[below]);
            let _ = writeln!(text, "{name:<68} {median:.3} {least:.3} {greatest:.3}");
        }
        text
    }
}

/// Returns the median, the least and the greatest value.
fn spread(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    match (values.get(values.len() / 2), values.first(), values.last()) {
        (Some(&median), Some(&least), Some(&greatest)) => [median, least, greatest],
        _ => [f64::NAN; 3],
    }
}

fn kernel([reader, mut writer]: [TcpStream; 2]) -> io::Result<f64> {
    transfer(reader, |bytes| writer.write(bytes))
}

/// Fails if the connection was not handed back because of the transfer.
fn taken_over(reader: TcpStream, mut socket: TcpSocket) -> io::Result<f64> {
    let rate = transfer(reader, |bytes| socket.send(bytes))?;
    match socket.last_handback() {
        Some(_) => Ok(rate),
        None => Err(io::Error::other("the connection was not handed back")),
    }
}

/// Writes to a reader on another thread. Returns MB/s.
fn transfer(
    mut reader: TcpStream,
    mut write: impl FnMut(&[u8]) -> io::Result<usize>,
) -> io::Result<f64> {
    reader.set_nonblocking(false)?;
    let start = Instant::now();
    let reading = std::thread::spawn(move || -> io::Result<TcpStream> {
        let (mut left, mut buffer) = (LENGTH, vec![0; 256 << 10]);
        while left > 0 {
            match reader.read(&mut buffer)? {
                0 => return Err(ErrorKind::UnexpectedEof.into()),
                count => left -= count,
            }
        }
        Ok(reader)
    });
    let (bytes, mut left) = (vec![7; WRITE], LENGTH);
    while left > 0 {
        match write(&bytes[..left.min(WRITE)]) {
            Ok(count) => left -= count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    let _reader = reading.join().expect("the reader does not panic")?;
    Ok(LENGTH as f64 / 1e6 / start.elapsed().as_secs_f64())
}
