//! The form of one command, and the result of its dry run.

use axum::{
    http::{StatusCode, request::Parts},
    response::Response,
};
use bytes::Bytes;
use es_event::Caller;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    access::read_form,
    command_example::starting_json,
    command_list::{facts, form_path},
    console::{Console, ConsoleState, DeclaredCommand},
    dry_run_context::DryRunContext,
    dry_run_outcome::DryRunOutcome,
    json_view,
    layout::{PageFrame, Section, Visitor, operator_controls},
    notice::NoticePage,
};

/// The fields of the form.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CommandForm {
    /// The command as a JSON text.
    json: String,
    /// The last event that the states contain. If it is empty, they contain all events.
    at: String,
    /// The roles of the caller, with spaces between them.
    roles: String,
    /// The owner id of the caller.
    owner: String,
}

/// The page of one command.
struct CommandPage<'a> {
    console: &'a Console,
    visitor: &'a Visitor,
    command: &'a DeclaredCommand,
    form: CommandForm,
    result: Option<DryRunOutcome>,
}

/// Shows the form with the example of the command.
pub(crate) fn show_command_form(
    console: &Console,
    visitor: &Visitor,
    name: &str,
    query: &str,
) -> Result<Response, NoticePage> {
    let command = find(console, name)?;
    let context = DryRunContext::parse(query)?;
    let unknown = Value::Null;
    let schema = schema(console, command).unwrap_or(&unknown);
    let form = CommandForm {
        json: starting_json(command, schema, context.subject.as_ref()),
        at: context.at.map(|at| at.to_string()).unwrap_or_default(),
        ..CommandForm::default()
    };
    let page = CommandPage {
        console,
        visitor,
        command,
        form,
        result: None,
    };
    Ok(page.respond())
}

/// Makes the dry run of a form.
pub(crate) async fn dry_run(
    state: &ConsoleState,
    visitor: &Visitor,
    name: &str,
    request: &Parts,
    body: &Bytes,
) -> Result<Response, NoticePage> {
    let console = &*state.console;
    let command = find(console, name)?;
    let form: CommandForm = read_form(state, &request.headers, visitor, body)?;
    let service = &console.dry_run;
    let caller = form.caller();
    let decision = service.decide(command.name, form.at.trim(), &form.json, &caller, request);
    let result = DryRunOutcome::new(&form.json, decision.await);
    let page = CommandPage {
        console,
        visitor,
        command,
        form,
        result: Some(result),
    };
    Ok(page.respond())
}

fn find<'a>(console: &'a Console, name: &str) -> Result<&'a DeclaredCommand, NoticePage> {
    let command = console.commands.iter().find(|command| command.name == name);
    command.ok_or_else(|| NoticePage::not_found("The application has no such command."))
}

fn schema<'a>(console: &'a Console, command: &DeclaredCommand) -> Option<&'a Value> {
    let node = console.model.node(&node_id(command))?;
    node.schema.as_ref()
}

/// Returns the id of a command in the model.
fn node_id(command: &DeclaredCommand) -> String {
    format!("command:{}", command.name)
}

impl CommandForm {
    /// Returns the caller as whom the dry run decides.
    fn caller(&self) -> Caller {
        let owner = Some(self.owner.trim()).filter(|owner| !owner.is_empty());
        Caller::assumed(self.roles.split_whitespace(), owner)
    }
}

impl CommandPage<'_> {
    fn respond(&self) -> Response {
        let frame = PageFrame {
            application: self.console.name,
            visitor: self.visitor,
            section: Section::Commands,
            title: self.command.name,
        };
        let result = self.result.as_ref();
        let status = result.map_or(StatusCode::OK, DryRunOutcome::status);
        frame.respond_with(status, &self.render())
    }

    fn render(&self) -> Markup {
        let paragraphs = self.command.documentation.split("\n\n");
        html! {
            div.bar {
                h1 { (self.command.name) }
                (self.links())
            }
            @for paragraph in paragraphs.filter(|text| !text.is_empty()) { p { (paragraph) } }
            div.columns {
                section.card { (self.form()) }
                section.card {
                    h2 { "Declaration" }
                    (facts(self.command))
                    @if let Some(schema) = schema(self.console, self.command) {
                        details.schema {
                            summary { "Schema" }
                            (json_view::pretty(&schema.to_string()))
                        }
                    }
                }
            }
            @if let Some(result) = &self.result { (result.render()) }
        }
    }

    fn links(&self) -> Markup {
        let node = serde_urlencoded::to_string([("node", node_id(self.command))]);
        html! {
            div.steps {
                @if let Ok(node) = node {
                    a.quiet-link href={ "/console/model?" (node) "#declaration" } { "In the model" }
                }
                @if self.command.path.is_some() {
                    a.quiet-link href={ "/docs#" (self.command.name) } { "On the try-it page" }
                }
            }
        }
    }

    fn form(&self) -> Markup {
        // The result is below the form, out of sight on a phone.
        let action = format!("{}#result", form_path(self.command.name));
        let rows = self.form.json.lines().count().clamp(6, 20);
        let button = html! { button.send type="submit" { "Dry run" } };
        html! {
            form method="post" action=(action) {
                div.field {
                    label for="json" { "Command" }
                    // A browser ignores the first line break.
                    textarea #json name="json" rows=(rows) required spellcheck="false" autocomplete="off" dir="ltr" {
                        "\n" (self.form.json)
                    }
                }
                div.field {
                    label for="at" { "As of event" }
                    input #at name="at" value=(self.form.at) placeholder="now" inputmode="numeric" autocomplete="off" aria-describedby="at-hint";
                    p.muted #at-hint { "For a dry run: the last event that the states contain. Empty means now." }
                }
                (self.caller_fields())
                (operator_controls(self.visitor, &button, "to make a dry run"))
                @if let Some(path) = self.command.path { (self.sending(path)) }
            }
        }
    }

    /// Renders the fields of the caller as whom a dry run decides.
    fn caller_fields(&self) -> Markup {
        let rule = self.console.model.node(&node_id(self.command));
        let rules = rule.map(|node| node.rules.as_slice()).unwrap_or_default();
        html! {
            div.field {
                label for="roles" { "Roles of the caller" }
                input #roles name="roles" value=(self.form.roles) placeholder=(self.command.roles.join(" ")) autocomplete="off" aria-describedby="caller-hint";
            }
            div.field {
                label for="owner" { "Owner id of the caller" }
                input #owner name="owner" value=(self.form.owner) autocomplete="off" aria-describedby="caller-hint";
                p.muted #caller-hint {
                    "For a dry run: who sends the command. Empty means the service itself, which may do everything."
                    @for rule in rules { " " (rule.sentence) }
                }
            }
        }
    }

    /// Renders the controls with which a script sends the command to its route. The fields have no names, so
    /// the form of the dry run does not contain the token.
    fn sending(&self, path: &str) -> Markup {
        html! {
            div.sending data-path=(path) hidden {
                @if self.console.authenticates_callers {
                    div.field {
                        label for="token" { "Token of the caller" }
                        input #token type="password" autocomplete="off" spellcheck="false" aria-describedby="token-hint";
                        p.muted #token-hint {
                            @match self.command.roles {
                                [] => "The command requires no role.",
                                roles => { "The command requires the role " code { (roles.join(" or ")) } "." },
                            }
                            " The page forgets the token when it is closed."
                        }
                    }
                }
                button.quiet type="button" { "Send" }
                p.muted { "Decides on the current states, and appends the events." }
            }
        }
    }
}
