//! The try-it page in a real browser.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::support::{Library, get};
use crate::support::{accessibility::AxeCore, browser::Browser};
use reqwest::StatusCode;
use serde_json::json;

/// The file of a screenshot. The picture in the README is one of them.
fn picture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("try-it-{name}.png"))
}

const BOOKS: [[&str; 4]; 3] = [
    ["978-0-345-53943-1", "The Hobbit", "J. R. R. Tolkien", "310"],
    [
        "978-0-441-47812-5",
        "The Left Hand of Darkness",
        "Ursula K. Le Guin",
        "304",
    ],
    [
        "978-0-571-36488-6",
        "Klara and the Sun",
        "Kazuo Ishiguro",
        "320",
    ],
];

#[tokio::test]
async fn copies_are_purchased_on_the_page_and_seen_in_the_list() {
    let Some(browser) = Browser::start().await else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(folder.path());
    // `/` redirects to the page.
    browser.open(&library.url).await;
    browser.choose("PurchaseBookCommand").await;
    for [isbn, title, author, pages] in BOOKS {
        browser.click("//button[@aria-label='New id']").await;
        browser.fill("isbn", isbn).await;
        browser.fill("title", title).await;
        browser.fill("author", author).await;
        browser.fill("numPages", pages).await;
        let headline = browser.send().await;
        assert!(headline.starts_with("201"), "{headline}");
    }
    browser.picture(&picture("purchase")).await;
    browser.choose("BrowseStock").await;
    let headline = browser.send().await;
    assert!(headline.starts_with("200"), "{headline}");
    let table = browser.text("//*[@class='answer']//table").await;
    for text in BOOKS.as_flattened() {
        assert!(table.contains(text), "{text}: {table}");
    }
    browser.picture(&picture("list")).await;
    if let Some(axe_core) = AxeCore::install() {
        axe_core.check(&browser, "the try-it page").await;
        browser.emulate_dark().await;
        axe_core
            .check_contrast(&browser, "the dark try-it page")
            .await;
    }
    browser.quit().await;
}

#[tokio::test]
async fn what_is_wrong_is_told_at_its_field() {
    let Some(browser) = Browser::start().await else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(folder.path());
    browser
        .open(&format!("{}/docs#PurchaseBookCommand", library.url))
        .await;
    browser.fill("numPages", "0").await;
    let headline = browser.send().await;
    assert!(headline.starts_with("422"), "{headline}");
    let field = "//form//label[text()='numPages']/ancestor::*[@class='field']";
    let told = browser.text(&format!("{field}//*[@class='error']")).await;
    assert_eq!(told, "must be at least 1, not 0");
    browser.picture(&picture("invalid")).await;
    // The page shows the status of a rejection.
    browser.choose("ReturnBookCommand").await;
    let headline = browser.send().await;
    assert!(headline.starts_with("404"), "{headline}");
    browser.quit().await;
}

/// Adds a field of an object to the form, with objects in it, and keeps it as `made`.
const ADD_AN_OBJECT: &str = "const { field } = await import('/docs/field.js');
    const place = { type: 'object', required: ['city'], properties: {
        city: { type: 'string' }, floor: { type: ['integer', 'null'] } } };
    const schema = { type: 'object', required: ['place'], properties: {
        place, billing: { anyOf: [place, { type: 'null' }] }, labels: { type: 'array', items: place } } };
    window.made = field({ name: 'address', schema, required: true });
    document.querySelector('form').prepend(window.made.node);";
const VALUE: &str = "return window.made.value()";
const COMPLAIN: &str = "window.made.complain('has no such floor', ['place', 'floor']);
    window.made.invalid().focus();
    return document.querySelector(`label[for=${document.activeElement.id}]`).textContent";
const COMPLAIN_ELSEWHERE: &str = "window.made.complain();
    window.made.complain('is unknown', ['billing', 'street']);
    return window.made.invalid().querySelector('legend').textContent";

#[tokio::test]
async fn the_members_of_an_object_are_fields_of_their_own() {
    let Some(browser) = Browser::start().await else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(folder.path());
    browser
        .open(&format!("{}/docs#PurchaseBookCommand", library.url))
        .await;
    browser.text("//form//label[text()='isbn']").await;
    browser.run(ADD_AN_OBJECT).await;
    // An object that is required is there, and an optional one without values is not.
    assert_eq!(browser.run(VALUE).await, json!({ "place": {} }));
    browser.fill("city", "Rome").await;
    browser.fill("floor", "3").await;
    let label = json!([{ "city": "Oslo" }]);
    browser.fill("labels", &label.to_string()).await;
    let value = json!({ "place": { "city": "Rome", "floor": 3 }, "labels": label });
    assert_eq!(browser.run(VALUE).await, value);
    assert_eq!(browser.run(COMPLAIN).await, "floor");
    let error = "//fieldset//*[@class='error'][not(@hidden)]";
    assert_eq!(browser.text(error).await, "has no such floor");
    assert_eq!(browser.run(COMPLAIN_ELSEWHERE).await, "billing optional");
    assert_eq!(browser.text(error).await, "is unknown");
    browser.picture(&picture("object")).await;
    if let Some(axe_core) = AxeCore::install() {
        axe_core.check(&browser, "the fields of an object").await;
    }
    browser.quit().await;
}

