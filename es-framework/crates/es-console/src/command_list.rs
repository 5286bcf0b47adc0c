//! The commands of the application, or those of one subject. The try-it page has their forms.

use es_catalog::model::ModelNode;
use es_event::Subject;
use maud::{Markup, html};

use crate::{
    layout::Section,
    model_view,
    page_parts::subject_link,
    page_request::{PageRequest, PageResult},
    query_values,
};

/// The path of the page.
pub(crate) const PATH: &str = "/console/commands";

/// The parameter with the subject that the commands are about.
const SUBJECT: &str = "subject";

/// Shows the commands, or those about the subject of the query.
pub(crate) async fn show_command_list(page: PageRequest) -> PageResult {
    let console = page.console();
    let subject: Option<Subject> = match page.query.value_or_empty(SUBJECT) {
        "" => None,
        _ => Some(page.query.required(SUBJECT)?),
    };
    let commands = match &subject {
        Some(subject) => console.commands_of(subject),
        None => console.commands(),
    };
    let content = html! {
        div.bar {
            h1 { "Commands" }
            @if subject.is_some() { a.quiet-link href=(PATH) { "All commands" } }
        }
        @if let Some(subject) = &subject {
            p.muted { "The commands about " code { (subject_link(subject)) } "." }
        }
        @if commands.is_empty() {
            p.empty {
                @if subject.is_some() { "No command is about this subject." }
                @else { "The application declares no command." }
            }
        } @else {
            ul.components.commands { @for command in commands { (card(command)) } }
        }
    };
    page.respond(Section::Commands, "Commands", &content)
}

/// Returns the address of the page with the commands about a subject.
pub(crate) fn address(subject: &Subject) -> String {
    query_values::address(PATH, &[(SUBJECT, subject.as_str())])
}

fn card(command: &ModelNode) -> Markup {
    html! {
        li.card.component {
            div.bar {
                h2 { (command.name) }
                div.steps {
                    a.quiet-link href=(model_view::address(&command.id)) { "In the model" }
                    @if command.route.is_some() {
                        a.quiet-link href={ "/docs#" (command.name) } { "On the try-it page" }
                    }
                }
            }
            p { (command.summary) }
            (facts(command))
        }
    }
}

/// Renders the subject, the route, the role and the rules of a command.
fn facts(command: &ModelNode) -> Markup {
    html! {
        dl.facts {
            dt { "Subject" }
            dd { code { (command.subject.as_deref().unwrap_or_default()) } }
            dt { "Route" }
            dd {
                @match &command.route {
                    Some(route) => code { (route) },
                    None => "none, because only the application itself sends it",
                }
            }
            dt { "Role" }
            dd { (command.role_text().unwrap_or_else(|| "none".to_owned())) }
            @for rule in &command.rules { dt { "Rule" } dd { (rule.sentence) } }
        }
    }
}
