//! The parts of an array or a record.

use std::{ops::Deref, sync::Arc};

use super::{SMALLEST_SIZE, Value};

/// The items of an array or the fields of a record, with their size. The size is computed once, because
/// shared parts can make a value larger than anybody could count.
#[derive(Debug)]
pub(crate) struct Elements<T> {
    elements: Box<[T]>,
    size: usize,
    depth: u16,
    has_raw_json: bool,
}

impl Elements<Value> {
    pub(super) fn from_items(items: Vec<Value>) -> Self {
        Self {
            size: items.iter().map(Value::size).fold(0, usize::saturating_add),
            depth: depth_above(items.iter()),
            has_raw_json: items.iter().any(Value::has_raw_json),
            elements: items.into(),
        }
    }
}

impl Elements<(Arc<str>, Value)> {
    pub(super) fn from_fields(fields: Vec<(Arc<str>, Value)>) -> Self {
        let size = |(name, value): &(Arc<str>, Value)| {
            let name = name.len().saturating_add(SMALLEST_SIZE);
            value.size().saturating_add(name)
        };
        Self {
            size: fields.iter().map(size).fold(0, usize::saturating_add),
            depth: depth_above(fields.iter().map(|(_, value)| value)),
            has_raw_json: fields.iter().any(|(_, value)| value.has_raw_json()),
            elements: fields.into(),
        }
    }
}

impl<T> Elements<T> {
    /// Returns the estimated size of all elements in bytes.
    pub(super) const fn size(&self) -> usize {
        self.size
    }

    /// Returns the levels of arrays and records, from 1.
    pub(super) const fn depth(&self) -> u16 {
        self.depth
    }

    pub(super) const fn has_raw_json(&self) -> bool {
        self.has_raw_json
    }
}

fn depth_above<'a>(values: impl Iterator<Item = &'a Value>) -> u16 {
    let deepest = values.map(Value::depth).max().unwrap_or(0);
    deepest.saturating_add(1)
}

impl<T> Deref for Elements<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.elements
    }
}
