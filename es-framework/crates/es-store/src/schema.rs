//! The JSON Schema that an event type's data has to follow, once it is registered.

#[cfg(test)]
mod attack_tests;
mod metered_value;
mod references;
#[cfg(test)]
mod schema_tests;
mod work_budget;

use std::{error::Error, fmt, sync::Arc, thread};

use jsonschema::{
    PatternOptions, Regex, Retrieve, Uri, ValidationError, Validator,
    error::{TypeKind, ValidationErrorKind},
};
use serde_json::{Value, value::RawValue};

use self::{
    metered_value::{MeteredJson, MeteredValue},
    work_budget::{BudgetExceeded, TextPrice},
};
use es_event::EventId;

#[doc(hidden)]
pub use work_budget::WorkBudget;

/// The longest schema, in bytes.
const MAX_BYTES: usize = 256 << 10;
/// The most bytes that a pattern may have when it is compiled.
const LARGE_PATTERN: usize = 256 << 10;
/// The bytes that most patterns have at most.
const SMALL_PATTERN: usize = 32 << 10;
/// The most bytes that the cache of one pattern may have.
const PATTERN_CACHE: usize = 256 << 10;
/// The memory of a typical pattern.
const PATTERN_SIZE: usize = 64 << 10;
/// The stack of the thread that compiles a schema. A chain of references takes as many calls.
const COMPILER_STACK: usize = 64 << 20;
/// The most steps for the message about data that does not follow its schema.
const MESSAGE_STEPS: u64 = 50_000;
/// The memory for the places of the errors that the message is chosen from.
const MESSAGE_BYTES: u64 = 64 << 20;
/// The longest message, in characters.
const MAX_MESSAGE: usize = 1_000;
/// The limit of back-tracking steps for a pattern of a stored schema that needs back-tracking. Earlier
/// versions registered such patterns.
const BACKTRACKS: usize = 100_000;

/// A JSON Schema for the data of events.
///
/// ```
/// use es_framework::store::EventSchema;
///
/// let schema = r#"{"type":"object","properties":{"title":{"type":"string"}}}"#;
/// assert!(EventSchema::parse(schema).is_ok());
/// assert!(EventSchema::parse(r#"{"type":"string"}"#).is_err());
/// ```
pub struct EventSchema {
    text: Arc<RawValue>,
    validator: Validator<MeteredJson>,
    text_price: TextPrice,
    patterns: usize,
}

/// The error for a JSON value that is not a schema of events.
///
/// ```
/// use es_framework::store::EventSchema;
///
/// let error = EventSchema::parse(r#"{"type":"string"}"#).unwrap_err();
/// assert_eq!(error.to_string(), r#"invalid schema: /type: value must be "object""#);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid schema: {0}")]
pub struct InvalidSchema(String);

/// The data of a candidate or of a stored event contradicts a schema.
///
/// ```
/// use es_framework::store::{EventSchema, SchemaConflict};
/// use serde_json::{json, value::to_raw_value};
///
/// let schema = r#"{"type":"object","properties":{"title":{"type":"string"}}}"#;
/// let (schema, data) = (EventSchema::parse(schema)?, to_raw_value(&json!({ "title": 42 }))?);
/// let conflict = schema.check(&data).map_err(SchemaConflict::Candidate).unwrap_err();
/// assert!(conflict.to_string().contains("expected string, but got number"), "{conflict}");
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaConflict {
    /// A new event does not follow the schema.
    #[error("schema conflict: event candidate does not match schema: {0}")]
    Candidate(String),
    /// An event that was stored before the schema does not follow it.
    #[error("schema conflict: event with ID {id}: {reason}")]
    Event {
        /// The event.
        id: EventId,
        /// The message of the schema validator.
        reason: String,
    },
    /// The type already has a schema, and schemas never change.
    #[error("schema conflict: schema already exists")]
    Exists,
    /// A schema and the data of an event describe more work than the store does for one write.
    #[error(
        "schema conflict: the check against a schema needs more than {} steps: simplify the schema or \
         write less data at once",
        WorkBudget::WRITE
    )]
    TooMuchWork,
    /// The schemas of the store fill the memory that is reserved for them.
    #[error("schema conflict: there is no room for another schema")]
    TooManySchemas,
}

