//! The W3C trace that an event belongs to.

/// The `traceparent` and `tracestate` of the W3C Trace Context recommendation.
///
/// ```
/// use es_event::TraceContext;
///
/// let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
/// let trace = TraceContext::new(Some(parent), None)?;
/// assert_eq!(trace.as_ref().map(TraceContext::parent), Some(parent));
/// assert!(TraceContext::new(Some("00-abc"), None).is_err());
/// # Ok::<_, es_event::InvalidTrace>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceContext {
    parent: Box<str>,
    state: Option<Box<str>>,
}

/// The error for trace fields that cannot be used.
///
/// ```
/// use es_event::TraceContext;
///
/// let invalid = TraceContext::new(Some("00-abc"), None);
/// assert!(invalid.is_err());
/// assert_eq!(TraceContext::new(None, None)?, None);
/// # Ok::<_, es_event::InvalidTrace>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidTrace {
    /// The `traceparent` is not `<2 hex>-<32 hex>-<16 hex>-<2 hex>`, has the version `ff`, or has an id of
    /// zeros.
    #[error(
        "invalid traceparent: write version, trace id, parent id and flags as 00-<32 hex digits>-<16 hex digits>-<2 hex digits>"
    )]
    Parent,
    /// The `tracestate` stands alone, is longer than 512 bytes or has a control character.
    #[error(
        "invalid tracestate: it needs a traceparent beside it, at most 512 characters and no control character"
    )]
    State,
}

/// The maximum length of a `tracestate`: implementations have to support at least this length.
const MAX_STATE_LENGTH: usize = 512;

impl TraceContext {
    /// Creates a trace context from the two fields. Returns `None` if both are absent.
    ///
    /// # Errors
    /// Fails if `traceparent` is malformed, or if `tracestate` stands alone, is longer than 512 bytes or
    /// has a control character.
    pub fn new(parent: Option<&str>, state: Option<&str>) -> Result<Option<Self>, InvalidTrace> {
        let checked = Self::check_fields(parent, state)?;
        Ok(checked.map(|(parent, state)| Self {
            parent: parent.into(),
            state: state.map(Into::into),
        }))
    }

    /// Checks the two fields and returns them unchanged.
    pub fn check_fields<'a>(
        parent: Option<&'a str>,
        state: Option<&'a str>,
    ) -> Result<Option<(&'a str, Option<&'a str>)>, InvalidTrace> {
        let Some(parent) = parent else {
            return if state.is_some() {
                Err(InvalidTrace::State)
            } else {
                Ok(None)
            };
        };
        if !is_parent(parent) {
            return Err(InvalidTrace::Parent);
        }
        if state.is_some_and(|state| {
            state.len() > MAX_STATE_LENGTH || state.chars().any(char::is_control)
        }) {
            return Err(InvalidTrace::State);
        }
        Ok(Some((parent, state)))
    }

    /// Returns the `traceparent`.
    #[must_use]
    pub fn parent(&self) -> &str {
        &self.parent
    }

    /// Returns the trace id, which is part of the `traceparent`.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.parent.split('-').nth(1)
    }

    /// Returns the `tracestate`.
    #[must_use]
    pub fn state(&self) -> Option<&str> {
        self.state.as_deref()
    }
}

fn is_parent(text: &str) -> bool {
    let is_hex = |part: &str, length: usize| {
        part.len() == length
            && part
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    let not_zero = |part: &str| part.bytes().any(|byte| byte != b'0');
    let mut parts = text.split('-');
    let mut next = || parts.next().unwrap_or_default();
    let (version, trace, parent, flags) = (next(), next(), next(), next());
    parts.next().is_none()
        && is_hex(version, 2)
        && version != "ff"
        && is_hex(trace, 32)
        && not_zero(trace)
        && is_hex(parent, 16)
        && not_zero(parent)
        && is_hex(flags, 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn a_state_needs_a_parent() {
        assert_eq!(TraceContext::new(None, None), Ok(None));
        assert_eq!(
            TraceContext::new(None, Some("a=1")),
            Err(InvalidTrace::State)
        );
        let trace = TraceContext::new(Some(PARENT), Some("a=1"))
            .unwrap()
            .unwrap();
        assert_eq!((trace.parent(), trace.state()), (PARENT, Some("a=1")));
    }

    #[test]
    fn a_parent_has_the_recommended_shape() {
        for invalid in [
            "",
            "00",
            &PARENT.to_uppercase(),
            &PARENT.replace("00-", "ff-"),
            &format!("{PARENT}-00"),
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        ] {
            assert_eq!(
                TraceContext::new(Some(invalid), None),
                Err(InvalidTrace::Parent),
                "{invalid}"
            );
        }
    }
}
