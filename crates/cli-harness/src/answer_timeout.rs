//! The time after which a message without an answer counts as lost.

use std::sync::OnceLock;

use hairpin_time::Duration;

/// The variable of the time in seconds. Processes of a measurement inherit it.
const VARIABLE: &str = "HAIRPIN_ANSWER_TIMEOUT";
const DEFAULT: Duration = Duration::from_secs(1);

/// Returns the longest time to wait for an answer: 1 s, or the seconds of the environment variable
/// `HAIRPIN_ANSWER_TIMEOUT`, 1 to 3,600. A machine that does other work can answer later.
#[must_use]
pub fn answer_timeout() -> Duration {
    static TIMEOUT: OnceLock<Duration> = OnceLock::new();
    *TIMEOUT.get_or_init(|| {
        let Ok(text) = std::env::var(VARIABLE) else { return DEFAULT };
        match text.parse() {
            Ok(seconds @ 1..=3_600) => Duration::from_secs(seconds),
            _ => {
                eprintln!("hairpin: {VARIABLE} is '{text}', not 1 to 3600 seconds: 1 s is used");
                DEFAULT
            }
        }
    })
}
