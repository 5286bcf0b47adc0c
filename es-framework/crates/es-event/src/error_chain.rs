//! An error with its causes.

use std::error::Error;

/// Joins an error and its causes, because the outermost one of some libraries says too little.
///
/// ```
/// use std::{fmt, io};
///
/// #[derive(Debug)]
/// struct RequestError(io::Error);
///
/// impl fmt::Display for RequestError {
///     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
///         f.write_str("the request was not sent")
///     }
/// }
///
/// impl std::error::Error for RequestError {
///     fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
///         Some(&self.0)
///     }
/// }
///
/// let error = RequestError(io::Error::other("nobody listens"));
/// assert_eq!(es_event::describe_chain(&error), "the request was not sent: nobody listens");
/// ```
#[must_use]
pub fn describe_chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}
