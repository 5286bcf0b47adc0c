//! The operations of queries and of event rows in the OpenAPI document.

use es_read::{
    projection::ReadModelDescriptor,
    query::{
        PageParameters, ParameterDescription, ParameterDescriptions, QueryDescriptor,
        QueryParameters, QueryRoute, QueryRouteTarget, SortChoice,
    },
};
use serde_json::{Value, json};

use super::{
    OpenApiResponse, Operation, Schemas, doc_comment::DocComment, header,
    operation::query_parameter, request_schema,
};
use crate::{
    path,
    problem::kind::{self, ProblemKind},
};

const HEADERS: [&str; 4] = [
    header::EVENT_POSITION,
    header::PREFER,
    header::IF_NONE_MATCH,
    header::LAST_EVENT_ID,
];

const ANSWERED: [&str; 4] = [
    header::ETAG,
    header::CACHE_CONTROL,
    header::HELD_ROWS,
    header::READ_MODEL_STOPPED_AT,
];

/// The problems that every query can return.
const PROBLEMS: [ProblemKind; 9] = [
    kind::INVALID_PARAMETER,
    kind::INVALID_HEADER,
    kind::NO_SUCH_EVENT,
    kind::INTERNAL_ERROR,
    kind::POSITION_NOT_REACHED,
    kind::TOO_MANY_LIVE_QUERIES,
    kind::SHARE_IN_USE,
    kind::TOO_BUSY,
    kind::TOOK_TOO_LONG,
];

/// Describes the operation of a query.
pub(super) fn operation(route: &QueryRoute, schemas: &mut Schemas) -> Operation {
    let answered = match &route.target {
        QueryRouteTarget::Query(query) => of_query(query, schemas),
        QueryRouteTarget::BrowseEvents(table) => browse(&table.model, schemas),
        QueryRouteTarget::FindEvent(table) => find(&table.model, schemas),
    };
    let hides_columns = route.may_compare_hidden_column();
    answered
        .with_caller_rules(route.roles(), route.owner())
        .with_public(route.is_public())
        .with_problems(hides_columns.then_some(kind::NOT_VISIBLE))
}

fn of_query(query: &QueryDescriptor, schemas: &mut Schemas) -> Operation {
    let mut described = ParameterDescriptions::new(schemas.request_generator_mut());
    (query.describe)(&mut described);
    let in_path: Vec<_> = path::parameter_names(query.path).collect();
    let mut operation = Operation::new(
        query.name,
        query.summary,
        DocComment::parse(query.description).text_without_examples(),
    );
    for one in described.into_vec() {
        let is_in_path = in_path.contains(&one.name);
        operation = operation.with_parameter(parameter(one, is_in_path));
    }
    if !query.sort_choices.is_empty() {
        operation = operation.with_parameter(sort_parameter(query.sort_choices));
    }
    if query.paged {
        operation = paged(operation);
    }
    // A query without a table has a handler of the application, which may find nothing.
    let finds_always = query.paged && in_path.is_empty() && !query.tables.is_empty();
    let not_found = (!finds_always).then_some(kind::NOT_FOUND);
    let schema = (query.output)(schemas.response_generator_mut()).to_value();
    answered(operation, schema, schemas).with_problems(not_found)
}

fn browse(model: &ReadModelDescriptor, schemas: &mut Schemas) -> Operation {
    let id = format!("browse_{}", model.name);
    let summary = format!("Browses {}, the oldest first.", model.name);
    let operation = paged(Operation::new(&id, &summary, ""));
    let row = row(model, schemas);
    let schema = json!({
        "type": "object",
        "properties": {
            "items": { "type": "array", "items": &row },
            "nextCursor": { "type": "string" },
            "total": { "type": "integer", "format": "int64", "minimum": 0 },
        },
        "required": ["items"],
    });
    let row_name = row["$ref"]
        .as_str()
        .and_then(|path| path.rsplit('/').next());
    let page = schemas.add(&format!("PageOf{}", row_name.unwrap_or("Row")), schema);
    answered(operation, page, schemas)
}

/// Describes the route of one row of a read model whose rows are events.
fn find(model: &ReadModelDescriptor, schemas: &mut Schemas) -> Operation {
    let id = format!("find_{}", model.name);
    let summary = format!("Shows one of {}.", model.name);
    let operation = Operation::new(&id, &summary, "").with_parameter(json!({
        "name": "key",
        "in": "path",
        "required": true,
        "schema": { "type": "string" },
    }));
    let row = row(model, schemas);
    answered(operation, row, schemas).with_problems([kind::NOT_FOUND])
}

fn row(model: &ReadModelDescriptor, schemas: &mut Schemas) -> Value {
    model.row.map_or_else(
        || json!({ "type": "object" }),
        |row| row(schemas.response_generator_mut()).to_value(),
    )
}

