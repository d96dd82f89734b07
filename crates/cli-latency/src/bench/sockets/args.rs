//! The arguments of `hairpin bench sockets`.

use std::path::PathBuf;

use hairpin_cli_harness::{cores, output};
use hairpin_reactor::Wait;

use super::sockets_case::{Program, Protocol, SocketsCase};
use crate::bench::bench_case::Load;

/// The default message sizes in bytes.
const SIZES: [usize; 6] = [14, 64, 256, 512, 1_024, 1_400];
/// The message sizes with --quick.
const QUICK_SIZES: [usize; 1] = [14];
/// The least and the greatest message size: the least of sockperf, and what fits into a frame with
/// TCP's headers.
const SIZE_RANGE: [usize; 2] = [14, 1_448];
/// The default number of rounds of each case, and with --quick.
const ROUNDS: [u32; 2] = [5, 1];
/// The round trips of an echo per round.
const ECHO_SAMPLES: u64 = 50_000;
/// The round trips of an echo before recording.
const WARM_UP: u64 = 1_000;

/// Measure unmodified programs: sockperf with and without acceleration, for each message size
///
/// The program is Debian's sockperf (ping-pong over UDP and TCP, --mps=3000000), blocking and
/// spinning (--nonblocked). It runs over kernel sockets, and under `hairpin run` on both sides.
/// Spinning, it also runs with one side accelerated. The minimal AF_XDP echo, with frames of the
/// same length, shows the lower bound of the device; the copying echo also copies each message and
/// sums its bytes, as any socket does.
///
/// Each side has a core of its own. Cases alternate in rounds (A B C A B C ...), each with its own
/// processes. A ratio is the median over rounds. AF_XDP needs root and two hosts; otherwise only
/// kernel sockets are measured. A run takes about 22 minutes, --quick about 30 seconds.
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct BenchSocketsArgs {
    /// Print the tables of a results file written with --json, without measuring
    #[arg(long, value_name = "FILE", conflicts_with_all = [
        "quick", "rounds", "size", "protocol", "seconds"])]
    pub(super) from: Option<PathBuf>,

    /// Protocols: udp, tcp [default: both]
    #[arg(long, value_enum, value_delimiter = ',', hide_possible_values = true)]
    protocol: Vec<Protocol>,

    /// Message sizes in bytes, 14 to 1448 [default: 14,64,256,512,1024,1400; with --quick: 14]
    #[arg(long, value_name = "BYTES", value_delimiter = ',', value_parser = parse_size)]
    size: Vec<usize>,

    /// Duration of each round of sockperf in seconds
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=600))]
    seconds: u32,

    /// Measure 14-byte messages in one round: about 30 seconds
    #[arg(long)]
    quick: bool,

    /// Rounds of each case [default: 5; with --quick: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    rounds: Option<u32>,

    #[command(flatten)]
    pub(super) cores: cores::CoreArgs,

    #[command(flatten)]
    pub(super) output: output::OutputArgs,
}

impl BenchSocketsArgs {
    /// Returns the cases. Those that are compared with each other are adjacent in time.
    pub(super) fn plan(&self) -> Vec<SocketsCase> {
        let sizes = match (&self.size[..], self.quick) {
            ([], true) => &QUICK_SIZES[..],
            ([], false) => &SIZES[..],
            (sizes, _) => sizes,
        };
        let samples = ECHO_SAMPLES * self.rounds() as u64;
        let load = Load { interval_us: 0, warm_up: WARM_UP, samples, seed: 0 };
        let seconds = self.seconds;
        const COLUMNS: [(Program, Wait); 8] = [
            (Program::KERNEL, Wait::Block),
            (Program::BOTH, Wait::Block),
            (Program::KERNEL, Wait::Spin),
            (Program::BOTH, Wait::Spin),
            (Program::MinimalEcho, Wait::Spin),
            (Program::CopyingEcho, Wait::Spin),
            (Program::CLIENT, Wait::Spin),
            (Program::SERVER, Wait::Spin),
        ];
        let protocols = match &self.protocol[..] {
            [] => &Protocol::ALL[..],
            protocols => protocols,
        };
        let groups =
            protocols.iter().flat_map(|&protocol| sizes.iter().map(move |&size| (protocol, size)));
        let cases = groups.flat_map(|(protocol, size)| {
            COLUMNS.map(|(program, wait)| SocketsCase {
                program,
                protocol,
                wait,
                size,
                seconds,
                load,
            })
        });
        cases.collect()
    }

    /// Returns the number of rounds of each case.
    pub(super) fn rounds(&self) -> usize {
        self.rounds.unwrap_or(ROUNDS[usize::from(self.quick)]) as usize
    }
}

fn parse_size(text: &str) -> Result<usize, String> {
    let [least, most] = SIZE_RANGE;
    let size = text.trim().parse().ok().filter(|size| (least..=most).contains(size));
    size.ok_or_else(|| format!("expected a number of bytes from {least} to {most}"))
}

#[cfg(test)]
mod tests {
    use hairpin_cli_harness::args::parse_line;

    use super::*;
    use crate::bench::bench_case::BenchCase as _;

    fn parse(words: &str) -> Result<BenchSocketsArgs, clap::Error> {
        parse_line(words.split_whitespace())
    }

    #[test]
    fn compared_cases_are_adjacent() {
        let names: Vec<String> =
            parse("--quick --protocol udp").unwrap().plan().iter().map(SocketsCase::name).collect();
        let expected = [
            "sockperf, kernel, udp, wait block, 14 bytes",
            "sockperf, preload, udp, wait block, 14 bytes",
            "sockperf, kernel, udp, wait spin, 14 bytes",
            "sockperf, preload, udp, wait spin, 14 bytes",
            "minimal echo, xdp, udp, wait spin, 14 bytes",
            "copying echo, xdp, udp, wait spin, 14 bytes",
            "sockperf, client accelerated, preload, udp, wait spin, 14 bytes",
            "sockperf, server accelerated, preload, udp, wait spin, 14 bytes",
        ];
        assert_eq!(names, expected);
        let length = |words| parse(words).unwrap().plan().len();
        assert_eq!([length(""), length("--protocol tcp")], [16 * SIZES.len(), 8 * SIZES.len()]);
        assert_eq!(["", "--quick", "--rounds 3"].map(|it| parse(it).unwrap().rounds()), [5, 1, 3]);
    }

    #[test]
    fn rejects_impossible_sizes_and_conflicts() {
        for words in
            ["--size 13", "--size 1449", "--protocol icmp", "--seconds 0", "--from a --quick"]
        {
            assert!(parse(words).is_err(), "{words}");
        }
        assert!(parse("--from a").is_ok());
    }
}
