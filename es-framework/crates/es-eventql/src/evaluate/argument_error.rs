//! The error of a function call.

use super::cast::value_for_message;
use crate::{function::Function, query_error::QueryErrorKind, value::Value};

/// Creates the error for the first argument that a function does not accept.
pub(super) fn argument_error(
    function: Function,
    expected: &'static str,
    found: &Value,
) -> QueryErrorKind {
    let found = match found {
        Value::Int(_) | Value::Float(_) => {
            format!("the number {}", value_for_message(found)).into()
        }
        other => other.kind_name().into(),
    };
    QueryErrorKind::WrongArgument {
        function: function.name(),
        expected,
        found,
    }
}
