//! Compares a committed OpenAPI document with that of the program, and finds the changes that break
//! clients of the committed one.
//!
//! A request has to take what it took, so it may become wider. A response has to stay within what it
//! was, so it may become narrower.

mod access_comparison;
mod client_break;
mod contract_comparison;
mod integer_range;
mod operation_change;
mod operation_comparison;
mod schema_comparison;
mod schema_shape;
#[cfg(test)]
mod tests;

use serde_json::Value;

pub(super) use contract_comparison::ContractComparison;

/// A document whose references are resolved.
#[derive(Debug, Clone, Copy)]
struct DocumentReader<'a>(&'a Value);

impl<'a> DocumentReader<'a> {
    /// The longest chain of references that is followed.
    const MAX_REFERENCES: usize = 16;

    /// Returns the value that a `$ref` of this value names.
    fn referenced(self, value: &'a Value) -> Option<&'a Value> {
        let reference = value.get("$ref")?.as_str()?;
        self.0.pointer(reference.strip_prefix('#')?)
    }

    /// Returns the value, or the one that its `$ref` names.
    fn resolve(self, mut value: &'a Value) -> &'a Value {
        for _ in 0..Self::MAX_REFERENCES {
            match self.referenced(value) {
                Some(named) => value = named,
                None => break,
            }
        }
        value
    }
}
