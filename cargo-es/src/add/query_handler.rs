//! `cargo es add query --handler`: a query with a handler, which can do more than filter.

use super::{NewModule, declarations};
use crate::{
    application::ScaffoldTarget,
    command_line::NewQueryArguments,
    declared_type::DeclaredType,
    error::ToolError,
    field::{Field, check_scalar_filter},
    rustfmt_layout, source_template,
};

const TEMPLATE: &str = include_str!("../../templates/add/query_handler.rs");

pub(super) fn generate_query_handler(
    application: &ScaffoldTarget,
    arguments: &NewQueryArguments,
) -> Result<NewModule, ToolError> {
    let query = arguments.name.as_str();
    application.check_type_is_new(query)?;
    let model = application.require_read_model(&arguments.read_model)?;
    let fields = fields(arguments, model)?;
    let attribute = [
        format!("path = \"{}\"", arguments.path.as_str()),
        "paged".to_owned(),
    ];
    let filters = fields.iter().map(|field| {
        let (model, field) = (&model.name, &field.name);
        format!(
            "    let column = {model}::{field}();\n    let rows = rows.filter(column.eq(&query.{field}));\n"
        )
    });
    let parameter = if fields.is_empty() { "_" } else { "query" };
    let name = arguments.name.snake_case();
    let head = rustfmt_layout::function_head(
        0,
        "async fn",
        &name,
        &[
            format!("{parameter}: {query}"),
            "context: &QueryContext<'_>".to_owned(),
        ],
        Some(&format!("Result<Page<{}>, QueryError>", model.name)),
    );
    let sentence = format!("decide which rows {query} returns, and compare them with `query`");
    let text = source_template::fill_template(
        TEMPLATE,
        &[
            ("query", query),
            ("model", &model.name),
            (
                "imports",
                &rustfmt_layout::imports(vec![model.path.clone()]),
            ),
            ("summary", &arguments.name.to_doc_sentence()),
            ("attribute", &rustfmt_layout::attribute("query", &attribute)),
            (
                "fields",
                &rustfmt_layout::struct_body(&declarations(&fields)),
            ),
            ("handler", &head),
            ("filters", &filters.collect::<String>()),
            ("panic", &rustfmt_layout::panic_line(&sentence)),
        ],
    );
    Ok(NewModule { name, text })
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
