//! The line layout of the JSON of a results file.

use std::io::{self, Write};

use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};

/// The greatest depth at which a value has a line of its own: document, rows, fields of a row.
/// Deeper values stay on the line of their field.
const DEPTH: usize = 3;

/// A formatter with one line per field of a row, whatever its length.
pub(super) struct JsonLayout {
    pretty: PrettyFormatter<'static>,
    depth: usize,
}

impl JsonLayout {
    pub(super) fn new() -> Self {
        Self { pretty: PrettyFormatter::new(), depth: 0 }
    }

    /// Calls the formatter of the current depth.
    fn format<W: ?Sized + Write>(
        &mut self,
        pretty: impl FnOnce(&mut PrettyFormatter<'static>, &mut W) -> io::Result<()>,
        compact: impl FnOnce(&mut CompactFormatter, &mut W) -> io::Result<()>,
        writer: &mut W,
    ) -> io::Result<()> {
        match self.depth {
            ..=DEPTH => pretty(&mut self.pretty, writer),
            _ => compact(&mut CompactFormatter, writer),
        }
    }
}

impl Formatter for JsonLayout {
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth += 1;
        self.format(Formatter::begin_array, Formatter::begin_array, writer)
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        let ended = self.format(Formatter::end_array, Formatter::end_array, writer);
        self.depth -= 1;
        ended
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.format(|f, w| f.begin_array_value(w, first), |f, w| f.begin_array_value(w, first), out)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.format(Formatter::end_array_value, Formatter::end_array_value, writer)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth += 1;
        self.format(Formatter::begin_object, Formatter::begin_object, writer)
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        let ended = self.format(Formatter::end_object, Formatter::end_object, writer);
        self.depth -= 1;
        ended
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.format(|f, w| f.begin_object_key(w, first), |f, w| f.begin_object_key(w, first), out)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.format(Formatter::begin_object_value, Formatter::begin_object_value, writer)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.format(Formatter::end_object_value, Formatter::end_object_value, writer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Serialize;

    #[test]
    fn fields_of_a_row_have_one_line() {
        let row = serde_json::json!({"a": 1, "over_time": [{"first": 0}, {"first": 20}], "z": []});
        let document = serde_json::json!({"host": {"cpu": "x"}, "rows": [row]});
        let mut bytes = Vec::new();
        let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, JsonLayout::new());
        document.serialize(&mut serializer).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let lines: Vec<_> = text.lines().map(str::trim).collect();
        let expected = [
            "{",
            r#""host": {"#,
            r#""cpu": "x""#,
            "},",
            r#""rows": ["#,
            "{",
            r#""a": 1,"#,
            r#""over_time": [{"first":0},{"first":20}],"#,
            r#""z": []"#,
            "}",
            "]",
            "}",
        ];
        assert_eq!(lines, expected);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), document);
    }
}
