//! The commands of the application, or those of one subject.

use axum::response::Response;
use maud::{Markup, html};

use crate::{
    console::{Console, DeclaredCommand},
    dry_run_context::DryRunContext,
    layout::{PageFrame, Section, Visitor},
    notice::NoticePage,
};

/// The path of the page.
pub(crate) const PATH: &str = "/console/commands";

/// Shows the commands, and carries the subject and the event of the query to their forms.
pub(crate) fn show_command_list(
    console: &Console,
    visitor: &Visitor,
    query: &str,
) -> Result<Response, NoticePage> {
    let context = DryRunContext::parse(query)?;
    let commands: Vec<_> = match &context.subject {
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
            @if context != DryRunContext::default() { a.quiet-link href=(PATH) { "All commands" } }
        }
        (introduction(&context))
        @if commands.is_empty() {
            p.empty {
                @if context.subject.is_some() { "No command is about this subject." }
                @else { "The application declares no command." }
            }
        } @else {
            ul.components.commands { @for command in commands { (card(command, &context)) } }
        }
    }))
}

fn introduction(context: &DryRunContext) -> Markup {
    html! {
        p.muted {
            @if let Some(subject) = &context.subject {
                "The commands about " a href={ "/console/subjects" (subject) } { code { bdi { (subject) } } } ". "
            }
            "A dry run shows the events or the rejection that a command would lead to"
            @if let Some(at) = context.at {
                " after event " a href={ "/console/events/" (at) } { (at) }
            }
            ". Nothing is written."
        }
    }
}

fn card(command: &DeclaredCommand, context: &DryRunContext) -> Markup {
    html! {
        li.card.component {
            h2 { a href=(context.address(&form_path(command.name))) { (command.name) } }
            p { (command.summary) }
            (facts(command))
        }
    }
}

/// Returns the path of the page with the form of a command.
pub(crate) fn form_path(name: &str) -> String {
    format!("{PATH}/{name}")
}

/// Renders the subject, the route and the role of a command.
pub(crate) fn facts(command: &DeclaredCommand) -> Markup {
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
