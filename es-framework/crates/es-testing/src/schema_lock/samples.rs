//! Samples of a schema: one complete value, and variations of it.

use serde_json::Value;

/// The maximum number of samples for one event.
const MAX_SAMPLES: usize = 4_096;

/// Values that are valid for a schema.
#[derive(Debug, Clone)]
pub(super) struct SchemaSamples {
    /// A value with all members.
    pub(super) base: Value,
    /// Variations of the base value.
    pub(super) others: Vec<VariedSample>,
}

/// A value that differs from another one at a single path.
#[derive(Debug, Clone)]
pub(super) struct VariedSample {
    /// The path of the difference, from the outside in.
    pub(super) path: Vec<String>,
    /// The complete value.
    pub(super) value: Value,
    /// The value before the variation. This is the base value unless a `oneOf` branch replaced it.
    pub(super) from: Value,
}

impl VariedSample {
    pub(super) fn map_both_values(&self, whole: impl Fn(&Value) -> Value) -> Self {
        Self {
            path: self.path.clone(),
            value: whole(&self.value),
            from: whole(&self.from),
        }
    }
}

impl SchemaSamples {
    pub(super) fn without_variations(base: Value) -> Self {
        let others = vec![];
        Self { base, others }
    }

    /// Takes the first value as the base, and the others as its variations.
    pub(super) fn from_values(values: impl IntoIterator<Item = Value>) -> Option<Self> {
        let mut values = values.into_iter();
        let mut samples = Self::without_variations(values.next()?);
        values.for_each(|value| samples.push(vec![], value));
        Some(samples)
    }

    /// Adds a sample that differs from the base at this path.
    pub(super) fn push(&mut self, path: Vec<String>, value: Value) {
        let from = self.base.clone();
        self.push_variation(VariedSample { path, value, from });
    }

    pub(super) fn push_variation(&mut self, variation: VariedSample) {
        if self.others.len() < MAX_SAMPLES && variation.value != variation.from {
            self.others.push(variation);
        }
    }

    /// Embeds the variations of a part at this path into complete values.
    pub(super) fn embed_variations(
        &mut self,
        name: &str,
        part: &Self,
        whole: impl Fn(Value) -> Value,
    ) {
        for variation in &part.others {
            let path = std::iter::once(name.to_owned()).chain(variation.path.iter().cloned());
            self.push_variation(VariedSample {
                path: path.collect(),
                value: whole(variation.value.clone()),
                from: whole(variation.from.clone()),
            });
        }
    }

    /// Combines the samples of two alternatives.
    pub(super) fn or(mut self, other: Self) -> Self {
        self.push(vec![], other.base);
        let others = other.others.into_iter();
        others.for_each(|variation| self.push_variation(variation));
        self
    }
}
