//! The commands of the application, or those of one subject. The try-it page has their forms.

use axum::response::Response;
use es_event::{InvalidSubject, Subject};
use maud::{Markup, html};

use crate::{
    console::{Console, DeclaredCommand},
    layout::{PageFrame, Section, Visitor},
    notice::NoticePage,
    query_values::QueryValues,
};

/// The path of the page.
pub(crate) const PATH: &str = "/console/commands";

/// Shows the commands, or those about the subject of the query.
pub(crate) fn show_command_list(
    console: &Console,
    visitor: &Visitor,
    query: &str,
) -> Result<Response, NoticePage> {
    let subject = read_subject(query)?;
    let commands: Vec<_> = match &subject {
        Some(subject) => console.commands_of(subject).collect(),
        None => console.commands.iter().collect(),
    };
    let frame = PageFrame {
        application: console.name,
        visitor,
        section: Section::Commands,
        title: "Commands",
    };
    Ok(frame.respond(&html! {
        div.bar {
            h1 { "Commands" }
            @if subject.is_some() { a.quiet-link href=(PATH) { "All commands" } }
        }
        @if let Some(subject) = &subject {
            p.muted { "The commands about " a href={ "/console/subjects" (subject) } { code { bdi { (subject) } } } "." }
        }
        @if commands.is_empty() {
            p.empty {
                @if subject.is_some() { "No command is about this subject." }
                @else { "The application declares no command." }
            }
        } @else {
            ul.components.commands { @for command in commands { (card(command)) } }
        }
    }))
}

/// Returns the address of the page with the commands about a subject.
pub(crate) fn address(subject: &Subject) -> String {
    let query = serde_urlencoded::to_string([("subject", subject.as_str())]);
    query.map_or_else(|_| PATH.to_owned(), |query| format!("{PATH}?{query}"))
}

fn read_subject(query: &str) -> Result<Option<Subject>, NoticePage> {
    match QueryValues::parse(query).value_or_empty("subject") {
        "" => Ok(None),
        subject => subject.parse().map(Some).map_err(|error: InvalidSubject| {
            NoticePage::invalid_input(format!("The subject is not valid: {error}."))
        }),
    }
}

fn card(command: &DeclaredCommand) -> Markup {
    let node = format!("command:{}", command.name);
    let node = serde_urlencoded::to_string([("node", node)]);
    html! {
        li.card.component {
            div.bar {
                h2 { (command.name) }
                div.steps {
                    @if let Ok(node) = node {
                        a.quiet-link href={ "/console/model?" (node) "#declaration" } { "In the model" }
                    }
                    @if command.path.is_some() {
                        a.quiet-link href={ "/docs#" (command.name) } { "On the try-it page" }
                    }
                }
            }
            p { (command.summary) }
            (facts(command))
        }
    }
}

/// Renders the subject, the route and the role of a command.
fn facts(command: &DeclaredCommand) -> Markup {
    html! {
        dl.facts {
            dt { "Subject" }
            dd { code { (command.template) } }
            dt { "Route" }
            dd {
                @match command.path {
                    Some(path) => code { "POST " (path) },
                    None => "none, because only the application itself sends it",
                }
            }
            dt { "Role" }
            dd { @if command.roles.is_empty() { "none" } @else { (command.roles.join(" or ")) } }
        }
    }
}
