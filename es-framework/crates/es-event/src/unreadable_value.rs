//! The error for a value that would not be read back as it was written.

use std::fmt;

use super::json_pointer::push_member;

/// A value that would not be read back as it was written: the place in its JSON, and the reason.
///
/// ```
/// use es_event::{Declaration, Event, Metadata, encode_event};
///
/// #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
/// struct CopiesCountedEvent {
///     mean: f64,
/// }
/// # impl Event for CopiesCountedEvent {
/// #     const TYPE: &str = "com.example.library.CopiesCountedEvent";
/// #     const DECLARATION: Declaration = es_event::declaration!();
/// # }
///
/// let counted = CopiesCountedEvent { mean: f64::NAN };
/// let error = encode_event(&Metadata::default(), &counted).unwrap_err();
/// assert!(error.to_string().starts_with("/mean: NaN"), "{error}");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableValue {
    /// The JSON pointer (RFC 6901) of the faulty part. It is empty for the whole value.
    pub pointer: String,
    /// The reason, for the developer.
    pub reason: String,
}

impl UnreadableValue {
    pub(super) fn new<'a>(
        path: impl IntoIterator<Item = &'a str>,
        reason: impl Into<String>,
    ) -> Self {
        let mut pointer = String::new();
        for name in path {
            push_member(&mut pointer, name);
        }
        let reason = reason.into();
        Self { pointer, reason }
    }
}

impl fmt::Display for UnreadableValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pointer.as_str() {
            "" => f.write_str(&self.reason),
            pointer => write!(f, "{pointer}: {}", self.reason),
        }
    }
}

impl std::error::Error for UnreadableValue {}
