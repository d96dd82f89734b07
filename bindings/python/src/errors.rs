//! Exceptions. Their texts are those of the Rust errors, in one line.

use std::fmt::Display;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// Returns the exception with a name in `hairpin._errors`.
fn exception(py: Python<'_>, name: &str, text: String) -> PyErr {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let import = || py.import("hairpin._errors").map(Bound::unbind);
    let create = || MODULE.get_or_try_init(py, import)?.bind(py).getattr(name)?.call1((text,));
    create().map_or_else(|error| error, PyErr::from_value)
}

/// Returns a `hairpin.Error`.
pub(crate) fn error(py: Python<'_>, cause: &impl Display) -> PyErr {
    exception(py, "Error", cause.to_string())
}

/// Returns a `hairpin.SendError`.
pub(crate) fn send_error(py: Python<'_>, cause: &impl Display) -> PyErr {
    exception(py, "SendError", cause.to_string())
}

/// Returns a `hairpin.PriceError`.
pub(crate) fn price_error(py: Python<'_>, cause: &impl Display) -> PyErr {
    exception(py, "PriceError", cause.to_string())
}
