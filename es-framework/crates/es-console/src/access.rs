//! Access to the console: who may read, and how an operator signs in.

use std::{
    net::{IpAddr, Ipv6Addr},
    num::NonZeroU32,
};

use axum::{
    Extension,
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header},
    middleware::Next,
    response::{IntoResponse as _, Redirect, Response},
};
use bytes::Bytes;
use es_net::{ClientIdentity, PeerAddress, RateLimitExceeded, bearer};
use maud::{Markup, html};
use serde::{Deserialize, de::DeserializeOwned};

use crate::{
    console::{Console, ConsoleState},
    layout::{PageFrame, Section, Visitor},
    notice::NoticePage,
    query_values::AddressValues,
    session::{Session, SessionRole},
};

/// The number of credentials that an address may try in a minute.
pub(crate) const CREDENTIALS_A_MINUTE: NonZeroU32 = NonZeroU32::new(10).unwrap();

/// The longest body of a form, in bytes.
pub(crate) const FORM_SIZE: usize = 16 * 1024;

/// The address that a request comes from. Requests inside of the process have none.
fn client_address(peer: Option<PeerAddress>) -> IpAddr {
    peer.map_or(Ipv6Addr::UNSPECIFIED.into(), |PeerAddress(address)| address)
}

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
async fn identify(
    state: &ConsoleState,
    headers: &HeaderMap,
    address: IpAddr,
) -> Result<Visitor, RateLimitExceeded> {
    let console = &state.console;
    let session = state.sessions.find_open(headers).await;
    if let Some(session) = session {
        match session.role {
            SessionRole::Operator if console.operator_token.is_some() => {
                let form_token = state.sessions.form_token(&session);
                return Ok(Visitor::SignedInOperator { form_token });
            }
            // The application may authenticate its callers since it restarted.
            SessionRole::Reader if console.link.is_some() => return Ok(Visitor::Reader),
            SessionRole::Operator | SessionRole::Reader => {}
        }
    }
    let (Ok(credential), Some(token)) = (bearer::read_credential(headers), &console.operator_token)
    else {
        return Ok(Visitor::Stranger);
    };
    if token.matches(credential) {
        return Ok(Visitor::OperatorClient);
    }
    tracing::warn!(%address, "someone sent a wrong API token to the console");
    let client = ClientIdentity::from_address(address);
    state.credentials.admit(client).map(|()| Visitor::Stranger)
}

/// Middleware in front of all pages and streams: lets nobody pass who may not read, and no form that
/// another site has sent. Shows the notice that a page returns instead of itself.
pub(crate) async fn require_access(
    State(state): State<ConsoleState>,
    mut request: Request,
    next: Next,
) -> Response {
    let console = &state.console;
    let address = client_address(request.extensions().get().copied());
    let visitor = match identify(&state, request.headers(), address).await {
        Ok(Visitor::Stranger) => return sign_in_page(console, StatusCode::UNAUTHORIZED, None),
        Ok(visitor) => visitor,
        Err(exceeded) => return too_many_attempts(console, exceeded),
    };
    if request.method() == Method::POST && comes_from_elsewhere(request.headers()) {
        let detail = "A page of another origin has sent this form.";
        return NoticePage::forbidden(detail).respond(console.name, &visitor);
    }
    request.extensions_mut().insert(visitor.clone());
    let mut response = next.run(request).await;
    match response.extensions_mut().remove::<NoticePage>() {
        Some(notice) => notice.respond(console.name, &visitor),
        None => response,
    }
}

/// `GET /console/open?key=…`: the link that the start of an open application prints. It opens the console to one
/// browser, because nobody can tell who sends a request that a proxy on this machine forwards.
pub(crate) async fn open_by_link(
    State(state): State<ConsoleState>,
    headers: HeaderMap,
    address: Uri,
) -> Response {
    let sessions = &state.sessions;
    if sessions.find_open(&headers).await.is_some() {
        return redirect_with(None);
    }
    let values = AddressValues::parse(address.query().unwrap_or_default());
    let link = state.console.link.as_ref();
    if link.is_some_and(|link| link.take(values.value_or_empty("key"))) {
        tracing::info!("a browser opened the link to the console");
        return redirect_with(sessions.to_cookie(&sessions.begin(SessionRole::Reader)));
    }
    let error = "The link of the start works once, and this one is not valid any more.";
    sign_in_page(&state.console, StatusCode::FORBIDDEN, Some(error))
}

