//! The removal of names and addresses from a report for others.

use std::fs;
use std::net::{IpAddr, SocketAddr};

use serde_json::Value;

/// Replaces interface names, the host's name and all addresses in a document.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    /// The names with their replacements, the longest first.
    names: Vec<(String, String)>,
}

impl Redactor {
    /// Creates a redactor for this host: its name, and its interfaces except `lo`.
    #[must_use]
    pub fn new() -> Self {
        let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let table = fs::read_to_string("/proc/self/net/dev").unwrap_or_default();
        let interfaces = table.lines().filter_map(|line| line.split_once(':'));
        let interfaces: Vec<&str> = interfaces.map(|(name, _)| name.trim()).collect();
        Self::with_names(&interfaces, host.trim())
    }

    /// Creates a redactor for these interfaces and this host name.
    #[must_use]
    pub fn with_names(interfaces: &[&str], host: &str) -> Self {
        let interfaces = interfaces.iter().filter(|name| **name != "lo").enumerate();
        let mut names: Vec<(String, String)> = interfaces
            .map(|(index, name)| ((*name).to_owned(), format!("interface{index}")))
            .collect();
        for part in [host, host.split('.').next().unwrap_or_default()] {
            if !part.is_empty() && part != "localhost" {
                names.push((part.to_owned(), "host".to_owned()));
            }
        }
        names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        Self { names }
    }

    /// Redacts all texts and keys of a document.
    pub fn redact(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.redact_text(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.redact(value)),
            Value::Object(fields) => {
                let redacted = std::mem::take(fields).into_iter().map(|(key, mut value)| {
                    self.redact(&mut value);
                    (self.redact_text(&key), value)
                });
                fields.extend(redacted);
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Redacts a text.
    #[must_use]
    pub fn redact_text(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (name, replacement) in &self.names {
            text = replace_word(&text, name, replacement);
        }
        let is_part =
            |letter: char| letter.is_ascii_hexdigit() || matches!(letter, '.' | ':' | '[' | ']');
        let mut redacted = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some(first) = rest.chars().next() {
            let length =
                rest.find(|letter| is_part(letter) != is_part(first)).unwrap_or(rest.len());
            let (word, after) = rest.split_at(length);
            let (word, end) = word.split_at(word.trim_end_matches(['.', ':']).len());
            redacted.push_str(if is_address(word) { "ADDRESS" } else { word });
            redacted.push_str(end);
            rest = after;
        }
        redacted
    }
}

/// Replaces a name where no letter or digit precedes or follows it.
fn replace_word(text: &str, name: &str, replacement: &str) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(name) {
        let (before, from) = rest.split_at(at);
        let after = &from[name.len()..];
        let is_bounded = |letter: Option<char>| letter.is_none_or(|it| !it.is_alphanumeric());
        let previous = before.chars().next_back().or_else(|| replaced.chars().next_back());
        let is_word = is_bounded(previous) && is_bounded(after.chars().next());
        replaced.push_str(before);
        replaced.push_str(if is_word { replacement } else { name });
        rest = after;
    }
    replaced + rest
}

/// Returns `true` for an address of IP or Ethernet, with or without a port.
fn is_address(word: &str) -> bool {
    let is_ethernet = || {
        let parts: Vec<&str> = word.split(':').collect();
        let is_byte = |part: &&str| part.len() == 2 && u8::from_str_radix(part, 16).is_ok();
        parts.len() == 6 && parts.iter().all(is_byte)
    };
    word.parse::<IpAddr>().is_ok() || word.parse::<SocketAddr>().is_ok() || is_ethernet()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redact(text: &str) -> String {
        Redactor::with_names(&["lo", "eth1", "eth1.5", "a"], "trade7.example.com").redact_text(text)
    }

    #[test]
    fn names_are_replaced_as_words() {
        assert_eq!(redact("net.ipv4.conf.eth1.rp_filter"), "net.ipv4.conf.interface0.rp_filter");
        assert_eq!(
            redact("eth1.5 and eth10, beth1 and eth1"),
            "interface1 and eth10, beth1 and interface0"
        );
        assert_eq!(
            redact("lo: trade7, trade7.example.com: a card"),
            "lo: host, host: interface2 card"
        );
    }

    #[test]
    fn addresses_are_replaced_with_their_ports() {
        assert_eq!(redact("192.0.2.1:9000 and 10.0.0.7."), "ADDRESS and ADDRESS.");
        assert_eq!(redact("fd00::2/64, [fe80::1]:80"), "ADDRESS/64, ADDRESS");
        assert_eq!(redact("02:fc:00:00:00:01"), "ADDRESS");
        assert_eq!(redact("Linux 6.18.44, 12:30:00, 0.27 us"), "Linux 6.18.44, 12:30:00, 0.27 us");
    }

    #[test]
    fn documents_are_redacted_with_their_keys() {
        let mut value: Value = serde_json::json!({"eth1": ["10.0.0.1", 5, null, {"b": "eth1"}]});
        Redactor::with_names(&["eth1"], "").redact(&mut value);
        let expected = serde_json::json!({"interface0": ["ADDRESS", 5, null, {"b": "interface0"}]});
        assert_eq!(value, expected);
    }
}