/// The reason why data does not pass the check of a schema.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CheckFailure {
    /// The data does not follow the schema. The message names the rule and the place.
    Mismatch(String),
    /// The budget is used up.
    BudgetExceeded,
}

impl From<BudgetExceeded> for CheckFailure {
    fn from(_: BudgetExceeded) -> Self {
        Self::BudgetExceeded
    }
}

impl EventSchema {
    /// Parses a schema. It must describe objects and name their properties. Its references must stay
    /// inside the schema, and its patterns must be regular: without look-around and back-references.
    ///
    /// # Errors
    /// The text is not such a schema, or it is too large.
    pub fn parse(json: &str) -> Result<Self, InvalidSchema> {
        if json.len() > MAX_BYTES {
            let kib = MAX_BYTES >> 10;
            return Err(InvalidSchema(format!("it is larger than {kib} KiB")));
        }
        let small = regular_patterns(SMALL_PATTERN);
        let small = Self::compile(json, TextPrice::SMALL_PATTERNS, |options| {
            options.with_pattern_options(small)
        });
        small.or_else(|_| {
            let large = regular_patterns(LARGE_PATTERN);
            Self::compile(json, TextPrice::LARGE_PATTERNS, |options| {
                options.with_pattern_options(large)
            })
        })
    }

    /// Parses a schema that a store contains. Earlier versions registered larger schemas, and patterns
    /// that need back-tracking.
    ///
    /// # Errors
    /// The text is not a schema of events.
    #[doc(hidden)]
    pub fn parse_stored(json: &str) -> Result<Self, InvalidSchema> {
        Self::parse(json).or_else(|_| {
            let patterns = PatternOptions::fancy_regex().backtrack_limit(BACKTRACKS);
            Self::compile(json, TextPrice::LARGE_PATTERNS, |options| {
                options.with_pattern_options(patterns)
            })
        })
    }

