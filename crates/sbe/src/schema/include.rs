//! XInclude: a schema file in parts.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::SchemaError;
use super::element::Element;

const NAMESPACE: &str = "http://www.w3.org/2001/XInclude";
/// The maximum number of included files, repeated ones too.
const MAX_FILES: usize = 256;

/// Returns the text of a schema file with the root element of each included file in place of its
/// `xi:include`. Files may include others. `read` returns the text of a file by its name, which has
/// no folder: only files beside the schema are included.
///
/// An included element is on the line of its `xi:include`, so lines in errors are those of the
/// first file.
///
/// # Errors
/// [`SchemaError`] if a file cannot be read or is not XML, includes itself, or uses another feature
/// of XInclude: `parse="text"`, `xpointer`, or a fallback.
pub fn include<'x>(
    text: &'x str,
    mut read: impl FnMut(&str) -> Result<String, String>,
) -> Result<Cow<'x, str>, SchemaError> {
    let mut inclusion = Inclusion { read: &mut read, open: Vec::new(), files: 0 };
    inclusion.expand(text)
}

/// Checks that no file remains to be included.
pub(crate) fn check_expanded(root: Element<'_, '_>) -> Result<(), SchemaError> {
    let mut all = root.0.descendants();
    match all.find(|node| node.has_tag_name((NAMESPACE, "include"))) {
        Some(node) => Err(Element(node).unsupported("xi:include in a schema without a folder")),
        None => Ok(()),
    }
}

struct Inclusion<'r> {
    read: &'r mut dyn FnMut(&str) -> Result<String, String>,
    /// The files being included, outermost first.
    open: Vec<String>,
    files: usize,
}

impl Inclusion<'_> {
    fn expand<'x>(&mut self, text: &'x str) -> Result<Cow<'x, str>, SchemaError> {
        if !text.contains(NAMESPACE) {
            return Ok(Cow::Borrowed(text));
        }
        let document = parse(text)?;
        let is_include = |node: &roxmltree::Node<'_, '_>| {
            node.has_tag_name((NAMESPACE, "include"))
                && node.ancestors().skip(1).all(|outer| !outer.has_tag_name((NAMESPACE, "include")))
        };
        let mut expanded = String::new();
        let mut end = 0;
        for node in document.descendants().filter(is_include) {
            let range = node.range();
            expanded.push_str(&text[end..range.start]);
            expanded.push_str(&self.element(Element(node))?);
            end = range.end;
        }
        expanded.push_str(&text[end..]);
        Ok(Cow::Owned(expanded))
    }

    /// Returns the root element of an included file, in one line.
    fn element(&mut self, include: Element<'_, '_>) -> Result<String, SchemaError> {
        let name = include.required("href")?;
        if include.text("parse").is_some_and(|kind| kind != "xml")
            || include.text("xpointer").is_some()
            || include.elements().next().is_some()
        {
            return Err(include.unsupported("XInclude of text, by xpointer or with a fallback"));
        }
        if name.is_empty() || name.starts_with('.') || name.contains(['/', '\\', ':', '%', '#']) {
            let what = alloc::format!("href \"{name}\" (not a file beside the schema)");
            return Err(include.invalid(what));
        }
        self.files += 1;
        if self.open.iter().any(|open| open == name) || self.files > MAX_FILES {
            return Err(include.invalid(alloc::format!("href \"{name}\" (includes itself)")));
        }
        let file = super::element::quoted(name);
        let of_file = |error| SchemaError::Included { file: file.clone(), error: Box::new(error) };
        let text = (self.read)(name)
            .map_err(|cause| SchemaError::Unreadable { file: file.clone(), cause })?;
        self.open.push(name.into());
        let expanded = self.expand(&text).map_err(of_file)?;
        self.open.pop();
        let document = parse(&expanded).map_err(of_file)?;
        let root = &expanded[document.root_element().range()];
        Ok(root.replace(['\n', '\r'], " "))
    }
}

