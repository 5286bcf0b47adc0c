//! The integers that a schema allows by its format and its bounds.

use std::ops::RangeInclusive;

use es_event::integer_format;

use super::schema_shape::SchemaShape;

/// Returns true if both schemas are integers of a known format, and the first one allows no other values
/// than the second one.
pub(super) fn is_within(inner: &SchemaShape<'_>, outer: &SchemaShape<'_>) -> bool {
    let (Some(inner), Some(outer)) = (read(inner), read(outer)) else {
        return false;
    };
    outer.contains(inner.start()) && outer.contains(inner.end())
}

fn read(shape: &SchemaShape<'_>) -> Option<RangeInclusive<i128>> {
    let (min, max) = integer_format::range(shape.format?)?.into_inner();
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the conversion of a float saturates"
    )]
    let bound = |name| shape.bounds.get(name).map(|bound| *bound as i128);
    let min = bound("minimum").map_or(min, |bound| bound.max(min));
    let max = bound("maximum").map_or(max, |bound| bound.min(max));
    Some(min..=max)
}
