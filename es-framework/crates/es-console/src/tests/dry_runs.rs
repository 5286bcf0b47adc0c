//! Tests of the commands, their forms and their dry runs.

use axum::{
    body::Body,
    http::{Request, StatusCode, header, request::Parts},
};
use es_command::command::{
    CommandDescriptor, DryRun, DryRunDecision, NewEvent, SubjectCondition, Violation,
};
use es_event::{Caller, EventType, declaration};
use futures_util::future::{BoxFuture, FutureExt as _, ready};
use jiff::Timestamp;
use schemars::Schema;
use serde_json::{
    json,
    value::{RawValue, to_raw_value},
};

use super::{TYPE, TestConsole, form};
use crate::{DeclaredCommand, DryRunProblem, DryRunService};

const FORM: &str = "/console/commands/BorrowBookCommand";

/// Accepts every JSON text, with an event that contains it.
#[derive(Debug)]
pub(super) struct EchoService;

impl DryRunService for EchoService {
    fn decide<'a>(
        &'a self,
        command: &'a str,
        at: &'a str,
        json: &'a str,
        caller: &'a Caller,
        _: &'a Parts,
    ) -> BoxFuture<'a, Result<DryRun<DryRunProblem>, DryRunProblem>> {
        assert_eq!(command, BORROW.name);
        ready(decide(at, json, caller)).boxed()
    }
}

fn decide(at: &str, json: &str, caller: &Caller) -> Result<DryRun<DryRunProblem>, DryRunProblem> {
    let at = match at {
        "" => None,
        "7" => return Err(problem("at: event 7 is not recorded")),
        at => Some(at.parse().map_err(|_| problem(at))?),
    };
    let (past, decision) = match serde_json::from_str::<&RawValue>(json) {
        Ok(value) => (Some(Vec::new()), Ok(echo(value, caller))),
        Err(error) => (None, Err(problem(&error.to_string()))),
    };
    Ok(DryRun {
        command: BORROW,
        caller: caller.clone(),
        at,
        time: Timestamp::UNIX_EPOCH,
        past,
        decision,
    })
}

fn echo(value: &RawValue, caller: &Caller) -> DryRunDecision {
    let reply = json!({ "caller": describe(caller), "value": value });
    let data = json!({ "metadata": {}, "payload": value });
    let event = NewEvent {
        subject: "/books/1".parse().unwrap(),
        event_type: EventType::declared(TYPE),
        data: to_raw_value(&data).unwrap(),
    };
    DryRunDecision {
        subject: event.subject.clone(),
        events: vec![event],
        reply: to_raw_value(&reply).ok(),
    }
}

fn describe(caller: &Caller) -> String {
    let Caller::Authenticated(caller) = caller else {
        return "anyone at all".to_owned();
    };
    let roles = caller.roles().collect::<Vec<_>>().join("+");
    format!("{roles} of {}", caller.owner_id().unwrap_or_default())
}

fn problem(detail: &str) -> DryRunProblem {
    let violation = || Violation {
        pointer: "/<b>".into(),
        message: "is <i>wrong".into(),
    };
    DryRunProblem {
        status: StatusCode::BAD_REQUEST,
        name: "invalid-values",
        title: "<b>Not valid",
        detail: detail.to_owned(),
        errors: vec![violation(), violation()],
    }
}

const BORROW: CommandDescriptor = CommandDescriptor {
    name: "BorrowBookCommand",
    summary: "Lends a copy.",
    path: "/books/borrow",
    subject: "/books/{id}",
    condition: SubjectCondition::None,
    roles: &["reader"],
    role_without_token: false,
    owner: None,
    declaration: declaration!(),
    handler: declaration!(),
    parameters: Vec::new,
    schema: |_| Schema::default(),
    reply: |_| None,
    rejections: || &[],
    events: Vec::new,
    execute: |_, _| unreachable!("the console sends no command"),
    decide: |_, _| unreachable!("the service decides"),
};

