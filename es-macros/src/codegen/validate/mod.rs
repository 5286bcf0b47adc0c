//! Expands `#[validate(…)]` on fields: `rule` parses the rules, `expand` generates the validation,
//! and `schema` generates the JSON schema.

mod bound;
mod expand;
mod nested;
mod pattern;
mod rule;
mod schema;

pub(crate) use expand::{JsonPlace, ValueWithRules, validation_statements};
pub(crate) use rule::{Rule, parse_rules};
pub(crate) use schema::constraints;
