//! The seeds of a simulation: which of them run, and how one that failed is run again.

use hairpin_netsim::Census;

/// A simulation, by the words of `cargo xtask sim` that run it: its name, and what else belongs to
/// a seed that is to fail again.
#[derive(Debug)]
pub(crate) struct Simulation {
    pub(crate) name: &'static str,
    pub(crate) rest: String,
}

/// Tells the seed if its run panics.
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
    /// One seed, and what has happened in it.
    pub(crate) fn run(&self, seed: u64, run: impl FnOnce(u64) -> Census) -> Census {
        let _guard = Seed(seed, self);
        run(seed)
    }

    /// So many seeds, unless the environment says others, of which each class must have happened.
    pub(crate) fn run_all(
        &self,
        usual: u64,
        classes: &[&'static str],
        run: impl Fn(u64) -> Census,
    ) {
        let first = setting("HAIRPIN_SIM_FROM").unwrap_or(0);
        let count = setting("HAIRPIN_SIM_SEEDS").unwrap_or(usual);
        let mut census = Census::new();
        for seed in first..first + count {
            census.merge(&self.run(seed, &run));
        }
        println!("{census}");
        // A few runs need not have everything.
        if count >= usual {
            census.require(classes).unwrap();
        }
    }
}

/// A number that the environment gives.
pub(crate) fn setting(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok()?;
    Some(value.parse().unwrap_or_else(|_| panic!("{name} is no number: {value}")))
}
