//! What has happened, by name.

use std::collections::BTreeMap;
use std::fmt;

/// How often each class of thing has happened.
///
/// A simulation that never lost a packet proves nothing about loss; so it names what it exists for
/// and fails if one of them never happened.
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

/// Classes that should have happened and have not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("never happened: {}", .0.join(", "))]
pub struct NeverHappened(pub Vec<&'static str>);

impl Census {
    /// Nothing has happened.
    #[must_use]
    pub const fn new() -> Self {
        Self { counts: BTreeMap::new() }
    }

    /// It has happened once more.
    pub fn count(&mut self, class: &'static str) {
        self.add(class, 1);
    }

    /// It has happened so many times more; with 0 it is at least listed.
    pub fn add(&mut self, class: &'static str, times: u64) {
        *self.counts.entry(class).or_default() += times;
    }

    /// Adds all of another census.
    pub fn merge(&mut self, other: &Self) {
        other.iter().for_each(|(class, times)| self.add(class, times));
    }

    /// How often it has happened.
    #[must_use]
    pub fn of(&self, class: &str) -> u64 {
        self.counts.get(class).copied().unwrap_or(0)
    }

    /// Every class with its count, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        self.counts.iter().map(|(class, times)| (*class, *times))
    }

    /// Whether each of `classes` has happened.
    ///
    /// # Errors
    /// [`NeverHappened`], with those that have not.
    pub fn require(&self, classes: &[&'static str]) -> Result<(), NeverHappened> {
        let missing: Vec<_> = classes.iter().copied().filter(|class| self.of(class) == 0).collect();
        if missing.is_empty() { Ok(()) } else { Err(NeverHappened(missing)) }
    }
}

/// One line a class, counts in a column.
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
    fn what_never_happened_is_named_and_the_rest_is_not() {
        let mut census = Census::new();
        census.add("heard of", 0);
        census.add("seen", 2);
        let NeverHappened(missing) =
            census.require(&["seen", "heard of", "unheard of"]).unwrap_err();
        assert_eq!(missing, ["heard of", "unheard of"]);
        let mut sum = census.clone();
        sum.merge(&census);
        assert_eq!((sum.of("seen"), sum.of("unheard of")), (4, 0));
        assert_eq!(sum.to_string(), "           0  heard of\n           4  seen\n");
    }
}
