//! The editor of EventQL queries: the form, the limits, and the result of a query.

use axum::http::{StatusCode, request::Parts};
use es_eventql::QueryErrorKind;
use es_net::PeerAddress;
use maud::{Markup, html};
use serde::Deserialize;

use crate::{
    console::{Console, QUERIES},
    eventql_error,
    eventql_reference::reference,
    eventql_run::{EventQlEnd, EventQlRun, ROWS, ROWS_SIZE},
    eventql_table::render_table,
    layout::{Section, Visitor, operator_controls},
    page_request::{PageRequest, PageResult},
    text_view::{counted, shortened, size_text},
};

/// The path of the page.
pub(crate) const PATH: &str = "/console/eventql";

/// The query that the form begins with.
const FIRST_QUERY: &str = "FROM e IN events
ORDER BY e.id AS INT DESC
TOP 20
PROJECT INTO { id: e.id, time: e.time, subject: e.subject, type: e.type }";

/// The fields of the form.
#[derive(Debug, Deserialize)]
struct EventQlForm {
    query: String,
}

/// The page with the editor.
struct EventQlPage<'a> {
    console: &'a Console,
    visitor: &'a Visitor,
    query: &'a str,
    run: Option<EventQlRun>,
}

/// Shows the editor.
pub(crate) async fn show_eventql_editor(page: PageRequest) -> PageResult {
    respond(&page, FIRST_QUERY, None)
}

/// Runs the query of a form.
pub(crate) async fn run_query(mut page: PageRequest) -> PageResult {
    let form: EventQlForm = page.read_form()?;
    // Queries have permits of their own, because they may run longer than pages.
    page.release_permit();
    // Forms end lines with CR LF.
    let query = form.query.replace("\r\n", "\n");
    let run = match page.state.permits.acquire_query().await {
        Some(_permit) => {
            let log = QueryLog::begin(&page.head, &query);
            let run = EventQlRun::run_query(page.console(), &query).await;
            log.end(&run);
            run
        }
        None => EventQlRun::busy(),
    };
    respond(&page, &query, Some(run))
}

fn respond(page: &PageRequest, query: &str, run: Option<EventQlRun>) -> PageResult {
    let status = run.as_ref().map_or(StatusCode::OK, status);
    let editor = EventQlPage {
        console: page.console(),
        visitor: &page.visitor,
        query,
        run,
    };
    Ok(page.respond_with(status, Section::EventQl, "EventQL", &editor.render()))
}

/// Logs one run of a query without its text, which may contain personal data. A run that is dropped was
/// cancelled.
struct QueryLog {
    peer: Option<String>,
    length: usize,
    has_ended: bool,
}

impl QueryLog {
    fn begin(request: &Parts, query: &str) -> Self {
        let peer = request.extensions.get::<PeerAddress>();
        Self {
            peer: peer.map(|peer| peer.0.to_string()),
            length: query.len(),
            has_ended: false,
        }
    }

    fn end(mut self, run: &EventQlRun) {
        self.has_ended = true;
        tracing::info!(
            peer = self.peer,
            length = self.length,
            rows = run.rows.len(),
            milliseconds = u64::try_from(run.duration.as_millis()).unwrap_or(u64::MAX),
            failed = matches!(run.end, EventQlEnd::Failure(_)),
            "an operator ran an EventQL query"
        );
    }
}

impl Drop for QueryLog {
    fn drop(&mut self) {
        if !self.has_ended {
            let (peer, length) = (self.peer.take(), self.length);
            tracing::info!(peer, length, "an operator cancelled an EventQL query");
        }
    }
}

impl EventQlPage<'_> {
    fn render(&self) -> Markup {
        html! {
            div.bar { h1 { "EventQL" } }
            div.columns {
                section.card { (self.form()) }
                details.card.reference open {
                    summary { "Reference" }
                    (reference(self.console.event_types().first().copied()))
                }
                // The script puts the result of another run in its place.
                section.query-result #result tabindex="-1" aria-label="Result" {
                    @if let Some(run) = &self.run { (result(self.query, run)) }
                }
            }
        }
    }

    fn form(&self) -> Markup {
        // The result is below the form, out of sight on a phone.
        let action = format!("{PATH}#result");
        let rows = self.query.lines().count().clamp(8, 20);
        html! {
            form.editor method="post" action=(action) {
                div.field {
                    label for="query" { "Query" }
                    // A browser ignores the first line break.
                    textarea #query name="query" rows=(rows) required spellcheck="false" autocomplete="off" dir="ltr" aria-describedby="limits" {
                        "\n" (self.query)
                    }
                    (self.limits())
                }
                div.buttons { (operator_controls(self.visitor, &run_buttons(), "to run queries")) }
            }
        }
    }

    fn limits(&self) -> Markup {
        let limits = self.console.query_limits;
        html! {
            p.muted #limits {
                "Runs in this application over its event store (" (shortened(&self.console.catalog.description(), 200))
                "). Limits: " (ROWS) " rows, " (size_text(ROWS_SIZE)) " of results, "
                (limits.time.as_secs_f64()) " seconds, " (size_text(limits.memory)) " of memory, "
                (QUERIES) " queries at once."
            }
        }
    }
}

fn run_buttons() -> Markup {
    html! {
        button.send type="submit" { "Run" }
        button.quiet.cancel type="button" hidden { "Cancel" }
        span.state.muted role="status" {}
    }
}

fn status(run: &EventQlRun) -> StatusCode {
    match &run.end {
        EventQlEnd::Complete | EventQlEnd::TooManyRows | EventQlEnd::TooLarge => StatusCode::OK,
        EventQlEnd::Failure(error) if matches!(error.kind(), QueryErrorKind::Store(_)) => {
            StatusCode::SERVICE_UNAVAILABLE
        }
        EventQlEnd::Failure(_) => StatusCode::BAD_REQUEST,
        EventQlEnd::Busy => StatusCode::SERVICE_UNAVAILABLE,
    }
}

fn result(query: &str, run: &EventQlRun) -> Markup {
    let count = run.rows.len();
    html! {
        div.bar {
            h2 {
                @match &run.end {
                    EventQlEnd::Complete => (counted(u64::try_from(count).unwrap_or_default(), "row")),
                    EventQlEnd::TooManyRows | EventQlEnd::TooLarge => { "The first " (count) " rows" },
                    EventQlEnd::Failure(_) | EventQlEnd::Busy => span.bad { "✗ No complete result" },
                }
            }
            span.muted { (run.duration.as_millis()) " ms" }
        }
        @match &run.end {
            EventQlEnd::Complete => {},
            EventQlEnd::TooManyRows => p.missed { "There are more rows. Read the next ones with SKIP " (count) "." },
            EventQlEnd::TooLarge => p.missed {
                "There are more rows, but these are larger than " (size_text(ROWS_SIZE)) ". Project fewer members."
            },
            EventQlEnd::Failure(error) => (eventql_error::render(query, error)),
            EventQlEnd::Busy => p.bad role="alert" {
                "The console runs as many queries as it may. Try again in a moment."
            },
        }
        @if count > 0 { (render_table(&run.rows)) }
    }
}
