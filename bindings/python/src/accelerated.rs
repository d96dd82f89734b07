//! Whether a socket of the program bypasses the kernel.

use pyo3::prelude::*;

/// Returns `True` if the messages of a socket bypass the kernel now, because `hairpin run` started
/// this process. The socket is an object with `fileno()`, or its number.
#[pyfunction]
pub(crate) fn is_accelerated(socket: &Bound<'_, PyAny>) -> PyResult<bool> {
    let number = match socket.extract::<i32>() {
        Ok(number) => number,
        Err(_) => socket.call_method0("fileno")?.extract()?,
    };
    Ok(hairpin::is_accelerated(&number))
}