pub(super) fn declared() -> Vec<DeclaredCommand> {
    vec![DeclaredCommand {
        name: "BorrowBookCommand",
        summary: "Lends a copy.",
        documentation: "Lends a copy.\n\nOnly <once>.".to_owned(),
        example: Some(json!({ "id": "1", "reader": "ada" })),
        template: "/books/{id}",
        path: Some("/books/borrow"),
        roles: &["reader"],
    }]
}

/// Sends the form with the credential of operators.
async fn try_json(console: &TestConsole, json: &str, at: &str) -> (StatusCode, String) {
    let body = serde_urlencoded::to_string([("json", json), ("at", at)]).unwrap();
    let request = form(FORM).header(header::AUTHORIZATION, "Bearer secret");
    let (status, _, page) = console.send(request.body(Body::from(body)).unwrap()).await;
    (status, page)
}

#[tokio::test]
async fn a_timeline_leads_to_a_form_that_is_filled() {
    let console = TestConsole::new(true).await;
    console.record("/books/42", json!({})).await;
    console.record("/readers/ada", json!({})).await;
    let timeline = console.page("/console/subjects/books/42").await;
    let list = "/console/commands?subject=%2Fbooks%2F42&amp;at=0";
    assert!(timeline.contains(list), "{timeline}");
    let reader = console.page("/console/subjects/readers/ada").await;
    assert!(!reader.contains("Try a command"), "{reader}");
    let commands = console.page(&list.replace("&amp;", "&")).await;
    let link = format!("{FORM}?subject=%2Fbooks%2F42&amp;at=0");
    assert!(commands.contains(&link), "{commands}");
    assert!(console.page("/console/events/0").await.contains(&link));
    let page = console.page(&link.replace("&amp;", "&")).await;
    assert!(
        page.contains("&quot;id&quot;: &quot;42&quot;") && page.contains("name=\"at\" value=\"0\""),
        "{page}"
    );
    assert!(page.contains("Only &lt;once&gt;.") && page.contains("/docs#BorrowBookCommand"));
    let none = console.page("/console/commands?subject=/readers/ada").await;
    assert!(none.contains("No command is about this subject"), "{none}");
    for wrong in ["?at=x", "?subject=books"] {
        let path = format!("/console/commands{wrong}");
        assert_eq!(console.get(&path).await.0, StatusCode::BAD_REQUEST);
    }
}

