//! Small programs on Hairpin's libraries; see the `[[example]]` targets beside this file.
#![forbid(unsafe_code)]
