//! A walk through the console in a real browser, as an operator uses it.

use std::path::Path;

use reqwest::StatusCode;
use serde_json::json;
use uuid::Uuid;

use crate::support::{
    Library, TOKEN, accessibility::AxeCore, book, browser::Browser, eventually, post,
};

/// A query that takes longer than the test.
const ENDLESS: &str = "FROM a IN events FROM b IN events FROM c IN events FROM d IN events FROM e IN events \
    FROM f IN events FROM g IN events FROM h IN events PROJECT INTO COUNT()";

/// A browser of an operator, and the service.
struct Walk {
    browser: Browser,
    axe_core: Option<AxeCore>,
    library: Library,
    copy: Uuid,
}

impl Walk {
    async fn open(&self, path: &str) {
        let url = format!("{}{path}", self.library.url);
        self.browser.open(&url).await;
    }

    /// Checks that the page is not wider than the window and has no barriers, and takes its picture, in
    /// light and in dark colours.
    async fn check_page(&self, name: &str) {
        let overflow = "return document.documentElement.scrollWidth - innerWidth";
        let overflow = self.browser.run(overflow).await;
        assert!(overflow.as_i64().unwrap() <= 0, "{name}: {overflow}");
        let width = self.browser.run("return innerWidth").await;
        let name = format!("{name}-{width}");
        self.take_picture(&name).await;
        if let Some(axe_core) = &self.axe_core {
            axe_core.check(&self.browser, &name).await;
        }
        let name = format!("{name}-dark");
        self.browser.emulate_dark().await;
        self.take_picture(&name).await;
        if let Some(axe_core) = &self.axe_core {
            axe_core.check_contrast(&self.browser, &name).await;
        }
        self.browser.emulate_light().await;
    }

    async fn take_picture(&self, name: &str) {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let file = file.join(format!("console-{name}.png"));
        self.browser.picture(&file).await;
    }

    async fn sign_in(&self) {
        self.open("/console/sign-in").await;
        self.check_page("sign-in").await;
        self.browser.fill("API token", TOKEN).await;
        self.browser.click("//button[text()='Sign in']").await;
        self.browser
            .text("//*[@id='live'][@data-state='live']")
            .await;
    }

    /// Purchases the copy, and waits until the event appears.
    async fn watch_purchase(&self) {
        let purchased = self.library.purchase(&book(self.copy)).await;
        assert_eq!(purchased.status(), StatusCode::CREATED);
        let row = "//tbody[@id='rows']/tr[1][contains(., 'BookPurchasedEvent')]";
        self.browser.text(row).await;
        self.check_page("events").await;
        self.browser.press("/").await;
        let focused = self.browser.run("return document.activeElement.name").await;
        assert_eq!(focused, "subject");
        let subject = "//tbody[@id='rows']//a[contains(@href, '/console/subjects/books/')]";
        self.browser.click(subject).await;
        let newest = self.browser.text("//ol[@class='timeline']/li[1]").await;
        assert!(newest.contains("available"), "{newest}");
        self.check_page("timeline").await;
    }

    /// Follows the link from the commands of a subject to the form of one of them.
    async fn find_command(&self) {
        let browser = &self.browser;
        browser
            .click("//div[@class='bar']/a[text()='Commands']")
            .await;
        self.check_page("commands").await;
        let card = "//li[.//h2[text()='BorrowBookCommand']]";
        browser
            .click(&format!("{card}//a[text()='On the try-it page']"))
            .await;
        browser.text("//h1").await;
        let address = browser
            .run("return location.pathname + location.hash")
            .await;
        assert_eq!(address, "/docs#BorrowBookCommand");
    }

    async fn rebuild(&self) {
        self.open("/console/read-models").await;
        let rebuild = "//a[contains(@href, '/book_copies/rebuild')]";
        self.browser.click(rebuild).await;
        self.browser.click("//button[text()='Rebuild']").await;
        eventually("the read model is rebuilt", async || {
            self.open("/console/read-models").await;
            let page = self.browser.text("//main").await;
            (page.matches("up to date").count() == 6).then_some(())
        })
        .await;
        self.check_page("read-models").await;
    }

    async fn run_query(&self) {
        let browser = &self.browser;
        self.open("/console/eventql").await;
        browser.click("//button[text()='Run']").await;
        let rows = browser
            .text("//*[@id='result'][contains(., '12 rows')]")
            .await;
        assert!(
            rows.contains("subject") && rows.contains("BookPurchasedEvent"),
            "{rows}"
        );
        self.check_page("eventql").await;
    }

    /// Runs queries without leaving the page: one with a mistake, and one that is cancelled.
    async fn cancel_query(&self) {
        let browser = &self.browser;
        browser.run("window.isSamePage = true").await;
        browser
            .fill("Query", "FROM e IN events PROJECT INTO f")
            .await;
        browser.click("//button[text()='Run']").await;
        let mark = browser.text("//*[@id='result']//mark").await;
        assert_eq!(mark, "f");
        browser.fill("Query", ENDLESS).await;
        browser.click("//button[text()='Run']").await;
        browser.click("//button[text()='Cancel']").await;
        browser
            .text("//*[@role='status'][text()='Cancelled.']")
            .await;
        assert_eq!(browser.run("return window.isSamePage").await, true);
    }

    async fn see_model(&self) {
        self.open("/console/model").await;
        self.browser
            .click("//*[local-name()='svg']//*[local-name()='a'][1]")
            .await;
        self.browser.text("//*[@id='declaration']").await;
        self.check_page("model").await;
        self.open("/console/overview").await;
        let overview = self.browser.text("//main").await;
        assert!(
            overview.contains("Command times of the last hour"),
            "{overview}"
        );
        self.check_page("overview").await;
    }
}

#[tokio::test]
async fn an_operator_walks_through_the_console() {
    let Some(browser) = Browser::start().await else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(folder.path());
    let (reader, copy) = (Uuid::from_u128(100), Uuid::from_u128(1));
    let ada = json!({ "id": reader, "name": "Ada" }).to_string();
    let registered = post(&format!("{}/readers/register", library.url), ada).await;
    assert_eq!(registered.status(), StatusCode::CREATED);
    let walk = Walk {
        browser,
        axe_core: AxeCore::install(),
        library,
        copy,
    };
    walk.sign_in().await;
    walk.watch_purchase().await;
    walk.find_command().await;
    walk.rebuild().await;
    for _ in 0..10 {
        let purchased = walk.library.purchase(&book(Uuid::new_v4())).await;
        assert_eq!(purchased.status(), StatusCode::CREATED);
    }
    walk.run_query().await;
    walk.cancel_query().await;
    walk.see_model().await;
    // On a phone, the same pages have the same buttons.
    walk.browser.emulate_phone().await;
    walk.open(&format!("/console/subjects/books/{copy}")).await;
    walk.find_command().await;
    walk.run_query().await;
    walk.see_model().await;
    walk.browser.quit().await;
}
