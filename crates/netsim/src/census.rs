//! A census: how often each class of event occurred in a simulation.

use std::collections::BTreeMap;
use std::fmt;

/// The number of events of each class.
///
/// A simulation that never lost a packet proves nothing about loss. So each simulation lists the
/// classes that it exists for, and fails if one of them never occurred.
///
/// ```
/// use hairpin_netsim::Census;
///
/// let mut census = Census::new();
/// census.count("packets lost");
/// assert!(census.require(&["packets lost"]).is_ok());
/// let missing = census.require(&["packets lost", "gaps"]).unwrap_err();
/// assert_eq!(missing.to_string(), "never happened: gaps");
/// ```
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Census {
    counts: BTreeMap<&'static str, u64>,
}

/// The required classes that never occurred.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("never happened: {}", .0.join(", "))]
pub struct NeverHappened(pub Vec<&'static str>);

impl Census {
    /// Returns an empty census.
    #[must_use]
    pub const fn new() -> Self {
        Self { counts: BTreeMap::new() }
    }

    /// Counts one event of a class.
    pub fn count(&mut self, class: &'static str) {
        self.add(class, 1);
    }

    /// Counts `times` events of a class. With 0, the class is listed.
    pub fn add(&mut self, class: &'static str, times: u64) {
        *self.counts.entry(class).or_default() += times;
    }

    /// Adds the counts of another census.
    pub fn merge(&mut self, other: &Self) {
        other.iter().for_each(|(class, times)| self.add(class, times));
    }

    /// Returns the count of a class.
    #[must_use]
    pub fn of(&self, class: &str) -> u64 {
        self.counts.get(class).copied().unwrap_or(0)
    }

    /// Returns every class with its count, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        self.counts.iter().map(|(class, times)| (*class, *times))
    }

    /// Checks that each of `classes` occurred.
    ///
    /// # Errors
    /// [`NeverHappened`], with the classes that did not occur.
    pub fn require(&self, classes: &[&'static str]) -> Result<(), NeverHappened> {
        let missing: Vec<_> = classes.iter().copied().filter(|class| self.of(class) == 0).collect();
        if missing.is_empty() { Ok(()) } else { Err(NeverHappened(missing)) }
    }
}

/// Formats a line per class, with aligned counts.
impl fmt::Display for Census {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (class, times) in self.iter() {
            writeln!(f, "{times:>12}  {class}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn require_names_the_missing_classes() {
        let mut census = Census::new();
        census.add("listed", 0);
        census.add("seen", 2);
        let NeverHappened(missing) = census.require(&["seen", "listed", "unlisted"]).unwrap_err();
        assert_eq!(missing, ["listed", "unlisted"]);
        let mut sum = census.clone();
        sum.merge(&census);
        assert_eq!((sum.of("seen"), sum.of("unlisted")), (4, 0));
        assert_eq!(sum.to_string(), "           0  listed\n           4  seen\n");
    }
}
