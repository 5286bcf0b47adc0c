//! The rows of a read model, a page at a time.

use axum::response::Response;
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
    layout::{PageFrame, Section, Visitor},
    notice::NoticePage,
    query_values::QueryValues,
};

/// The number of rows on a page.
const PAGE: &str = "50";
/// The number of characters of a value.
const VALUE: usize = 80;

/// Shows a page of rows.
pub(crate) async fn show_row_list(
    console: &Console,
    visitor: &Visitor,
    name: &str,
    query: &str,
) -> Result<Response, NoticePage> {
    let table = find_table(console, name)?;
    let page = load(console, table, query).await;
    let page = page.map_err(|error| NoticePage::read_models_unavailable(error.to_string()))?;
    let columns: Vec<_> = table
        .model
        .columns
        .iter()
        .map(|column| column.member)
        .collect();
    let title = format!("Rows of {}", table.model.name);
    let frame = PageFrame {
        application: console.name,
        visitor,
        section: Section::ReadModels,
        title: &title,
    };
    Ok(frame.respond(&html! {
        div.bar {
            h1 { (title) }
            a.quiet-link href="/console/read-models" { "Read models" }
        }
        (rows(table.model.name, &columns, &page.items))
        @if let Some(cursor) = page.next_cursor {
            nav.paging aria-label="Pages" {
                a.quiet-link rel="next" href={ "/console/rows/" (table.model.name) "?cursor=" (cursor) } { "Next" }
            }
        }
    }))
}

/// Shows one whole row as JSON.
pub(crate) async fn show_row(
    console: &Console,
    name: &str,
    position: &str,
) -> Result<Response, NoticePage> {
    let table = find_table(console, name)?;
    let position = position
        .parse()
        .map_err(|_| NoticePage::invalid_input("The position of a row is a number."))?;
    let row = find_row_at(&console.database, table, position).await;
    let row = row.map_err(|error| NoticePage::read_models_unavailable(error.to_string()))?;
    let row = row.ok_or_else(|| {
        NoticePage::not_found("There is no row at this position any more. Open the list again.")
    })?;
    Ok(respond_with_json(&row))
}

fn find_table<'a>(console: &'a Console, name: &str) -> Result<&'a Table, NoticePage> {
    let table = console.models.find_table(name);
    table.ok_or_else(|| NoticePage::not_found("There is no read model of this name."))
}

async fn load(
    console: &Console,
    table: &Table,
    query: &str,
) -> Result<Page<PositionedRow>, QueryError> {
    let values = QueryValues::parse(query);
    let given = [("limit", PAGE), ("cursor", values.value_or_empty("cursor"))];
    let given = given.iter().filter(|(_, value)| !value.is_empty());
    let parameters =
        QueryParameters::new(given.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())))?;
    browse_rows(&console.database, table, parameters).await
}

fn rows(table: &str, columns: &[&str], rows: &[PositionedRow]) -> Markup {
    html! {
        @if rows.is_empty() { p.empty { "There are no rows." } }
        @else {
            div.scroll tabindex="0" role="region" aria-label="Rows" {
                table.rows {
                    thead {
                        tr {
                            @for column in columns { th scope="col" { (column) } }
                            th scope="col" { "Whole row" }
                        }
                    }
                    tbody { @for row in rows { (one_row(table, columns, row)) } }
                }
            }
        }
    }
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