    fn compile(
        json: &str,
        text_price: TextPrice,
        set_patterns: impl FnOnce(SchemaOptions) -> SchemaOptions + Send,
    ) -> Result<Self, InvalidSchema> {
        let invalid = |reason: &dyn fmt::Display| InvalidSchema(reason.to_string());
        let schema: Value = serde_json::from_str(json).map_err(|error| invalid(&error))?;
        if schema.get("type") != Some(&Value::from("object")) {
            return Err(invalid(&r#"/type: value must be "object""#));
        }
        if schema.get("properties").is_none() {
            return Err(invalid(&"missing properties: 'properties'"));
        }
        let patterns = references::check_references(&schema).map_err(|reason| invalid(&reason))?;
        let compile = || {
            let options = jsonschema::options_for().with_retriever(Nowhere);
            let compiled = set_patterns(options).build(&schema);
            compiled.map_err(|error| invalid(&reason(&error)))
        };
        let validator = thread::scope(|scope| {
            let compiler = thread::Builder::new().stack_size(COMPILER_STACK);
            let compiling = compiler.spawn_scoped(scope, compile);
            let compiled = compiling.map_err(|error| invalid(&error))?.join();
            compiled.unwrap_or_else(|_| Err(invalid(&"its compiler failed")))
        })?;
        let text = serde_json::value::to_raw_value(&schema).map_err(|error| invalid(&error))?;
        let text_price = match patterns {
            0 => TextPrice::WITHOUT_PATTERNS,
            _ => text_price,
        };
        Ok(Self {
            text: text.into(),
            validator,
            text_price,
            patterns,
        })
    }

    /// Returns the schema as JSON.
    #[must_use]
    pub fn json(&self) -> &RawValue {
        &self.text
    }

    /// Returns the same JSON, to share it.
    pub(crate) fn share_json(&self) -> Arc<RawValue> {
        Arc::clone(&self.text)
    }

    /// Returns the memory that the schema takes, by estimate.
    pub(crate) fn size(&self) -> usize {
        let of_patterns = self.patterns.saturating_mul(PATTERN_SIZE);
        self.text
            .get()
            .len()
            .saturating_mul(4)
            .saturating_add(of_patterns)
    }

    /// Checks an event's data.
    ///
    /// # Errors
    /// The data does not follow the schema. The message names the rule and the place.
    pub fn check(&self, data: &RawValue) -> Result<(), String> {
        let checked = self.check_within(data, &mut WorkBudget::of(WorkBudget::WRITE));
        checked.map_err(|failure| match failure {
            CheckFailure::Mismatch(reason) => reason,
            CheckFailure::BudgetExceeded => SchemaConflict::TooMuchWork.to_string(),
        })
    }

    /// Checks the data of a stored event, and spends the steps of the check.
    ///
    /// # Errors
    /// The data does not follow the schema, or the budget is used up.
    #[doc(hidden)]
    pub fn check_event(
        &self,
        id: EventId,
        data: &RawValue,
        budget: &mut WorkBudget,
    ) -> Result<(), SchemaConflict> {
        let checked = self.check_within(data, budget);
        checked.map_err(|failure| match failure {
            CheckFailure::Mismatch(reason) => SchemaConflict::Event { id, reason },
            CheckFailure::BudgetExceeded => SchemaConflict::TooMuchWork,
        })
    }

    /// Checks an event's data, and spends the steps of the check.
    pub(crate) fn check_within(
        &self,
        data: &RawValue,
        budget: &mut WorkBudget,
    ) -> Result<(), CheckFailure> {
        let length = u64::try_from(data.get().len()).unwrap_or(u64::MAX);
        let data: Value = serde_json::from_str(data.get())
            .map_err(|error| CheckFailure::Mismatch(error.to_string()))?;
        if budget.run(self.text_price, || {
            self.validator.is_valid(MeteredValue(&data))
        })? {
            return Ok(());
        }
        Err(CheckFailure::Mismatch(self.explain(&data, length)))
    }

    /// Returns the message about data that does not follow the schema. The validator collects the
    /// errors of all alternatives for it, each with its place, so the memory is limited, too.
    fn explain(&self, data: &Value, length: u64) -> String {
        let steps = MESSAGE_BYTES.checked_div(length).unwrap_or_default();
        let steps = steps.min(MESSAGE_STEPS);
        let validate = || {
            let checked = self.validator.validate(MeteredValue(data));
            checked.map_err(|error| reason(&error)).err()
        };
        let explained = WorkBudget::of(steps)
            .run(self.text_price, validate)
            .ok()
            .flatten();
        let text = explained.unwrap_or_else(|| "the data does not follow it".to_owned());
        match text.char_indices().nth(MAX_MESSAGE) {
            Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
            None => text,
        }
    }
}

/// Patterns that are matched in linear time.
fn regular_patterns(size: usize) -> PatternOptions<Regex> {
    PatternOptions::regex()
        .size_limit(size)
        .dfa_size_limit(PATTERN_CACHE)
}

type SchemaOptions = jsonschema::ValidationOptions<'static, Arc<dyn Retrieve>, MeteredJson>;

impl fmt::Debug for EventSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("EventSchema").field(&self.text).finish()
    }
}

/// The resolver of external references. It refuses all of them, so that no schema makes the server
/// read a file or send a request.
struct Nowhere;

impl Retrieve for Nowhere {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Value, Box<dyn Error + Send + Sync>> {
        Err(format!("{uri} leads out of the schema, and nothing is ever fetched").into())
    }
}

/// Describes an error in the words of the original event store, as far as they are known.
fn reason(error: &ValidationError<'_>) -> String {
    let text = match error.kind() {
        ValidationErrorKind::Type {
            kind: TypeKind::Single(expected),
        } => format!("expected {expected}, but got {}", kind_of(error.instance())),
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            let names: Vec<_> = unexpected.iter().map(|name| format!("'{name}'")).collect();
            format!("additionalProperties {} not allowed", names.join(", "))
        }
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            format!("missing properties: '{name}'")
        }
        // The message contains the rule and not the value, because data may be secret.
        _ => error.masked().to_string(),
    };
    match error.instance_path().as_str() {
        "" => text,
        path => format!("{text} at {path}"),
    }
}

const fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
