//! A schema in a program without the feature `schemas`: its text, for an event store that checks it.

use std::sync::Arc;

use serde_json::value::RawValue;

/// The text of a schema, which this program cannot apply.
pub(super) struct JsonSchema(Arc<RawValue>);

/// The reason why data does not pass the check of a schema.
#[expect(dead_code, reason = "nothing spends the budget")]
pub(super) enum CheckFailure {
    Mismatch(String),
    BudgetExceeded,
}

impl JsonSchema {
    pub(super) fn parse(json: &str) -> Result<Self, String> {
        let parsed = RawValue::from_string(json.to_owned());
        let text = parsed.map_err(|error| error.to_string())?;
        Ok(Self(text.into()))
    }

    pub(super) fn parse_stored(json: &str) -> Result<Self, String> {
        Self::parse(json)
    }

    pub(super) const fn json(&self) -> &Arc<RawValue> {
        &self.0
    }

    pub(super) fn size(&self) -> usize {
        self.0.get().len()
    }

    pub(super) fn check(&self, _: &RawValue, _: &mut u64) -> Result<(), CheckFailure> {
        Err(CheckFailure::Mismatch(super::NO_VALIDATOR.to_owned()))
    }
}
