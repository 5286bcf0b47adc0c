//! The integers that a schema allows by its format and its bounds.

use std::ops::RangeInclusive;

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
    let (min, max): (i128, i128) = match shape.format? {
        "int8" => (i8::MIN.into(), i8::MAX.into()),
        "int16" => (i16::MIN.into(), i16::MAX.into()),
        "int32" => (i32::MIN.into(), i32::MAX.into()),
        "int64" => (i64::MIN.into(), i64::MAX.into()),
        "uint8" => (0, u8::MAX.into()),
        "uint16" => (0, u16::MAX.into()),
        "uint32" => (0, u32::MAX.into()),
        "uint64" => (0, u64::MAX.into()),
        _ => return None,
    };
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the conversion of a float saturates"
    )]
    let bound = |name| shape.bounds.get(name).map(|bound| *bound as i128);
    let min = bound("minimum").map_or(min, |bound| bound.max(min));
    let max = bound("maximum").map_or(max, |bound| bound.min(max));
    Some(min..=max)
}
