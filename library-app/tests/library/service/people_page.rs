//! The console's page of people, in a real browser.

use std::path::Path;

use serde_json::json;
use uuid::Uuid;

use crate::support::{
    Library, TOKEN, accessibility::AxeCore, browser::Browser, eventually, get, json_of, post,
};

#[tokio::test]
async fn an_operator_finds_and_erases_a_reader_and_others_do_not() {
    let Some(browser) = Browser::start().await else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(folder.path());
    let reader = Uuid::new_v4();
    let name = format!("Name{}", Uuid::new_v4().simple());
    let body = json!({ "id": reader, "name": name }).to_string();
    post(&format!("{}/readers/register", library.url), body).await;
    let url = format!("{}/readers/{reader}", library.url);
    eventually("the reader is known", async || {
        get(&url).await.status().is_success().then_some(())
    })
    .await;
    let people = format!("{}/console/people", library.url);
    browser.open(&library.console_link()).await;
    browser.open(&people).await;
    let page = browser.text("//main").await;
    assert!(page.contains("Sign in as operator"), "{page}");
    for path in ["", "/export", "/erase"] {
        browser
            .open(&format!("{people}{path}?subject=/readers/{reader}"))
            .await;
        let page = browser.text("//main").await;
        assert!(page.contains("Not allowed"), "{page}");
    }
    let sign_in = format!("{}/console/sign-in", library.url);
    browser.open(&sign_in).await;
    browser.fill("API token", TOKEN).await;
    browser.click("//button[text()='Sign in']").await;
    browser.text("//*[@id='live']").await;
    let event = format!("{}/console/events/0", library.url);
    browser.open(&event).await;
    let event = browser.text("//main").await;
    assert!(event.contains("verified: it fits"), "{event}");
    assert!(
        !event.contains(&name) && event.contains("(personal, not shown)"),
        "{event}"
    );
    browser.click("//nav//a[text()='People']").await;
    let subject = format!("/readers/{reader}");
    browser.fill("Subject of the person", &subject).await;
    browser.click("//button[text()='Find']").await;
    let page = browser.text("//main[contains(., 'readers')]").await;
    assert!(page.contains("sealed") && !page.contains(&name), "{page}");
    let picture = Path::new(env!("CARGO_TARGET_TMPDIR")).join("console-people.png");
    browser.picture(&picture).await;
    if let Some(axe_core) = AxeCore::install() {
        axe_core.check(&browser, "people").await;
    }
    let export =
        "return fetch(document.querySelector('a[href*=\"/export\"]').href).then(it => it.text())";
    let export = browser.run(export).await.to_string();
    assert!(export.contains(&name), "{export}");
    let values = "Values that must be gone, one a line";
    browser.fill(values, &name).await;
    browser.click("//button[text()='Verify']").await;
    let page = browser.text("//main[contains(., 'Found')]").await;
    assert!(page.contains("rows of readers"), "{page}");
    browser.click("//a[text()='To this person']").await;
    browser.click("//a[text()='Erase…']").await;
    let warning = "//main[contains(., 'Nothing brings them back')]";
    let page = browser.text(warning).await;
    assert!(page.contains("1 value in events"), "{page}");
    browser.click("//button[text()='Erase']").await;
    let page = browser.text("//main[contains(., 'Dropped')]").await;
    assert!(page.contains("read model readers"), "{page}");
    assert!(page.contains("None was found"), "{page}");
    assert_eq!(json_of(get(&url).await).await["name"], "erased reader");
    browser.quit().await;
}
