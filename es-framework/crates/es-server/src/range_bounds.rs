//! The bounds of a read or an observation. The protocol refuses bounds that no event can be between, instead of an
//! empty stream.

use es_store::{Bound, options::IdRange};

/// The error for bounds between which no event can be, now or later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("invalid options: the bounds leave no room for an event")]
pub(super) struct UnsatisfiableRange;

/// Checks that an event can be between two bounds. A start at a latest event counts as the first event.
pub(super) const fn check_bounds(
    lower: Option<Bound>,
    upper: Option<Bound>,
) -> Result<(), UnsatisfiableRange> {
    if IdRange::from_bounds(lower, upper).is_empty() {
        return Err(UnsatisfiableRange);
    }
    Ok(())
}
