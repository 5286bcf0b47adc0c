//! The result of a dry run: the events that a command would append, or the reason for which there are none.

use axum::http::StatusCode;
use maud::{Markup, html};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use crate::{
    event_list::event_type,
    json_view,
    notice::NoticePage,
    text_view::{escape_controls, isolated},
};

/// The result of a dry run.
#[derive(Debug)]
pub(crate) enum DryRunOutcome {
    /// The command is accepted or rejected.
    Decision(DryRunDecision),
    /// There is no decision.
    Failure(DryRunProblem),
}

/// The response of the route for dry runs.
#[derive(Debug, Deserialize)]
pub(crate) struct DryRunDecision {
    at: Option<String>,
    events: Vec<DryRunEvent>,
    reply: Option<Box<RawValue>>,
    problem: Option<DryRunProblem>,
    test: Option<CopiedTest>,
}

/// The dry run as the source code of a test, or the reason for which there is none.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
enum CopiedTest {
    Code(String),
    Reason(String),
}

/// An event that the command would append.
#[derive(Debug, Deserialize)]
struct DryRunEvent {
    subject: String,
    r#type: String,
    data: Box<RawValue>,
}

/// A problem (RFC 9457).
#[derive(Debug, Deserialize)]
pub(crate) struct DryRunProblem {
    status: u16,
    title: String,
    detail: String,
    #[serde(default)]
    errors: Vec<DryRunViolation>,
}

/// A value of the command that is not valid.
#[derive(Debug, Deserialize)]
struct DryRunViolation {
    pointer: String,
    message: String,
}

/// The metadata and the payload of an event as the store keeps them.
#[derive(Debug, Deserialize)]
struct StoredEventData<'a> {
    #[serde(borrow)]
    metadata: &'a RawValue,
    #[serde(borrow)]
    payload: &'a RawValue,
}

impl DryRunOutcome {
    /// Reads the JSON texts of the application's dry runs.
    pub(crate) fn parse(result: &Result<String, String>) -> Result<Self, NoticePage> {
        match result {
            Ok(decision) => Ok(Self::Decision(read(decision)?)),
            Err(problem) => Ok(Self::Failure(read(problem)?)),
        }
    }

    /// Returns the status of the page. A rejection is a result, too.
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::Decision(_) => StatusCode::OK,
            Self::Failure(problem) => {
                StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
            }
        }
    }

    /// Renders the result as a section of the page.
    pub(crate) fn render(&self) -> Markup {
        html! {
            section.card.dry-run #result tabindex="-1" aria-label="Result" {
                @match self {
                    Self::Decision(decision) => (decision.render()),
                    Self::Failure(problem) => {
                        h2 { span.bad { "✗ No decision" } }
                        (problem.render())
                    },
                }
            }
        }
    }
}

fn read<T: DeserializeOwned>(json: &str) -> Result<T, NoticePage> {
    let value = serde_json::from_str(json);
    value.map_err(|error| {
        NoticePage::invalid_input(format!(
            "The result of the dry run is not readable: {error}."
        ))
    })
}

impl DryRunDecision {
    fn render(&self) -> Markup {
        let as_of = match &self.at {
            Some(at) => format!("as of event {at}"),
            None => "without any event".to_owned(),
        };
        html! {
            @match &self.problem {
                Some(problem) => {
                    h2 { span.bad { "✗ Rejected " (as_of) } }
                    (problem.render())
                },
                None => {
                    h2 {
                        span.good { "✓ Accepted " (as_of) }
                        span.muted { "Nothing was written." }
                    }
                    (self.events())
                    @if let Some(reply) = &self.reply {
                        h2 { "Reply" }
                        (json_view::pretty(reply.get()))
                    }
                },
            }
            @if let Some(test) = &self.test {
                h2 { "Copy as test" }
                (test.render())
            }
        }
    }

    fn events(&self) -> Markup {
        html! {
            p {
                @match self.events.len() {
                    0 => "The command would append nothing.",
                    1 => "The command would append this event:",
                    count => { "The command would append these " (count) " events:" },
                }
            }
            ol.dry-run-events {
                @for event in &self.events {
                    li {
                        p { (event_type(&event.r#type)) " on " code { (isolated(&event.subject)) } }
                        (json_view::pretty(shown_data(&event.data)))
                    }
                }
            }
        }
    }
}

impl CopiedTest {
    fn render(&self) -> Markup {
        html! {
            @match self {
                Self::Code(code) => {
                    p.muted {
                        "This test of the application passes as long as the command has this result. It contains the "
                        "values of the events, so replace personal data before you commit it."
                    }
                    div.copied-test {
                        // The script shows the button.
                        button.quiet.copy type="button" hidden { "Copy" }
                        span.state.muted role="status" {}
                        pre #test-code tabindex="0" dir="ltr" { code { (escape_controls(code)) } }
                    }
                },
                Self::Reason(reason) => p.missed { (isolated(reason)) },
            }
        }
    }
}

/// Returns the payload, or all data if the event has metadata.
fn shown_data(data: &RawValue) -> &str {
    match serde_json::from_str::<StoredEventData<'_>>(data.get()) {
        Ok(stored) if stored.metadata.get() == "{}" => stored.payload.get(),
        Ok(_) | Err(_) => data.get(),
    }
}

impl DryRunProblem {
    fn render(&self) -> Markup {
        html! {
            p { strong { (self.status) " " (isolated(&self.title)) } }
            // The detail of a single violation repeats it.
            @if self.errors.len() != 1 { p { (isolated(&self.detail)) } }
            @if !self.errors.is_empty() {
                dl.facts {
                    @for violation in &self.errors {
                        dt { code { (isolated(&violation.pointer)) } }
                        dd { (isolated(&violation.message)) }
                    }
                }
            }
        }
    }
}