/// Adds the responses, headers and problems of a query whose result has this schema.
fn answered(operation: Operation, schema: Value, schemas: &mut Schemas) -> Operation {
    let answer = OpenApiResponse::new(200, "The result.", &ANSWERED)
        .with_json(schema)
        .with_content("text/event-stream", event_stream(schemas));
    operation
        .with_headers(&HEADERS)
        .with_answer(answer)
        .with_answer(OpenApiResponse::new(
            304,
            "The result still has the ETag in the request.",
            &ANSWERED,
        ))
        .with_problems(PROBLEMS)
}

/// Returns the schema of the response to callers that accept server-sent events.
fn event_stream(schemas: &mut Schemas) -> Value {
    let description = "Server-sent events of a live query. In each event, `data` is a result in the form of `application/json`, and `id` is the value for `Last-Event-ID` after a reconnect. In the last event, `event` can be `problem`, and then `data` is a `Problem`. A line that begins with `:` keeps the connection open.";
    let example = "retry: 2000\nid: 7-eef46741adfc3a9f76294d3b78f37a45\ndata: {\"items\":[]}\n\n";
    let schema = json!({ "type": "string", "description": description, "examples": [example] });
    schemas.add("ServerSentEvents", schema)
}

/// Describes the parameter for the sort order.
fn sort_parameter(choices: &[SortChoice]) -> Value {
    let values: Vec<_> = choices.iter().flat_map(|choice| choice.values()).collect();
    json!({
        "name": "sort",
        "in": "query",
        "required": false,
        "description": "The member by which the rows are sorted, with `-` before it if the largest value comes first. Rows without a value in it are left out.",
        "schema": { "type": "string", "enum": values },
    })
}

/// Adds the parameters of a page.
fn paged(operation: Operation) -> Operation {
    let limit = json!({
        "type": "integer",
        "format": "int32",
        "minimum": 1,
        "maximum": PageParameters::MAX_LIMIT,
        "default": PageParameters::DEFAULT_LIMIT,
    });
    let cursor = bounded(json!({ "type": "string" }));
    let total = json!({ "type": "boolean", "default": false });
    [
        ("limit", "The largest number of rows on a page.", limit),
        ("cursor", "The `nextCursor` of the previous page.", cursor),
        ("total", "True to count the rows of all pages.", total),
    ]
    .into_iter()
    .map(|(name, description, schema)| query_parameter(name, description, schema))
    .fold(operation, Operation::with_parameter)
}

fn parameter(parameter: ParameterDescription, is_in_path: bool) -> Value {
    let mut schema = bounded(parameter.schema.to_value());
    if is_in_path && schema["maxLength"] == QueryParameters::MAX_LENGTH {
        // The address as a whole has a limit.
        if let Some(members) = schema.as_object_mut() {
            members.remove("maxLength");
        }
    }
    let text = DocComment::parse(parameter.description);
    if !text.examples.is_empty() {
        schema["examples"] = text.examples.clone().into();
    }
    if parameter.several {
        schema =
            json!({ "type": "array", "items": schema, "maxItems": QueryParameters::MAX_VALUES });
    }
    let mut value = json!({
        "name": parameter.name,
        "in": if is_in_path { "path" } else { "query" },
        "required": parameter.required,
        "schema": schema,
    });
    if parameter.several {
        // The defaults of OpenAPI, written out: the parameter is repeated for each value.
        value["style"] = "form".into();
        value["explode"] = true.into();
    }
    if !text.text_without_examples().is_empty() {
        value["description"] = text.text_without_examples().into();
    }
    value
}

/// Adds the rules of requests, and the length limits of texts.
fn bounded(mut schema: Value) -> Value {
    request_schema::restrict(&mut schema);
    let is_bare = schema["type"] == "string"
        && ["format", "enum", "const", "pattern", "maxLength"]
            .iter()
            .all(|bound| schema.get(bound).is_none());
    if is_bare {
        schema["maxLength"] = QueryParameters::MAX_LENGTH.into();
        schema["pattern"] = "^[^\\u0000\\uFFFD]*$".into();
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_choose_among_the_declared_sort_orders() {
        let choice = SortChoice {
            column: "due_at",
            member: "dueAt",
        };
        let described = sort_parameter(&[choice]);
        assert_eq!(described["schema"]["enum"], json!(["dueAt", "-dueAt"]));
        assert_eq!(described["required"], false);
    }

    #[test]
    fn a_list_is_a_parameter_that_clients_repeat() {
        let author = ParameterDescription {
            name: "author",
            description: "",
            required: false,
            several: true,
            schema: schemars::json_schema!({ "type": "string" }),
        };
        let described = parameter(author, false);
        assert_eq!(described["schema"]["type"], "array");
        assert_eq!(described["schema"]["items"]["type"], "string");
        assert_eq!(
            (&described["style"], &described["explode"]),
            (&json!("form"), &json!(true))
        );
    }
}