fn parse(text: &str) -> Result<roxmltree::Document<'_>, SchemaError> {
    let options = roxmltree::ParsingOptions { allow_dtd: false, ..Default::default() };
    roxmltree::Document::parse_with_options(text, options).map_err(|error| SchemaError::xml(&error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Schema;
    use alloc::format;
    use alloc::string::ToString;

    const TYPES: &str = "<?xml version=\"1.0\"?>\n<types>\n\
                         <type name=\"a\" primitiveType=\"uint16\"/>\n\
                         <type name=\"b\" primitiveType=\"uint8\"/></types>\n";

    /// Returns a schema with these elements, which may include the file `name`.
    fn schema(elements: &str) -> String {
        format!(
            "<messageSchema xmlns:xi=\"{NAMESPACE}\" package=\"p\" id=\"1\" version=\"0\">\n\
             {elements}\n</messageSchema>"
        )
    }

    fn expand(text: &str, files: &[(&str, &str)]) -> Result<String, String> {
        let read = |name: &str| {
            let found = files.iter().find(|(file, _)| *file == name);
            found.map(|(_, text)| (*text).into()).ok_or_else(|| String::from("no such file"))
        };
        include(text, read).map(Cow::into_owned).map_err(|error| error.to_string())
    }

    const MESSAGE: &str = "<message id=\"1\" name=\"M\" blockLength=\"3\">\
                           <field id=\"1\" name=\"A\" type=\"a\"/>\
                           <field id=\"2\" name=\"B\" type=\"b\"/></message>";

    #[test]
    fn included_types_are_those_of_the_schema() {
        let whole = schema(&format!("{}{MESSAGE}", &TYPES[22..]));
        let parts = schema(&format!("<xi:include href=\"types.xml\"/>{MESSAGE}"));
        let expanded = expand(&parts, &[("types.xml", TYPES)]).unwrap();
        assert_eq!(Schema::parse(&expanded).unwrap(), Schema::parse(&whole).unwrap());
        // Lines are those of the first file.
        let parts = schema("<xi:include href=\"types.xml\" parse=\"xml\"/>\n<message/>");
        let expanded = expand(&parts, &[("types.xml", TYPES)]).unwrap();
        let error = Schema::parse(&expanded).unwrap_err();
        assert_eq!(format!("{error}"), "line 3: name is missing");
        assert!(matches!(include("<a/>", |_| unreachable!()), Ok(Cow::Borrowed("<a/>"))));
    }

    #[test]
    fn included_files_may_include_others() {
        let outer = format!(
            "<types xmlns:xi=\"{NAMESPACE}\">\n\
             <xi:include href=\"a.xml\"/><xi:include href=\"b.xml\"/></types>"
        );
        let files = [
            ("types.xml", &*outer),
            ("a.xml", "<type name=\"a\" primitiveType=\"uint16\"/>"),
            ("b.xml", "<!-- b --><type name=\"b\" primitiveType=\"uint8\"/>"),
        ];
        let parts = schema(&format!("<xi:include href=\"types.xml\"/>{MESSAGE}"));
        let expanded = expand(&parts, &files).unwrap();
        assert_eq!(Schema::parse(&expanded).unwrap().types.len(), 2);
    }

    #[test]
    fn refuses_cycles_other_folders_and_other_features() {
        let cycle = format!("<types xmlns:xi=\"{NAMESPACE}\"><xi:include href=\"b.xml\"/></types>");
        let back = cycle.replace("b.xml", "a.xml");
        let broken = "<types><type></types>";
        let files = [("a.xml", &*cycle), ("b.xml", &*back), ("broken.xml", broken)];
        let error = |element: &str| expand(&schema(element), &files).unwrap_err();
        let expected = "a.xml: b.xml: line 1: href \"a.xml\" (includes itself) is not valid";
        assert_eq!(error("<xi:include href=\"a.xml\"/>"), expected);
        assert_eq!(error("<xi:include/>"), "line 2: href is missing");
        assert_eq!(error("<xi:include href=\"c.xml\"/>"), "cannot include c.xml: no such file");
        assert!(error("<xi:include href=\"broken.xml\"/>").starts_with("broken.xml: not XML: "));
        for other in ["../a.xml", "/a.xml", "d/a.xml", "d\\a.xml", "file:a.xml", "", ".."] {
            let error = error(&format!("<xi:include href=\"{other}\"/>"));
            assert!(error.ends_with(" (not a file beside the schema) is not valid"), "{error}");
        }
        for other in ["parse=\"text\"/", "xpointer=\"x\"/", "><xi:fallback/></xi:include"] {
            let error = error(&format!("<xi:include href=\"a.xml\" {other}>"));
            assert!(error.ends_with(" is not supported"), "{error}");
        }
    }
}
