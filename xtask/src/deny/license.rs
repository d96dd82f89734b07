//! SPDX license expressions: `(MIT OR Apache-2.0) AND Unicode-3.0`.

use std::collections::BTreeSet;

/// Returns `true` if allowed licenses alone satisfy the expression. Rejects malformed expressions.
///
/// A slash between two names is an old spelling of `OR`. SPDX 3 accepts operators in lower case.
pub(super) fn allows(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let tokens = spaced.split_whitespace().collect();
    let mut parser = Parser { tokens, position: 0, allowed };
    parser.disjunction() == Some(true) && parser.position == parser.tokens.len()
}

/// A recursive-descent parser; `AND` binds tighter than `OR`.
struct Parser<'a> {
    tokens: Vec<&'a str>,
    position: usize,
    allowed: &'a BTreeSet<String>,
}

impl<'a> Parser<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let token = self.tokens.get(self.position).copied();
        self.position += 1;
        token
    }

    fn accept(&mut self, expected: &str) -> bool {
        let token = self.tokens.get(self.position);
        let accepted = token.is_some_and(|token| token.eq_ignore_ascii_case(expected));
        self.position += usize::from(accepted);
        accepted
    }

    fn disjunction(&mut self) -> Option<bool> {
        let mut allowed = self.conjunction()?;
        while self.accept("OR") {
            allowed |= self.conjunction()?;
        }
        Some(allowed)
    }

    fn conjunction(&mut self) -> Option<bool> {
        let mut allowed = self.term()?;
        while self.accept("AND") {
            allowed &= self.term()?;
        }
        Some(allowed)
    }

    fn term(&mut self) -> Option<bool> {
        if self.accept("(") {
            let allowed = self.disjunction()?;
            return self.accept(")").then_some(allowed);
        }
        let name = self.next()?;
        if self.accept("WITH") {
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
    fn accepts_an_allowed_alternative() {
        assert!(allowed("MIT"));
        assert!(allowed("GPL-3.0 OR MIT"));
        assert!(allowed("GPL-3.0/MIT"));
        assert!(allowed("GPL-3.0 AND BSD-2-Clause OR MIT"));
        assert!(!allowed("GPL-3.0"));
    }

    #[test]
    fn requires_every_part_of_a_conjunction() {
        assert!(allowed("(MIT OR GPL-3.0) AND Unicode-3.0"));
        assert!(!allowed("(MIT OR GPL-3.0) AND OpenSSL"));
        assert!(!allowed("MIT AND (GPL-3.0 OR OpenSSL)"));
    }

    #[test]
    fn exceptions_are_part_of_the_name() {
        assert!(allowed("Apache-2.0 WITH LLVM-exception"));
        assert!(!allowed("MIT WITH LLVM-exception"));
    }

    #[test]
    fn rejects_malformed_expressions() {
        for expression in ["", "MIT OR", "(MIT", "MIT)", "MIT Apache-2.0", "AND"] {
            assert!(!allowed(expression), "{expression}");
        }
    }
}
