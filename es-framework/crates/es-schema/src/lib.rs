//! Checks JSON against a JSON Schema, within a budget of work. Clients send both, and a few lines of them can
//! describe more work than a computer finishes in a lifetime.
//!
//! The crate is an internal part of `es-framework`; applications use the facade.

#![doc(hidden)]
#![warn(unreachable_pub)]
#![cfg_attr(test, allow(clippy::arithmetic_side_effects))]

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
    work_budget::{BudgetExceeded, TextPrice, run_within},
};

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

/// A compiled JSON Schema of objects.
pub struct JsonSchema {
    text: Arc<RawValue>,
    validator: Validator<MeteredJson>,
    text_price: TextPrice,
    patterns: usize,
}

/// The reason why data does not pass the check of a schema.
#[derive(Debug, PartialEq, Eq)]
pub enum CheckFailure {
    /// The data does not follow the schema. The message names the rule and the place.
    Mismatch(String),
    /// The steps are used up.
    BudgetExceeded,
}

impl From<BudgetExceeded> for CheckFailure {
    fn from(_: BudgetExceeded) -> Self {
        Self::BudgetExceeded
    }
}

impl JsonSchema {
    /// Parses a JSON Schema of events. It must describe objects and name their properties. Its references must stay
    /// inside the schema, and its patterns must be regular: without look-around and back-references.
    ///
    /// # Errors
    /// The text is not such a schema, or it is too large.
    pub fn parse(json: &str) -> Result<Self, String> {
        if json.len() > MAX_BYTES {
            let kib = MAX_BYTES >> 10;
            return Err(format!("it is larger than {kib} KiB"));
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
    pub fn parse_stored(json: &str) -> Result<Self, String> {
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
    ) -> Result<Self, String> {
        let invalid = |reason: &dyn fmt::Display| reason.to_string();
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
    pub const fn json(&self) -> &Arc<RawValue> {
        &self.text
    }

    /// Returns the memory that the schema takes, by estimate.
    #[must_use]
    pub fn size(&self) -> usize {
        let of_patterns = self.patterns.saturating_mul(PATTERN_SIZE);
        self.text
            .get()
            .len()
            .saturating_mul(4)
            .saturating_add(of_patterns)
    }

    /// Checks data, and subtracts the steps of the check from `steps`. One step looks at one value of the data
    /// once, which takes about 20 nanoseconds.
    ///
    /// # Errors
    /// The data does not follow the schema, or the steps are used up.
    pub fn check(&self, data: &RawValue, steps: &mut u64) -> Result<(), CheckFailure> {
        let length = u64::try_from(data.get().len()).unwrap_or(u64::MAX);
        let data: Value = serde_json::from_str(data.get())
            .map_err(|error| CheckFailure::Mismatch(error.to_string()))?;
        if run_within(steps, self.text_price, || {
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
        let mut steps = steps.min(MESSAGE_STEPS);
        let validate = || {
            let checked = self.validator.validate(MeteredValue(data));
            checked.map_err(|error| reason(&error)).err()
        };
        let explained = run_within(&mut steps, self.text_price, validate)
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
