//! The console in a real browser, and what it shows to whom.

use std::path::{Path, PathBuf};

use reqwest::{StatusCode, redirect::Policy};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::browser::Browser;
use crate::support::{Library, TOKEN, book, client, eventually, new_client, post};

/// The file of a screenshot. The pictures in the documentation are two of them.
fn picture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("console-{name}.png"))
}

/// The distance of the content from the top of the page.
const CONTENT_TOP: &str =
    "return Math.round(document.querySelector('main').getBoundingClientRect().top)";
/// The pages that have to fit a phone: the name of the picture, and the path.
const PHONE_PAGES: [(&str, &str); 7] = [
    ("events", "/console"),
    ("event", "/console/events/2"),
    ("overview", "/console/overview"),
    ("read-models", "/console/read-models"),
    ("subjects", "/console/subjects"),
    ("eventql", "/console/eventql"),
    ("commands", "/console/commands"),
];
const OVERFLOW: &str = "return document.documentElement.scrollWidth - innerWidth";

/// Records the life of a copy: it is purchased, lent and returned.
async fn lend_and_return(library: &Library, id: Uuid) {
    let reader = Uuid::new_v4();
    let send = async |path: &str, body: Value| {
        let answer = post(&format!("{}{path}", library.url), body.to_string()).await;
        assert!(answer.status().is_success(), "{path}: {}", answer.status());
    };
    send(
        "/readers/register",
        json!({ "id": reader, "name": "Ada Lovelace" }),
    )
    .await;
    send("/books/borrow", json!({ "id": id, "reader": reader })).await;
    send("/books/return", json!({ "id": id })).await;
}

#[tokio::test]
async fn an_event_appears_live_and_its_subject_shows_its_states() {
    let Some(browser) = Browser::start().await else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(folder.path());
    browser.open(&library.console_link()).await;
    browser.text("//*[@id='live'][@data-state='live']").await;
    let id = Uuid::new_v4();
    assert_eq!(
        library.purchase(&book(id)).await.status(),
        StatusCode::CREATED
    );
    let row = browser.text("//tbody[@id='rows']/tr[1]").await;
    assert!(
        row.contains("BookPurchasedEvent") && row.contains("The Lord of the Rings"),
        "{row}"
    );
    // While the page is paused, it does not change.
    browser.click("//*[@id='live']/button").await;
    lend_and_return(&library, id).await;
    let count = "return document.querySelectorAll('#rows tr').length";
    assert_eq!(browser.run(count).await, json!(1));
    browser.click("//*[@id='live']/button").await;
    browser.text("//tbody[@id='rows']/tr[6]").await;
    browser.run("document.activeElement.blur()").await;
    browser.picture(&picture("events")).await;
    browser
        .click("//tbody[@id='rows']//td[@class='subject']/a[contains(@href, '/books/')]")
        .await;
    let newest = browser.text("//ol[@class='timeline']/li[1]").await;
    assert!(
        newest.contains("BookReturnedEvent") && newest.contains("available"),
        "{newest}"
    );
    let lent = browser
        .text("//ol[@class='timeline']/li[2]//*[@class='states']")
        .await;
    assert!(
        lent.contains("lent.dueAt") && lent.contains("removed"),
        "{lent}"
    );
    browser.picture(&picture("timeline")).await;
    browser
        .click("//ol[@class='timeline']/li[1]//div[@class='happened']//a")
        .await;
    let facts = browser.text("//dl[@class='facts']").await;
    assert!(facts.contains("continues event"), "{facts}");
    browser.picture(&picture("event")).await;
    browser.emulate_dark().await;
    browser.picture(&picture("event-dark")).await;
    browser.open(&format!("{}/console", library.url)).await;
    browser.picture(&picture("events-dark")).await;
    browser.emulate_phone().await;
    let subject = format!("/console/subjects/books/{id}");
    for (name, path) in PHONE_PAGES.into_iter().chain([("timeline", &*subject)]) {
        browser.open(&format!("{}{path}", library.url)).await;
        browser
            .picture(&picture(&format!("{name}-phone-dark")))
            .await;
        assert!(browser.run(OVERFLOW).await.as_i64().unwrap() <= 0, "{name}");
        let top = browser.run(CONTENT_TOP).await.as_i64();
        assert!(top < Some(250), "{name}: {top:?}");
    }
    browser.quit().await;
}

