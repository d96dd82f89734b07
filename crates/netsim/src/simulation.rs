//! The seeds of a simulation: selection, execution, and instructions to repeat a failed seed.

use crate::Census;

/// A simulation, named by the arguments of `cargo xtask sim` that repeat its seeds.
#[derive(Debug)]
pub struct Simulation {
    /// The command of `cargo xtask sim`.
    pub name: &'static str,
    /// Its other arguments.
    pub rest: String,
}

/// Prints how to repeat the seed if its run panics.
struct Seed<'a>(u64, &'a Simulation);

impl Drop for Seed<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Self(seed, Simulation { name, rest }) = self;
            eprintln!("seed {seed} failed; to repeat it:");
            eprintln!("  cargo xtask sim {name} --first-seed {seed} --seeds 1 {rest}");
        }
    }
}

impl Simulation {
    /// Runs one seed and returns its census.
    pub fn run(&self, seed: u64, run: impl FnOnce(u64) -> Census) -> Census {
        let _guard = Seed(seed, self);
        run(seed)
    }

    /// Runs `usual` seeds, or the seeds that the environment selects.
    ///
    /// # Panics
    /// If a class has not occurred.
    pub fn run_all(&self, usual: u64, classes: &[&'static str], run: impl Fn(u64) -> Census) {
        let first = setting("HAIRPIN_SIM_FROM").unwrap_or(0);
        let count = setting("HAIRPIN_SIM_SEEDS").unwrap_or(usual);
        let mut census = Census::new();
        for seed in first..first + count {
            census.merge(&self.run(seed, &run));
        }
        println!("{census}");
        // A small number of runs need not cover every class.
        if count >= usual {
            census.require(classes).unwrap_or_else(|never| panic!("{never}"));
        }
    }
}

/// Returns a number from the environment.
///
/// # Panics
/// If the variable is not a number.
#[must_use]
pub fn setting(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok()?;
    Some(value.parse().unwrap_or_else(|_| panic!("{name} is not a number: {value}")))
}
