//! The result of a dry run: the events that a command would append, or the reason for which there are none.

use axum::http::StatusCode;
use es_command::command::{DryRun, DryRunDecision};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    DryRunProblem, copied_test,
    event_list::event_type,
    json_view,
    text_view::{escape_controls, isolated},
};

/// The result of a dry run.
#[derive(Debug)]
pub(crate) enum DryRunOutcome {
    /// The command is accepted or rejected.
    Decision {
        /// The dry run.
        run: Box<DryRun<DryRunProblem>>,
        /// The source code of a test, or the reason for which there is none.
        test: Result<String, String>,
    },
    /// There is no decision.
    Failure(DryRunProblem),
}

/// The data of an event as the store keeps it.
#[derive(Debug, Deserialize)]
struct StoredEventData<'a> {
    #[serde(borrow)]
    metadata: &'a RawValue,
    #[serde(borrow)]
    payload: &'a RawValue,
}

impl DryRunOutcome {
    /// Adds the test to the result of a dry run of the command with this JSON text.
    pub(crate) fn new(json: &str, result: Result<DryRun<DryRunProblem>, DryRunProblem>) -> Self {
        match result {
            Ok(run) => {
                let test = copied_test::to_rust(&run, json);
                let run = Box::new(run);
                Self::Decision { run, test }
            }
            Err(problem) => Self::Failure(problem),
        }
    }

    /// Returns the status of the page. A rejection is a result, too.
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::Decision { .. } => StatusCode::OK,
            Self::Failure(problem) => problem.status,
        }
    }

    /// Renders the result as a section of the page.
    pub(crate) fn render(&self) -> Markup {
        html! {
            section.card.dry-run #result tabindex="-1" aria-label="Result" {
                @match self {
                    Self::Decision { run, test } => {
                        (render_run(run))
                        h2 { "Copy as test" }
                        (render_test(test))
                    },
                    Self::Failure(problem) => {
                        h2 { span.bad { "✗ No decision" } }
                        (render_problem(problem))
                    },
                }
            }
        }
    }
}

fn render_run(run: &DryRun<DryRunProblem>) -> Markup {
    let as_of = match run.at {
        Some(at) => format!("as of event {at}"),
        None => "without any event".to_owned(),
    };
    html! {
        @match &run.decision {
            Err(problem) => {
                h2 { span.bad { "✗ Rejected " (as_of) } }
                (render_problem(problem))
            },
            Ok(decision) => {
                h2 {
                    span.good { "✓ Accepted " (as_of) }
                    span.muted { "Nothing was written." }
                }
                (render_events(decision))
                @if let Some(reply) = &decision.reply {
                    h2 { "Reply" }
                    (json_view::pretty(reply.get()))
                }
            },
        }
    }
}

fn render_events(decision: &DryRunDecision) -> Markup {
    html! {
        p {
            @match decision.events.len() {
                0 => "The command would append nothing.",
                1 => "The command would append this event:",
                count => { "The command would append these " (count) " events:" },
            }
        }
        ol.dry-run-events {
            @for event in &decision.events {
                li {
                    p {
                        (event_type(event.event_type.as_str())) " on "
                        code { (isolated(event.subject.as_str())) }
                    }
                    (json_view::pretty(shown_data(&event.data)))
                }
            }
        }
    }
}

fn render_test(test: &Result<String, String>) -> Markup {
    html! {
        @match test {
            Ok(code) => {
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
            Err(reason) => p.missed { (isolated(reason)) },
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

fn render_problem(problem: &DryRunProblem) -> Markup {
    let DryRunProblem {
        status,
        title,
        detail,
        errors,
        ..
    } = problem;
    html! {
        p { strong { (status.as_u16()) " " (isolated(title)) } }
        // The detail of a single violation repeats it, and many a detail repeats the title.
        @if errors.len() != 1 && detail != title { p { (isolated(detail)) } }
        @if !errors.is_empty() {
            dl.facts {
                @for violation in errors {
                    dt { code { (isolated(&violation.pointer)) } }
                    dd { (isolated(&violation.message)) }
                }
            }
        }
    }
}