#[tokio::test]
async fn a_dry_run_is_for_operators_and_declared_commands() {
    let console = TestConsole::new(true).await;
    let page = console.page(FORM).await;
    assert!(page.contains("to make a dry run") && !page.contains("type=\"submit\""));
    let reader = form(FORM).body(Body::from("json=%7B%7D&at=")).unwrap();
    let reader = console.with_session(reader);
    assert_eq!(console.send(reader).await.0, StatusCode::FORBIDDEN);
    let unknown = "/console/commands/LendBookCommand";
    assert_eq!(console.get(unknown).await.0, StatusCode::NOT_FOUND);
    let request = form(unknown).header(header::AUTHORIZATION, "Bearer secret");
    let request = request.body(Body::from("json=%7B%7D")).unwrap();
    assert_eq!(console.send(request).await.0, StatusCode::NOT_FOUND);
    let foreign = Request::post(FORM)
        .header("sec-fetch-site", "cross-site")
        .header(header::AUTHORIZATION, "Bearer secret");
    let foreign = foreign.body(Body::from("json=%7B%7D")).unwrap();
    assert_eq!(console.send(foreign).await.0, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn a_script_sends_the_command_to_its_route() {
    let open = TestConsole::new(true).await.page(FORM).await;
    let sending = "class=\"sending\" data-path=\"/books/borrow\" hidden";
    assert!(open.contains(sending), "{open}");
    assert!(!open.contains("Token of the caller"), "{open}");
    let console = TestConsole::new(false).await;
    let (_, guarded) = try_json(&console, "{}", "").await;
    assert!(guarded.contains(sending), "{guarded}");
    assert!(guarded.contains("requires the role <code>reader</code>"));
    // The form of the dry run must not contain the caller's token.
    let (_, token) = guarded.split_once("<input id=\"token\"").unwrap();
    let (token, _) = token.split_once('>').unwrap();
    assert!(!token.contains("name="), "{token}");
}

#[tokio::test]
async fn the_result_is_below_the_form_which_keeps_its_input() {
    let console = TestConsole::new(true).await;
    let (status, page) = try_json(&console, r#"{"id":"42"}"#, " 3 ").await;
    assert_eq!(status, StatusCode::OK);
    assert!(page.contains("Accepted as of event 3") && page.contains("/books/1"));
    assert!(page.contains("{&quot;id&quot;:&quot;42&quot;}") && page.contains("Reply"));
    let test = "#[test]\nfn borrow_book_is_accepted() {";
    assert!(
        page.contains("Copy as test") && page.contains(test),
        "{page}"
    );
    let (status, page) = try_json(&console, "{\"id\":", "").await;
    assert_eq!(status, StatusCode::OK);
    assert!(page.contains("Rejected without any event"), "{page}");
    assert!(page.contains("too many for a test") && !page.contains("test-code"));
    assert!(page.contains("EOF while parsing") && page.contains("is &lt;i&gt;wrong"));
    assert!(page.contains("{&quot;id&quot;:</textarea>"), "{page}");
    let (status, page) = try_json(&console, "{}", "7").await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert!(page.contains("No decision") && page.contains("event 7 is not recorded"));
    let (status, _) = try_json(&console, &"x".repeat(20_000), "").await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn a_dry_run_acts_as_the_chosen_caller() {
    let console = TestConsole::new(true).await;
    let run = async |roles, owner| {
        let fields = [
            ("json", "{}"),
            ("at", ""),
            ("roles", roles),
            ("owner", owner),
        ];
        let body = serde_urlencoded::to_string(fields).unwrap();
        let request = form(FORM).header(header::AUTHORIZATION, "Bearer secret");
        console
            .send(request.body(Body::from(body)).unwrap())
            .await
            .2
    };
    let anyone = run("", " ").await;
    assert!(anyone.contains("anyone at all"), "{anyone}");
    let reader = run(" reader  staff ", "7").await;
    assert!(reader.contains("reader+staff of 7"), "{reader}");
    assert!(reader.contains("name=\"owner\" value=\"7\""), "{reader}");
}

#[tokio::test]
async fn hostile_json_stays_text() {
    let console = TestConsole::new(true).await;
    let hostile = "{\"</textarea><script>alert(1)</script>\":\"</pre><img src=x>\u{202e}\"}";
    let hostile_event = "\"><script>alert(2)</script>";
    for (json, at) in [
        (hostile, ""),
        (&hostile[..40], ""),
        (hostile, hostile_event),
    ] {
        let (_, page) = try_json(&console, json, at).await;
        assert!(
            !page.contains("<script>alert") && !page.contains("<img src=x"),
            "{page}"
        );
        assert_eq!(page.matches("</textarea>").count(), 1, "{page}");
    }
}

#[tokio::test]
async fn the_forms_suggest_what_the_application_declares() {
    let console = TestConsole::new(true).await;
    let page = console.page("/console").await;
    let template = BORROW.subject;
    let head = template.split("/{").next().unwrap();
    assert!(page.contains(&format!("placeholder=\"{head}\"")), "{page}");
    assert!(
        page.contains("placeholder=\"BookPurchasedEvent\""),
        "{page}"
    );
}

#[test]
fn a_problem_whose_title_is_its_detail_is_shown_once() {
    let shown = |detail: &str| {
        let problem = DryRunProblem {
            detail: detail.to_owned(),
            title: "The copy is lent",
            ..problem("")
        };
        let outcome = crate::dry_run_outcome::DryRunOutcome::Failure(problem);
        outcome.render().into_string().matches("<p>").count()
    };
    assert_eq!(
        (shown("The copy is lent"), shown("It is back on Monday")),
        (1, 2)
    );
}
