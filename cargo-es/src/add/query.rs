//! `cargo es add query`: a query on a read model.

use super::{NewModule, declarations, query_handler::handler_source, query_source::QuerySource};
use crate::{
    application::ScaffoldTarget, command_line::NewQueryArguments, declared_type::DeclaredType,
    error::ToolError, field::check_scalar_filter, source_parts, source_template,
};

const TEMPLATE: &str = include_str!("../../templates/add/query.rs");

pub(super) fn generate_query(
    application: &ScaffoldTarget,
    arguments: &NewQueryArguments,
) -> Result<NewModule, ToolError> {
    let query = arguments.name.as_str();
    application.check_type_is_new(query)?;
    let model = application.require_read_model(&arguments.read_model)?;
    let source = if arguments.handler {
        handler_source(arguments, model)?
    } else {
        declared_source(arguments, model)?
    };
    let attribute = [
        format!("path = \"{}\"", arguments.path.as_str()),
        source.argument,
    ];
    let sentence = format!("decide which rows {query} returns, and compare them with `query`");
    let common = [
        ("query", query.to_owned()),
        ("imports", source_parts::imports(vec![model.import_path()?])),
        ("summary", arguments.name.to_doc_sentence()),
        ("attribute", source_parts::attribute("query", &attribute)),
        ("fields", source_parts::struct_body(&source.fields)),
        ("panic", source_parts::panic_line(&sentence)),
    ];
    let values = common.iter().chain(&source.values);
    let values: Vec<_> = values.map(|(name, text)| (*name, text.as_str())).collect();
    let text = source_template::fill_template(source.template, &values);
    let name = arguments.name.snake_case();
    Ok(NewModule { name, text })
}

/// Returns the source of a query that the framework answers.
fn declared_source(
    arguments: &NewQueryArguments,
    model: &DeclaredType,
) -> Result<QuerySource, ToolError> {
    let (member, fields) = if arguments.path.has_fields() {
        ("row", keys(arguments, model)?)
    } else {
        ("rows", filters(arguments, model)?)
    };
    Ok(QuerySource {
        template: TEMPLATE,
        argument: format!("{member} = {}", model.name),
        fields,
        values: Vec::new(),
    })
}

/// The key of a query that returns one row.
fn keys(arguments: &NewQueryArguments, model: &DeclaredType) -> Result<Vec<String>, ToolError> {
    let fields = arguments.path.complete_fields(&arguments.fields)?;
    if model.key().next().is_none() {
        return Err(ToolError::new(format!(
            "{} has no field with `#[key]`, so that no path names one of its rows: add `--handler`",
            model.name
        )));
    }
    if let Some(key) = model.key().find(|key| !arguments.path.has_field(key)) {
        return Err(ToolError::new(format!(
            "the path {} names one row of {}, whose key needs `{{{key}}}` in it: for several rows, add `--handler`",
            arguments.path.as_str(),
            model.name
        )));
    }
    for field in &fields {
        model.check_field(&field.name, field.field_type)?;
        if !arguments.path.has_field(&field.name) {
            return Err(ToolError::new(format!(
                "the path {} names one row, which no other field `{}` can select",
                arguments.path.as_str(),
                field.name
            )));
        }
    }
    Ok(declarations(&fields))
}

/// The filters of a query that returns rows.
fn filters(arguments: &NewQueryArguments, model: &DeclaredType) -> Result<Vec<String>, ToolError> {
    let mut filters = Vec::new();
    for field in arguments.path.complete_fields(&arguments.fields)? {
        let (name, field_type) = (&field.name, check_scalar_filter(&field)?);
        model.check_filter(name, field_type)?;
        let filter = if field_type.is_string() {
            "contains"
        } else {
            "eq"
        };
        let text = field_type.to_rust_type();
        filters.push(format!(
            "#[filter({filter})]\n    pub {name}: Option<{text}>,"
        ));
    }
    Ok(filters)
}