/// Returns whether the browser says that another origin has caused the request. Browsers say it only
/// where they trust the connection, so forms carry a token as well.
fn comes_from_elsewhere(headers: &HeaderMap) -> bool {
    let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
    site.is_some_and(|site| site != b"same-origin" && site != b"none")
}

/// Returns the session of the browser, if the form belongs to it. The middleware has found out that it is open.
fn find_session_of_form(
    state: &ConsoleState,
    headers: &HeaderMap,
    body: &Bytes,
) -> Result<Session, NoticePage> {
    let form = serde_urlencoded::from_bytes::<FormToken>(body).ok();
    let session = state.sessions.find_valid_session(headers);
    let own = form
        .zip(session)
        .filter(|(form, session)| state.sessions.owns_form(session, &form.form));
    match own {
        Some((_, session)) => Ok(session),
        None => Err(NoticePage::forbidden(
            "The form belongs to an earlier session. Go back, reload the page and try again.",
        )),
    }
}

/// Reads the fields of a form, which has to come from a page of this operator's session. Clients with the operator's
/// token in a header need no session.
pub(crate) fn read_form<T: DeserializeOwned>(
    state: &ConsoleState,
    headers: &HeaderMap,
    visitor: &Visitor,
    body: &Bytes,
) -> Result<T, NoticePage> {
    match visitor {
        Visitor::OperatorClient => {}
        Visitor::Stranger | Visitor::Reader => {
            return Err(NoticePage::forbidden("Sign in as an operator first."));
        }
        Visitor::SignedInOperator { .. } => {
            find_session_of_form(state, headers, body)?;
        }
    }
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
    peer: Option<Extension<PeerAddress>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let console = &state.console;
    if comes_from_elsewhere(&headers) {
        let detail = "A page of another origin has sent this form.";
        return NoticePage::forbidden(detail).respond(console.name, &Visitor::Stranger);
    }
    let address = client_address(peer.map(|Extension(peer)| peer));
    let client = ClientIdentity::from_address(address);
    if let Err(exceeded) = state.credentials.admit(client) {
        return too_many_attempts(console, exceeded);
    }
    let form = serde_urlencoded::from_bytes::<SignInForm>(&body).ok();
    let token = console.operator_token.as_ref();
    let is_operator = token
        .zip(form)
        .is_some_and(|(token, form)| token.matches(form.token.trim().as_bytes()));
    if !is_operator {
        tracing::warn!(%address, "someone tried to sign in to the console with a wrong token");
        let error = "This is not the API token of the event store.";
        return sign_in_page(console, StatusCode::FORBIDDEN, Some(error));
    }
    tracing::info!(%address, "an operator signed in to the console");
    let session = state.sessions.begin(SessionRole::Operator);
    redirect_with(state.sessions.to_cookie(&session))
}

/// `POST /console/sign-out`.
pub(crate) async fn sign_out(
    State(state): State<ConsoleState>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, NoticePage> {
    let session = find_session_of_form(&state, &headers, &body)?;
    state.sessions.end(&session).await?;
    Ok(redirect_with(state.sessions.removal()))
}

fn too_many_attempts(console: &Console, exceeded: RateLimitExceeded) -> Response {
    let seconds = exceeded.retry_after;
    let error = format!("Too many attempts from your address. Try again in {seconds} seconds.");
    let mut response = sign_in_page(console, StatusCode::TOO_MANY_REQUESTS, Some(&error));
    let headers = response.headers_mut();
    headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    response
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
                @if console.link.is_some() {
                    p { "Open the link to the console that the start of the application printed, or enter the API token of the event store." }
                } @else {
                    p { "The console is for operators. Enter the API token of the event store." }
                }
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
