//! Simple Binary Encoding at run time.
