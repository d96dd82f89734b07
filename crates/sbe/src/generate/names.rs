//! Conversion of CME's names to Rust naming conventions.

use alloc::string::String;
use alloc::vec::Vec;

/// Splits a name into words: `MDEntryPx` into `MD`, `Entry`, `Px`; `ClOrdID` into `Cl`, `Ord`,
/// `ID`. Digits belong to the word before them.
fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words = Vec::<String>::new();
    for (index, &letter) in letters.iter().enumerate() {
        let before = index.checked_sub(1).map(|index| letters[index]);
        let after = letters.get(index + 1);
        let starts = match before {
            None | Some('_') => true,
            Some(before) if letter.is_ascii_uppercase() => {
                !before.is_ascii_uppercase() && !before.is_ascii_digit()
                    || after.is_some_and(char::is_ascii_lowercase)
            }
            Some(_) => false,
        };
        match words.last_mut() {
            _ if letter == '_' => {}
            Some(word) if !starts => word.push(letter),
            _ => words.push(letter.into()),
        }
    }
    words
}

/// Converts a name to snake case, `md_entry_px`, and appends `_` to a keyword.
pub fn snake_case(name: &str) -> String {
    let mut snake = words(name).join("_").to_ascii_lowercase();
    if matches!(snake.as_str(), "type" | "match" | "move" | "ref" | "use" | "where" | "yield") {
        snake.push('_');
    }
    snake
}

/// Converts a name to constant case, `END_OF_EVENT`.
pub fn constant_case(name: &str) -> String {
    words(name).join("_").to_ascii_uppercase()
}

/// Returns the alias of a decimal type: `Price9` for both `PRICE9` and `PRICENULL9`, which are the
/// same type in Rust.
pub(super) fn decimal_alias(name: &str) -> String {
    let name = name.replace("NULL", "");
    words(&name)
        .iter()
        .map(|word| {
            let (first, rest) = word.split_at(1);
            first.to_ascii_uppercase() + &rest.to_ascii_lowercase()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_names_into_words() {
        for (name, snake) in [
            ("MDEntryPx", "md_entry_px"),
            ("SecurityID", "security_id"),
            ("NoMDEntries", "no_md_entries"),
            ("NoOrderIDEntries", "no_order_id_entries"),
            ("ClOrdID", "cl_ord_id"),
            ("HMACSignature", "hmac_signature"),
            ("UUID", "uuid"),
            ("TransactTime", "transact_time"),
            ("MDIncrementalRefreshBook46", "md_incremental_refresh_book46"),
            ("RepoAverage8_30AM", "repo_average8_30am"),
            ("Type", "type_"),
        ] {
            assert_eq!(snake_case(name), snake);
        }
        assert_eq!(constant_case("EndOfEvent"), "END_OF_EVENT");
        assert_eq!(decimal_alias("PRICENULL9"), "Price9");
        assert_eq!(decimal_alias("DecimalQty"), "DecimalQty");
    }
}
