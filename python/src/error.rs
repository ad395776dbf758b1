//! Errors of the library as exceptions of the package.
use pyo3::prelude::*;
use recoup::{Error, ErrorKind};

/// The exception that the package has for an error: a subclass of `recoup.Error` for each kind.
pub(crate) fn raised(py: Python<'_>, error: &Error) -> PyErr {
    let class = match error.kind() {
        ErrorKind::Usage => "UsageError",
        ErrorKind::NotFound => "NotFoundError",
        ErrorKind::Local => "LocalError",
        ErrorKind::Verification => "VerificationError",
        ErrorKind::Unreachable => "UnreachableError",
        ErrorKind::TimedOut => "TimedOutError",
        ErrorKind::Condition => "ConditionError",
        ErrorKind::Cancelled => "CancelledError",
        _ => "Error",
    };
    let make = || {
        let module = py.import("recoup._errors")?;
        let mut message = error.message().to_owned();
        for line in error.details() {
            message.push('\n');
            message.push_str(line);
        }
        let arguments = (message, error.remedy(), error.kind() as u8);
        module.getattr(class)?.call1(arguments).map(PyErr::from_value)
    };
    make().unwrap_or_else(|error| error)
}

/// Results of the library as results of Python.
pub(crate) trait OrRaise<T> {
    /// The value, or the exception.
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T> OrRaise<T> for Result<T, Error> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| raised(py, &error))
    }
}
