//! The rows of a read model, a page at a time.

use axum::extract::Path;
use es_read::{
    projection::Table,
    query::{Page, PositionedRow, QueryError, QueryParameters, browse_rows, find_row_at},
};
use maud::{Markup, html};
use serde_json::{Map, Value};

use crate::{
    console::Console,
    json_file::respond_with_json,
    json_view,
    layout::Section,
    notice::NoticePage,
    page_parts::{next_page, wide_table},
    page_request::{PageRequest, PageResult},
    query_values::AddressValues,
};

/// The number of rows on a page.
const PAGE: &str = "50";
/// The number of characters of a value.
const VALUE: usize = 80;

/// Shows a page of rows.
pub(crate) async fn show_row_list(Path(name): Path<String>, page: PageRequest) -> PageResult {
    let console = page.console();
    let table = find_table(console, &name)?;
    let loaded = load(console, table, &page.query).await;
    let rows = loaded.map_err(|error| NoticePage::read_models_unavailable(error.to_string()))?;
    let columns: Vec<_> = table
        .model
        .columns
        .iter()
        .map(|column| column.member)
        .collect();
    let title = format!("Rows of {}", table.model.name);
    let content = html! {
        div.bar {
            h1 { (title) }
            a.quiet-link href="/console/read-models" { "Read models" }
        }
        (row_table(table.model.name, &columns, &rows.items))
        @if let Some(cursor) = rows.next_cursor {
            @let address = format!("/console/rows/{}?cursor={cursor}", table.model.name);
            (next_page("Pages", &address, "Next"))
        }
    };
    page.respond(Section::ReadModels, &title, &content)
}

/// Shows one whole row as JSON.
pub(crate) async fn show_row(
    Path((name, position)): Path<(String, String)>,
    page: PageRequest,
) -> PageResult {
    let console = page.console();
    let table = find_table(console, &name)?;
    let position = position
        .parse()
        .map_err(|_| NoticePage::invalid_input("The position of a row is a number."))?;
    let found = find_row_at(&console.database, table, position).await;
    match found.map_err(|error| NoticePage::read_models_unavailable(error.to_string()))? {
        Some(row) => Ok(respond_with_json(&row)),
        None => Err(NoticePage::not_found(
            "There is no row at this position any more. Open the list again.",
        )),
    }
}

fn find_table<'a>(console: &'a Console, name: &str) -> Result<&'a Table, NoticePage> {
    let table = console.models.find_table(name);
    table.ok_or_else(|| NoticePage::not_found("There is no read model of this name."))
}

async fn load(
    console: &Console,
    table: &Table,
    values: &AddressValues,
) -> Result<Page<PositionedRow>, QueryError> {
    let given = [("limit", PAGE), ("cursor", values.value_or_empty("cursor"))];
    let filled = given.iter().filter(|(_, value)| !value.is_empty());
    let texts = filled.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let parameters = QueryParameters::new(texts)?;
    browse_rows(&console.database, table, parameters).await
}

fn row_table(table: &str, columns: &[&str], rows: &[PositionedRow]) -> Markup {
    if rows.is_empty() {
        return html! { p.empty { "There are no rows." } };
    }
    let names = columns.iter().chain(&["Whole row"]);
    let titles: Vec<_> = names.map(|name| html! { (name) }).collect();
    let rows = html! { @for row in rows { (one_row(table, columns, row)) } };
    wide_table("Rows", &titles, &rows)
}

fn one_row(table: &str, columns: &[&str], row: &PositionedRow) -> Markup {
    let members: Map<String, Value> = serde_json::from_str(row.json.get()).unwrap_or_default();
    html! {
        tr {
            @for column in columns {
                @match members.get(*column) {
                    None | Some(Value::Null) => td.muted { "–" },
                    Some(value) => td { (json_view::leaf(&value.to_string(), VALUE)) },
                }
            }
            td { a href={ "/console/rows/" (table) "/" (row.position) } { "JSON" } }
        }
    }
}