#[tokio::test]
async fn hostile_events_stay_text_in_the_browser() {
    let Some(browser) = Browser::start().await else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(folder.path());
    let id = Uuid::new_v4();
    let mut hostile = book(id);
    hostile["title"] = "<img src=x onerror=\"document.title='broken'\">\u{202e}".into();
    hostile["author"] = "<script>document.title='broken'</script>".into();
    browser.open(&library.console_link()).await;
    browser.text("//*[@id='live'][@data-state='live']").await;
    assert_eq!(
        library.purchase(&hostile).await.status(),
        StatusCode::CREATED
    );
    let live = browser.text("//tbody[@id='rows']/tr[1]").await;
    assert!(live.contains("<img src=x"), "{live}");
    let subject = format!("/console/subjects/books/{id}");
    for path in ["/console", &subject, "/console/events/0"] {
        browser.open(&format!("{}{path}", library.url)).await;
        let shown = browser.text("//main").await;
        assert!(
            shown.contains("<img src=x") && shown.contains("\\u{202e}"),
            "{shown}"
        );
        let images = "return document.querySelectorAll('main img, main script').length";
        assert_eq!(browser.run(images).await, json!(0), "{path}");
    }
    browser.quit().await;
}

#[tokio::test]
async fn an_operator_signs_in_and_rebuilds_a_read_model() {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(folder.path());
    let id = Uuid::new_v4();
    assert_eq!(
        library.purchase(&book(id)).await.status(),
        StatusCode::CREATED
    );
    let reader = library.open_console().await;
    let are_up_to_date = async || {
        let page = read_page(&library, &reader, "/console/read-models").await;
        (page.matches("up to date").count() == 6).then_some(())
    };
    // A read model that has not caught up since the start cannot be rebuilt.
    eventually("all read models have caught up", &are_up_to_date).await;
    let path = "/console/read-models/book_copies/rebuild";
    // The browser that opened the link may read, but only an operator may act.
    let page = read_page(&library, &reader, path).await;
    let path = format!("{}{path}", library.url);
    assert!(page.contains("shadow table") && page.contains("Sign in as operator"));
    let browser = new_client().redirect(Policy::none()).build().unwrap();
    let form = |path: &str, body: String| {
        let request = browser.post(path).body(body);
        request.header("content-type", "application/x-www-form-urlencoded")
    };
    let unknown = form(&path, String::new()).header("cookie", &reader);
    let unknown = unknown.send().await.unwrap();
    assert_eq!(unknown.status(), StatusCode::FORBIDDEN);
    let sign_in = format!("{}/console/sign-in", library.url);
    let session = form(&sign_in, format!("token={TOKEN}"))
        .send()
        .await
        .unwrap();
    let cookie = session.headers()["set-cookie"].to_str().unwrap();
    let cookie = cookie.split(';').next().unwrap();
    let page = browser
        .get(&path)
        .header("cookie", cookie)
        .send()
        .await
        .unwrap();
    let page = page.text().await.unwrap();
    let token = page.rsplit("name=\"form\" value=\"").next().unwrap();
    let token = token.split('"').next().unwrap();
    let forged = form(&path, "form=x".to_owned()).header("cookie", cookie);
    assert_eq!(forged.send().await.unwrap().status(), StatusCode::FORBIDDEN);
    let rebuild = form(&path, format!("form={token}")).header("cookie", cookie);
    let rebuild = rebuild.send().await.unwrap();
    let status = rebuild.status();
    assert_eq!(
        status,
        StatusCode::SEE_OTHER,
        "{}",
        rebuild.text().await.unwrap()
    );
    eventually("the read model is rebuilt", are_up_to_date).await;
    let rows = read_page(&library, &reader, "/console/rows/book_copies").await;
    assert!(rows.contains("The Lord of the Rings"));
    let reactions = read_page(&library, &reader, "/console/reactions").await;
    assert!(reactions.contains("LoanReminder"));
}

/// Requests a page as the browser that opened the link of the start.
async fn read_page(library: &Library, session: &str, path: &str) -> String {
    let request = client().get(format!("{}{path}", library.url));
    let page = request.header("cookie", session).send().await.unwrap();
    page.text().await.unwrap()
}

/// Registers a reader with event 0, and purchases a copy with event 1.
async fn register_and_purchase(library: &Library, reader: Uuid, copy: Uuid) {
    let ada = json!({ "id": reader, "name": "Ada" }).to_string();
    let registered = post(&format!("{}/readers/register", library.url), ada).await;
    assert_eq!(registered.status(), StatusCode::CREATED);
    let purchased = library.purchase(&book(copy)).await;
    assert_eq!(purchased.status(), StatusCode::CREATED);
}

#[tokio::test]
async fn the_overview_shows_the_times_and_the_conflicts_of_commands() {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(folder.path());
    let copy = Uuid::new_v4();
    register_and_purchase(&library, Uuid::new_v4(), copy).await;
    let stale = client()
        .post(format!("{}/books/return", library.url))
        .header("content-type", "application/json")
        .header("if-match", "\"0\"")
        .body(json!({ "id": copy }).to_string());
    let stale = stale.send().await.unwrap();
    assert_eq!(stale.status(), StatusCode::PRECONDITION_FAILED);
    let session = library.open_console().await;
    let overview = read_page(&library, &session, "/console/overview").await;
    assert!(overview.contains("3 commands, median "), "{overview}");
    assert!(
        overview.contains("1 decision met a changed subject"),
        "{overview}"
    );
}
