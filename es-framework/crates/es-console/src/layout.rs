//! The frame around every page: head, navigation and the operator's session.

use axum::{
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
};
use maud::{DOCTYPE, Markup, html};

/// A page loads files and sends forms to this service only. It has no inline scripts or styles.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// The reader of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Visitor {
    /// Someone without the credential of operators, to whom nothing but the form to sign in is shown.
    Stranger,
    /// Someone who may read because the application is open.
    Reader,
    /// An operator with an `Authorization` header.
    OperatorClient,
    /// An operator who signed in with a browser. Each form has to carry the token.
    SignedInOperator {
        /// The token of the session's forms.
        form_token: String,
    },
}

/// A section of the console, which the navigation shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    /// The event stream.
    Events,
    /// The state of the whole application.
    Overview,
    /// The tree of subjects.
    Subjects,
    /// The editor of EventQL queries.
    EventQl,
    /// The commands.
    Commands,
    /// The read models and their rows.
    ReadModels,
    /// The reactions.
    Reactions,
    /// The people whose personal data events hold.
    People,
    /// The model of the application.
    Model,
    /// Pages outside of the navigation.
    Other,
}

/// The entries of the navigation: a section, its address and its label.
const NAVIGATION: [(Section, &str, &str); 9] = [
    (Section::Overview, "/console/overview", "Overview"),
    (Section::Events, "/console", "Events"),
    (Section::Subjects, "/console/subjects", "Subjects"),
    (Section::EventQl, "/console/eventql", "EventQL"),
    (Section::Commands, "/console/commands", "Commands"),
    (Section::ReadModels, "/console/read-models", "Read models"),
    (Section::Reactions, "/console/reactions", "Reactions"),
    (Section::People, "/console/people", "People"),
    (Section::Model, "/console/model", "Model"),
];

/// The frame of one page.
#[derive(Debug)]
pub(crate) struct PageFrame<'a> {
    /// The application's name.
    pub(crate) application: &'static str,
    /// The reader.
    pub(crate) visitor: &'a Visitor,
    /// The section that the page belongs to.
    pub(crate) section: Section,
    /// The title of the window.
    pub(crate) title: &'a str,
}

impl PageFrame<'_> {
    /// Returns the response with a page of this status and content.
    pub(crate) fn respond_with(&self, status: StatusCode, content: &Markup) -> Response {
        let headers = [
            (header::CONTENT_TYPE, "text/html; charset=utf-8"),
            (header::CONTENT_SECURITY_POLICY, POLICY),
            // Pages hold data of events.
            (header::CACHE_CONTROL, "no-store"),
        ];
        (status, headers, self.render(content).into_string()).into_response()
    }

    fn render(&self, content: &Markup) -> Markup {
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (self.title) " · " (self.application) }
                    link rel="icon" href="/docs/icon.svg" type="image/svg+xml";
                    link rel="stylesheet" href="/docs/style.css";
                    link rel="stylesheet" href="/console/assets/frame.css";
                    link rel="stylesheet" href="/console/assets/pages.css";
                    @if self.section == Section::Model {
                        link rel="stylesheet" href="/console/assets/model.css";
                    }
                    script type="module" src="/console/assets/keys.js" {}
                    script type="module" src="/console/assets/live.js" {}
                    @if self.section == Section::EventQl {
                        script type="module" src="/console/assets/eventql.js" {}
                    }
                }
                body {
                    a.skip href="#main" { "Skip to the content" }
                    (self.side())
                    main #main tabindex="-1" { (content) }
                }
            }
        }
    }

    fn side(&self) -> Markup {
        html! {
            header.side {
                div.brand {
                    img src="/docs/icon.svg" alt="" width="28" height="28";
                    div {
                        p.title { (self.application) }
                        p.muted { "Console" }
                    }
                }
                @if *self.visitor != Visitor::Stranger { (self.navigation()) }
                div.foot { (self.session()) }
            }
        }
    }

    fn navigation(&self) -> Markup {
        html! {
            nav aria-label="Console" {
                ul {
                    @for (section, path, label) in NAVIGATION {
                        li {
                            a href=(path) aria-current=[(section == self.section).then_some("page")] {
                                (label)
                            }
                        }
                    }
                    li.apart { a href="/docs" { "Try it out" } }
                }
            }
        }
    }

    fn session(&self) -> Markup {
        html! {
            @match self.visitor {
                Visitor::Stranger | Visitor::OperatorClient => {},
                Visitor::Reader => a.muted href="/console/sign-in" { "Sign in as operator" },
                Visitor::SignedInOperator { form_token } => {
                    form.inline method="post" action="/console/sign-out" {
                        (form_token_field(form_token))
                        span.muted { "Operator" }
                        button.quiet type="submit" { "Sign out" }
                    }
                },
            }
        }
    }
}

/// Renders the controls that send an operator's form. Others are asked to sign in, for this purpose.
pub(crate) fn operator_controls(visitor: &Visitor, controls: &Markup, purpose: &str) -> Markup {
    html! {
        @match visitor {
            Visitor::SignedInOperator { form_token } => {
                (form_token_field(form_token))
                (controls)
            },
            Visitor::OperatorClient => (controls),
            Visitor::Reader | Visitor::Stranger => p {
                a href="/console/sign-in" { "Sign in as operator" } " " (purpose) "."
            },
        }
    }
}

/// Renders the hidden field with the token of a form.
fn form_token_field(form_token: &str) -> Markup {
    html! { input type="hidden" name="form" value=(form_token); }
}
