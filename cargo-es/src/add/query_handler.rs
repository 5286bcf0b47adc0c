//! `cargo es add query --handler`: a query with a handler, which can do more than filter.

use super::{declarations, query_source::QuerySource};
use crate::{
    command_line::NewQueryArguments,
    declared_type::DeclaredType,
    error::ToolError,
    field::{Field, check_scalar_filter},
    source_parts,
};

const TEMPLATE: &str = include_str!("../../templates/add/query_handler.rs");

/// Returns the source of a query that a handler answers.
pub(super) fn handler_source(
    arguments: &NewQueryArguments,
    model: &DeclaredType,
) -> Result<QuerySource, ToolError> {
    let fields = fields(arguments, model)?;
    let filters = fields.iter().map(|field| {
        let (model, field) = (&model.name, &field.name);
        format!(
            "    let column = {model}::{field}();\n    let rows = rows.filter(column.eq(&query.{field}));\n"
        )
    });
    let parameter = if fields.is_empty() { "_" } else { "query" };
    let head = source_parts::function_head(
        "async fn",
        &arguments.name.snake_case(),
        &[
            format!("{parameter}: {}", arguments.name.as_str()),
            "context: &QueryContext<'_>".to_owned(),
        ],
        Some(&format!("Result<Page<{}>, QueryError>", model.name)),
    );
    Ok(QuerySource {
        template: TEMPLATE,
        argument: "paged".to_owned(),
        values: vec![
            ("model", model.name.clone()),
            ("handler", head),
            ("filters", filters.collect()),
        ],
        fields: declarations(&fields),
    })
}

/// Returns the fields of the query, with which the handler compares columns.
fn fields(arguments: &NewQueryArguments, model: &DeclaredType) -> Result<Vec<Field>, ToolError> {
    let fields = arguments.path.complete_fields(&arguments.fields)?;
    let filter = |field: Field| {
        let field_type = check_scalar_filter(&field)?;
        model.check_filter(&field.name, field_type)?;
        Ok(Field {
            field_type,
            ..field
        })
    };
    fields.into_iter().map(filter).collect()
}