const MENU: &str = "return [...document.querySelectorAll('nav h2')].map((one) => one.textContent)";
const OPERATOR_ROUTES_ARE_OPEN: &str = "return document.querySelector('nav details').open";
const MENU_IS_OPEN: &str = "return document.getElementById('menu').open";
const OVERFLOW: &str = "return document.documentElement.scrollWidth - innerWidth";

#[tokio::test]
async fn the_page_opens_on_a_domain_command_and_collapses_operator_routes() {
    let Some(browser) = Browser::start().await else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(folder.path());
    browser.open(&library.url).await;
    let route = browser.text("//main//*[@class='route']/code").await;
    assert_eq!(route, "/books/purchase");
    assert_eq!(
        browser.run(MENU).await,
        json!([
            "books",
            "readers",
            "fetch-lists",
            "loans",
            "titles",
            "service"
        ])
    );
    assert_eq!(browser.run(OPERATOR_ROUTES_ARE_OPEN).await, json!(false));
    browser.click("//nav//details/summary").await;
    browser.choose("health").await;
    assert!(browser.send().await.starts_with("200"));
    // A link to an operator route opens its place in the menu.
    browser
        .open(&format!("{}/docs?again#rebuildReadModel", library.url))
        .await;
    browser.text("//nav//a[@aria-current]").await;
    assert_eq!(browser.run(OPERATOR_ROUTES_ARE_OPEN).await, json!(true));
    assert_eq!(browser.run(MENU_IS_OPEN).await, json!(true));
    browser.quit().await;
}

#[tokio::test]
async fn on_a_phone_the_menu_is_collapsed_until_it_is_opened() {
    let Some(browser) = Browser::start().await else {
        return;
    };
    browser.emulate_phone().await;
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(folder.path());
    browser.open(&library.url).await;
    let route = browser.text("//main//*[@class='route']/code").await;
    assert_eq!(route, "/books/purchase");
    assert_eq!(browser.run(MENU_IS_OPEN).await, json!(false));
    assert!(browser.run(OVERFLOW).await.as_i64().unwrap() <= 0);
    browser.picture(&picture("phone")).await;
    browser.click("//*[@id='menu']/summary").await;
    browser.choose("BrowseStock").await;
    assert_eq!(browser.run(MENU_IS_OPEN).await, json!(false));
    assert!(browser.send().await.starts_with("200"));
    assert!(browser.run(OVERFLOW).await.as_i64().unwrap() <= 0);
    browser.quit().await;
}

/// A library that authenticates its clients, and the token of one client.
fn guarded(folder: &Path, role: &str) -> (Library, String) {
    let tokens = folder.join("tokens");
    let mut create = Command::new(env!("CARGO_BIN_EXE_library-app"));
    create.args(["token", "create", "--name", "ada", "--role", role]);
    let created = create.env("AUTH_TOKENS_FILE", &tokens).output().unwrap();
    assert!(created.status.success(), "{created:?}");
    let token = String::from_utf8(created.stdout).unwrap();
    let settings = [("AUTH_TOKENS_FILE", tokens.to_str().unwrap())];
    let library = Library::embedded_with(&folder.join("data"), &settings);
    (library, token.trim().to_owned())
}

#[tokio::test]
async fn a_service_that_knows_its_callers_asks_for_a_token_on_the_page() {
    let Some(browser) = Browser::start().await else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let (library, token) = guarded(folder.path(), "reader");
    browser.open(&library.url).await;
    let told = browser.text("//*[@id='state']").await;
    assert!(told.contains("enter a token"), "{told}");
    browser.enter("//input[@id='token']", "nobody").await;
    browser
        .text("//*[@id='state'][contains(., 'does not know')]")
        .await;
    browser.enter("//input[@id='token']", &token).await;
    browser.choose("ReturnBookCommand").await;
    let headline = browser.send().await;
    assert!(headline.starts_with("404"), "{headline}");
    // A reader may not purchase copies.
    browser.choose("PurchaseBookCommand").await;
    let headline = browser.send().await;
    assert!(headline.starts_with("403"), "{headline}");
    browser.quit().await;
}

#[tokio::test]
async fn markup_in_an_answer_stays_text() {
    let Some(browser) = Browser::start().await else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(folder.path());
    browser
        .open(&format!("{}/docs#PurchaseBookCommand", library.url))
        .await;
    let markup = "<img src=x onerror=\"document.title='broken'\">";
    browser.fill("title", markup).await;
    assert!(browser.send().await.starts_with("201"));
    browser.choose("BrowseStock").await;
    browser.send().await;
    let table = browser.text("//*[@class='answer']//table").await;
    assert!(table.contains(markup), "{table}");
    let images = "return document.querySelectorAll('main img').length";
    assert_eq!(browser.run(images).await, json!(0));
    browser.quit().await;
}

#[tokio::test]
async fn the_page_loads_nothing_from_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(folder.path());
    let answer = get(&format!("{}/docs", library.url)).await;
    assert_eq!(answer.status(), StatusCode::OK);
    let policy = answer.headers()["content-security-policy"].to_str();
    let policy = policy.unwrap().to_owned();
    assert!(policy.contains("default-src 'none'"), "{policy}");
    let page = answer.text().await.unwrap();
    for path in page.split("=\"/docs/").skip(1) {
        let path = path.split('"').next().unwrap();
        let answer = get(&format!("{}/docs/{path}", library.url)).await;
        assert_eq!(answer.status(), StatusCode::OK, "{path}");
        assert_eq!(answer.headers()["x-content-type-options"], "nosniff");
    }
}
