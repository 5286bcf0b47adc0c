//! Access to the console: who may read, and how an operator signs in.

use std::net::IpAddr;

use axum::{
    Extension,
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse as _, Redirect, Response},
};
use bytes::Bytes;
use es_runtime::bearer;
use maud::{Markup, html};
use serde::{Deserialize, de::DeserializeOwned};

use crate::{
    console::{Console, ConsoleState},
    layout::{PageFrame, Section, Visitor},
    notice::NoticePage,
    session::{Session, removal},
};

/// The longest body of a form, in bytes.
pub(crate) const FORM_SIZE: usize = 16 * 1024;

/// Headers that a reverse proxy adds.
const FORWARDED: [&str; 3] = ["forwarded", "x-forwarded-for", "x-real-ip"];

/// The form to sign in.
#[derive(Debug, Deserialize)]
struct SignInForm {
    token: String,
}

/// The token of a form, which belongs to the session of an operator.
#[derive(Debug, Deserialize)]
struct FormToken {
    form: String,
}

/// Finds out who sends a request.
fn identify(console: &Console, headers: &HeaderMap) -> Visitor {
    let Some(token) = &console.operator_token else {
        return Visitor::without_credential(console, headers);
    };
    if let Some(session) = Session::find_in_cookies(headers, token) {
        let form_token = session.form_token(token);
        return Visitor::SignedInOperator { form_token };
    }
    match bearer::read_credential(headers) {
        Ok(credential) if token.matches(credential) => Visitor::OperatorClient,
        Ok(_) | Err(_) => Visitor::without_credential(console, headers),
    }
}

impl Visitor {
    /// A request that a proxy forwards may come from anywhere.
    fn without_credential(console: &Console, headers: &HeaderMap) -> Self {
        let is_forwarded = FORWARDED.iter().any(|name| headers.contains_key(*name));
        if console.is_open && !is_forwarded && names_this_machine(headers) {
            Self::Reader
        } else {
            Self::Stranger
        }
    }
}

/// Returns whether the request's host is this machine. The owner of a domain can let its name lead to this
/// address (DNS rebinding), and a page of that domain must not read the events.
fn names_this_machine(headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(header::HOST) else {
        // Every browser sends one.
        return true;
    };
    let host = host.to_str().unwrap_or_default();
    let name = match host.strip_prefix('[') {
        Some(address) => address.split(']').next(),
        None => host.split(':').next(),
    };
    let name = name.unwrap_or_default();
    let is_loopback = |address: IpAddr| address.is_loopback();
    name.eq_ignore_ascii_case("localhost") || name.parse().is_ok_and(is_loopback)
}

/// Middleware in front of all pages and streams: lets nobody pass who may not read, and no form that
/// another site has sent.
pub(crate) async fn require_access(
    State(state): State<ConsoleState>,
    mut request: Request,
    next: Next,
) -> Response {
    let console = &state.console;
    let visitor = identify(console, request.headers());
    if visitor == Visitor::Stranger {
        return sign_in_page(console, StatusCode::UNAUTHORIZED, None);
    }
    if request.method() == Method::POST && comes_from_elsewhere(request.headers()) {
        let detail = "A page of another origin has sent this form.";
        return NoticePage::forbidden(detail).respond(console.name, &visitor);
    }
    request.extensions_mut().insert(visitor);
    next.run(request).await
}

/// Returns whether the browser says that another origin has caused the request. Browsers say it only
/// where they trust the connection, so forms carry a token as well.
fn comes_from_elsewhere(headers: &HeaderMap) -> bool {
    let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
    site.is_some_and(|site| site != b"same-origin" && site != b"none")
}

/// Checks that a form comes from a page of this operator's session. Clients with the operator's token in a
/// header need no form.
pub(crate) fn check_form(
    console: &Console,
    headers: &HeaderMap,
    visitor: &Visitor,
    body: &Bytes,
) -> Result<(), NoticePage> {
    match visitor {
        Visitor::OperatorClient => return Ok(()),
        Visitor::Stranger | Visitor::Reader => {
            return Err(NoticePage::forbidden("Sign in as an operator first."));
        }
        Visitor::SignedInOperator { .. } => {}
    }
    let form = serde_urlencoded::from_bytes::<FormToken>(body).ok();
    let token = console.operator_token.as_ref();
    let session = token.and_then(|token| Session::find_in_cookies(headers, token));
    let is_own = form
        .zip(token)
        .zip(session)
        .is_some_and(|((form, token), session)| session.owns_form(token, &form.form));
    if is_own {
        Ok(())
    } else {
        Err(NoticePage::forbidden(
            "The form belongs to an earlier session. Go back, reload the page and try again.",
        ))
    }
}

