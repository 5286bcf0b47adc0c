//! `cargo es add query`: a query on a read model. With a handler, it can do more than filter.

use super::imports_of;
use crate::{
    application::ScaffoldTarget,
    command_line::NewQueryArguments,
    declared_type::DeclaredType,
    error::ToolError,
    field::{Field, declare_fields},
    new_module::NewModule,
    source_template::fill_template,
};

const TEMPLATE: &str = include_str!("../../templates/add/query.rs");
const HANDLER: &str = include_str!("../../templates/add/query_handler.rs");

pub(super) fn generate_query(
    application: &ScaffoldTarget,
    arguments: &NewQueryArguments,
) -> Result<NewModule, ToolError> {
    application.check_type_is_new(&arguments.name)?;
    let model = application.require("read model", &arguments.read_model)?;
    let fields = arguments.path.complete_fields(&arguments.fields)?;
    let (answer, fields, handler) = if arguments.handler {
        let filters = filters(&fields, model)?;
        let handler = handler(arguments, &filters, model);
        (
            "paged".to_owned(),
            declare_fields(&filters, |_| None),
            handler,
        )
    } else if arguments.path.fields.is_empty() {
        let rows = format!("rows = {}", model.name);
        let declarations = filters(&fields, model)?;
        (rows, declare_filters(declarations), String::new())
    } else {
        check_key(arguments, &fields, model)?;
        let row = format!("row = {}", model.name);
        (row, declare_fields(&fields, |_| None), String::new())
    };
    Ok(NewModule::from_template(
        TEMPLATE,
        &arguments.name,
        &[
            ("imports", imports_of(&[model]).as_str()),
            ("path", &arguments.path.text),
            ("answer", &answer),
            ("fields", &fields),
            ("handler", &handler),
        ],
    ))
}

/// Returns the handler, which compares columns with the fields of the query.
fn handler(arguments: &NewQueryArguments, fields: &[Field], model: &DeclaredType) -> String {
    let filters = fields.iter().map(|field| {
        let (model, field) = (&model.name, &field.name);
        format!(
            "    let column = {model}::{field}();\n    let rows = rows.filter(column.eq(&query.{field}));\n"
        )
    });
    let parameter = if fields.is_empty() { "_" } else { "query" };
    fill_template(
        HANDLER,
        &[
            ("model", model.name.as_str()),
            ("function", &arguments.name.snake_case()),
            ("parameter", parameter),
            ("name", &arguments.name.to_string()),
            ("filters", &filters.collect::<String>()),
        ],
    )
}

/// Fails unless the fields are the key of a row, which the path of a query for one row has.
fn check_key(
    arguments: &NewQueryArguments,
    fields: &[Field],
    model: &DeclaredType,
) -> Result<(), ToolError> {
    let (path, owner) = (&arguments.path, &model.name);
    if model.key().next().is_none() {
        return Err(ToolError::new(format!(
            "{owner} has no field with `#[key]`, so that no path names one of its rows: add `--handler`"
        )));
    }
    if let Some(key) = model.key().find(|key| !path.fields.contains(key)) {
        return Err(ToolError::new(format!(
            "the path {} names one row of {owner}, whose key needs `{{{key}}}` in it: for several rows, add `--handler`",
            path.text
        )));
    }
    for field in fields {
        model.check_field(&field.name, field.field_type, false)?;
        if !path.fields.contains(&field.name) {
            return Err(ToolError::new(format!(
                "the path {} names one row, which no other field `{}` can select",
                path.text, field.name
            )));
        }
    }
    Ok(())
}

/// Returns the filters with the types that they compare: those inside of an `Option`.
fn filters(fields: &[Field], model: &DeclaredType) -> Result<Vec<Field>, ToolError> {
    let filter = |field: &Field| {
        let (name, field_type) = (field.name.clone(), field.field_type.without_option());
        if !field_type.is_scalar() {
            let text = field_type.to_rust_type();
            return Err(ToolError::new(format!(
                "the filter `{name}` cannot be a {text}: rows are selected by one value"
            )));
        }
        model.check_field(&name, field_type, true)?;
        Ok(Field { name, field_type })
    };
    fields.iter().map(filter).collect()
}

/// Declares the filters of a query that the framework answers. A request may leave each of them out.
fn declare_filters(filters: Vec<Field>) -> String {
    let comparison = |field: &Field| {
        let comparison = if field.field_type.is_string() {
            "contains"
        } else {
            "eq"
        };
        Some(format!("#[filter({comparison})]"))
    };
    let optional = filters.into_iter().map(|field| Field {
        field_type: field.field_type.optional(),
        ..field
    });
    declare_fields(&optional.collect::<Vec<_>>(), comparison)
}
