//! SPDX licence expressions: `(MIT OR Apache-2.0) AND Unicode-3.0`.

use std::collections::BTreeSet;

/// Whether an expression can be met with allowed licences alone. What cannot be read is refused.
///
/// A slash between two names is an old spelling of `OR`; SPDX 3 takes operators in lower case too.
pub(super) fn allows(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut words = Words { words: spaced.split_whitespace().collect(), at: 0, allowed };
    let answer = words.any();
    answer == Some(true) && words.at == words.words.len()
}

/// A recursive descent over the words; `AND` binds closer than `OR`.
struct Words<'a> {
    words: Vec<&'a str>,
    at: usize,
    allowed: &'a BTreeSet<String>,
}

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let word = self.words.get(self.at).copied();
        self.at += 1;
        word
    }

    fn take(&mut self, word: &str) -> bool {
        let found = self.words.get(self.at).is_some_and(|is| is.eq_ignore_ascii_case(word));
        self.at += usize::from(found);
        found
    }

    fn any(&mut self) -> Option<bool> {
        let mut answer = self.every()?;
        while self.take("OR") {
            answer |= self.every()?;
        }
        Some(answer)
    }

    fn every(&mut self) -> Option<bool> {
        let mut answer = self.one()?;
        while self.take("AND") {
            answer &= self.one()?;
        }
        Some(answer)
    }

    fn one(&mut self) -> Option<bool> {
        if self.take("(") {
            let answer = self.any()?;
            return self.take(")").then_some(answer);
        }
        let name = self.next()?;
        if self.take("WITH") {
            let name = format!("{name} WITH {}", self.next()?);
            return Some(self.allowed.contains(&name));
        }
        Some(self.allowed.contains(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(expression: &str) -> bool {
        let names = ["MIT", "Apache-2.0", "Unicode-3.0", "Apache-2.0 WITH LLVM-exception"];
        allows(expression, &names.map(str::to_string).into())
    }

    #[test]
    fn one_allowed_alternative_is_enough() {
        assert!(allowed("MIT"));
        assert!(allowed("GPL-3.0 OR MIT"));
        assert!(allowed("GPL-3.0/MIT"));
        assert!(allowed("GPL-3.0 AND BSD-2-Clause OR MIT"));
        assert!(!allowed("GPL-3.0"));
    }

    #[test]
    fn every_part_of_a_conjunction_counts() {
        assert!(allowed("(MIT OR GPL-3.0) AND Unicode-3.0"));
        assert!(!allowed("(MIT OR GPL-3.0) AND OpenSSL"));
        assert!(!allowed("MIT AND (GPL-3.0 OR OpenSSL)"));
    }

    #[test]
    fn an_exception_is_part_of_the_name() {
        assert!(allowed("Apache-2.0 WITH LLVM-exception"));
        assert!(!allowed("MIT WITH LLVM-exception"));
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        for expression in ["", "MIT OR", "(MIT", "MIT)", "MIT Apache-2.0", "AND"] {
            assert!(!allowed(expression), "{expression}");
        }
    }
}