/// Checks a form as [`check_form`] does, and reads its fields.
pub(crate) fn read_form<T: DeserializeOwned>(
    console: &Console,
    headers: &HeaderMap,
    visitor: &Visitor,
    body: &Bytes,
) -> Result<T, NoticePage> {
    check_form(console, headers, visitor, body)?;
    serde_urlencoded::from_bytes(body)
        .map_err(|error| NoticePage::invalid_input(format!("The form is not valid: {error}.")))
}

/// `GET /console/sign-in`.
pub(crate) async fn show_sign_in(State(state): State<ConsoleState>) -> Response {
    sign_in_page(&state.console, StatusCode::OK, None)
}

/// `POST /console/sign-in`.
pub(crate) async fn sign_in(
    State(state): State<ConsoleState>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let console = &state.console;
    if comes_from_elsewhere(&headers) {
        let detail = "A page of another origin has sent this form.";
        return NoticePage::forbidden(detail).respond(console.name, &Visitor::Stranger);
    }
    let form = serde_urlencoded::from_bytes::<SignInForm>(&body).ok();
    let token = console.operator_token.as_ref();
    let token = token
        .zip(form)
        .filter(|(token, form)| token.matches(form.token.trim().as_bytes()));
    let Some((token, _)) = token else {
        tracing::warn!("someone tried to sign in to the console with a wrong token");
        let error = "This is not the API token of the event store.";
        return sign_in_page(console, StatusCode::FORBIDDEN, Some(error));
    };
    tracing::info!("an operator signed in to the console");
    redirect_with(Session::begin(token).to_cookie(console.is_tls))
}

/// `POST /console/sign-out`.
pub(crate) async fn sign_out(
    State(state): State<ConsoleState>,
    Extension(visitor): Extension<Visitor>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let console = &state.console;
    match check_form(console, &headers, &visitor, &body) {
        Ok(()) => redirect_with(removal(console.is_tls)),
        Err(notice) => notice.respond(console.name, &visitor),
    }
}

/// Redirects to the first page, and sets a cookie.
fn redirect_with(cookie: Option<HeaderValue>) -> Response {
    let mut response = Redirect::to("/console").into_response();
    if let Some(cookie) = cookie {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

fn sign_in_page(console: &Console, status: StatusCode, error: Option<&str>) -> Response {
    let frame = PageFrame {
        application: console.name,
        visitor: &Visitor::Stranger,
        section: Section::Other,
        title: "Sign in",
    };
    let mut response = frame.respond_with(status, &sign_in_form(console, error));
    if status == StatusCode::UNAUTHORIZED {
        let challenge = HeaderValue::from_static("Bearer");
        response
            .headers_mut()
            .insert(header::WWW_AUTHENTICATE, challenge);
    }
    response
}

fn sign_in_form(console: &Console, error: Option<&str>) -> Markup {
    html! {
        div.notice {
            h1 { "Sign in" }
            @if console.operator_token.is_none() {
                p { "This application has no API token of an event store, so nobody is an operator. Set EVENT_STORE_API_TOKEN." }
            } @else {
                p { "The console is for operators. Enter the API token of the event store." }
                form.sign-in method="post" action="/console/sign-in" {
                    div.field {
                        label for="token" { "API token" }
                        input #token name="token" type="password" required autocomplete="current-password" spellcheck="false" aria-describedby=[error.map(|_| "error")];
                        @if let Some(error) = error { p.error #error role="alert" { (error) } }
                    }
                    button.send type="submit" { "Sign in" }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_a_foreign_domain_is_not_this_machine() {
        let names = |host: &str| {
            let value = HeaderValue::from_str(host).unwrap();
            names_this_machine(&HeaderMap::from_iter([(header::HOST, value)]))
        };
        for own in [
            "localhost:8080",
            "LOCALHOST",
            "127.0.0.1:8080",
            "127.1.2.3",
            "[::1]:8080",
        ] {
            assert!(names(own), "{own}");
        }
        for foreign in [
            "evil.example",
            "localhost.evil.example:8080",
            "192.0.2.7",
            "[2001:db8::1]",
            "",
        ] {
            assert!(!names(foreign), "{foreign}");
        }
    }
}
