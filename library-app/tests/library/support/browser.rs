//! A real Chromium, driven over WebDriver (https://www.w3.org/TR/webdriver2/). The crates for WebDriver
//! change the features of dependencies or have another licence, so these few calls replace them.

use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use reqwest::{Client, Method};
use serde_json::{Value, json};

use super::{new_client, requirement::require_program};

/// Longer than a page takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// The name of an element's id, which the specification fixes.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// The browser and its driver. Both end when this value is dropped.
pub(crate) struct Browser {
    client: Client,
    session: String,
    driver: Child,
}

impl Browser {
    /// Starts a browser without a window, or returns `None` if none is installed.
    pub(crate) async fn start() -> Option<Self> {
        if !require_program("chromium", "chromium")
            || !require_program("chromedriver", "chromium-driver")
        {
            return None;
        }
        let (driver, url) = start_driver();
        let client = new_client().build().unwrap();
        let mut browser = Self {
            client,
            session: format!("{url}/session"),
            driver,
        };
        let begun = browser.post("", json!({ "capabilities": capabilities() }));
        let begun = begun.await;
        let id = begun["sessionId"]
            .as_str()
            .unwrap_or_else(|| panic!("{begun}"));
        browser.session = format!("{url}/session/{id}");
        Some(browser)
    }

    async fn ask(&self, method: Method, path: &str, body: Option<Value>) -> Value {
        let mut request = self
            .client
            .request(method, format!("{}{path}", self.session));
        if let Some(body) = body {
            request = request.body(body.to_string());
        }
        let answer = request.send().await.unwrap().text().await.unwrap();
        let mut answer: Value = serde_json::from_str(&answer).unwrap();
        answer["value"].take()
    }

    async fn post(&self, path: &str, body: Value) -> Value {
        self.ask(Method::POST, path, Some(body)).await
    }

    async fn get(&self, path: &str) -> Value {
        self.ask(Method::GET, path, None).await
    }

    pub(crate) async fn open(&self, url: &str) {
        let answer = self.post("/url", json!({ "url": url })).await;
        assert_eq!(answer, Value::Null, "{url}");
    }

    /// Runs a script and returns its result.
    pub(crate) async fn run(&self, script: &str) -> Value {
        self.post("/execute/sync", json!({ "script": script, "args": [] }))
            .await
    }

    pub(crate) async fn picture(&self, file: &Path) {
        let picture = self.get("/screenshot").await;
        let picture = BASE64_STANDARD.decode(picture.as_str().unwrap());
        std::fs::write(file, picture.unwrap()).unwrap();
    }

    /// Waits for a visible element of this XPath and returns the path of the first one.
    async fn element(&self, xpath: &str) -> String {
        let begin = Instant::now();
        while begin.elapsed() < PATIENCE {
            let body = json!({ "using": "xpath", "value": xpath });
            let found = self.post("/elements", body).await;
            for one in found.as_array().into_iter().flatten() {
                let path = format!("/element/{}", one[ELEMENT].as_str().unwrap());
                if self.get(&format!("{path}/displayed")).await == true {
                    return path;
                }
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("{xpath} is not shown within {PATIENCE:?}");
    }

    /// Waits until an element is visible and returns its text.
    pub(crate) async fn text(&self, xpath: &str) -> String {
        let path = self.element(xpath).await;
        let text = self.get(&format!("{path}/text")).await;
        text.as_str().unwrap().to_owned()
    }

    pub(crate) async fn click(&self, xpath: &str) {
        let path = self.element(xpath).await;
        let answer = self.post(&format!("{path}/click"), json!({})).await;
        assert_eq!(answer, Value::Null, "{xpath}");
    }

    /// Replaces the content of the field with this label.
    pub(crate) async fn fill(&self, label: &str, text: &str) {
        let input = format!("//form//*[@id = //form//label[text()='{label}']/@for]");
        self.type_into(&input, text).await;
    }

    /// Replaces the content of a field and presses Enter.
    pub(crate) async fn enter(&self, xpath: &str, text: &str) {
        self.type_into(xpath, &format!("{text}\u{e007}")).await;
    }

    async fn type_into(&self, xpath: &str, text: &str) {
        let path = self.element(xpath).await;
        self.post(&format!("{path}/clear"), json!({})).await;
        let body = json!({ "text": text });
        let answer = self.post(&format!("{path}/value"), body).await;
        assert_eq!(answer, Value::Null, "{xpath}");
    }

    /// Presses and releases a key.
    pub(crate) async fn press(&self, key: &str) {
        let keys = [
            json!({ "type": "keyDown", "value": key }),
            json!({ "type": "keyUp", "value": key }),
        ];
        let keyboard = json!({ "type": "key", "id": "keyboard", "actions": keys });
        self.post("/actions", json!({ "actions": [keyboard] }))
            .await;
    }

    /// Shows pages as a phone of 390 by 844 pixels does; a window cannot be that narrow.
    pub(crate) async fn emulate_phone(&self) {
        let screen = json!({ "width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": true });
        let command = json!({ "cmd": "Emulation.setDeviceMetricsOverride", "params": screen });
        self.post("/goog/cdp/execute", command).await;
    }

    /// Shows pages as to a reader who prefers dark colours.
    pub(crate) async fn emulate_dark(&self) {
        self.emulate_scheme("dark").await;
    }

    /// Shows pages as to a reader who prefers light colours.
    pub(crate) async fn emulate_light(&self) {
        self.emulate_scheme("light").await;
    }

    async fn emulate_scheme(&self, scheme: &str) {
        let feature = json!({ "name": "prefers-color-scheme", "value": scheme });
        let media = json!({ "features": [feature] });
        let command = json!({ "cmd": "Emulation.setEmulatedMedia", "params": media });
        self.post("/goog/cdp/execute", command).await;
    }

    /// Goes to an operation by its link.
    pub(crate) async fn choose(&self, operation: &str) {
        self.click(&format!("//nav//a[@href='#{operation}']")).await;
        self.element(&format!("//form[@aria-label='{operation}']"))
            .await;
    }

    /// Sends the form; returns the headline of the answer.
    pub(crate) async fn send(&self) -> String {
        // The previous answer must not be mistaken for the next one.
        self.run("document.querySelector('.output').replaceChildren()")
            .await;
        self.click("//form//button[@type='submit']").await;
        self.text("//*[@class='answer']/*[contains(@class, 'headline')]")
            .await
    }

    pub(crate) async fn quit(self) {
        let answer = self.ask(Method::DELETE, "", None).await;
        assert_eq!(answer, Value::Null);
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

fn start_driver() -> (Child, String) {
    // The driver takes a free port of one family of addresses, and exits if another process has the same
    // port of the other family.
    let mut attempts = (0..10).map(|_| try_to_start_driver());
    let driver = attempts.find_map(|driver| driver);
    driver.expect("chromedriver says on which port it is")
}

fn try_to_start_driver() -> Option<(Child, String)> {
    let mut driver = Command::new("chromedriver");
    driver.arg("--port=0").stdout(Stdio::piped());
    let mut driver = driver.stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
    let port = lines.by_ref().map_while(Result::ok).find_map(|line| {
        let port = line
            .strip_suffix('.')?
            .rsplit_once("started successfully on port ")?
            .1;
        port.parse::<u16>().ok()
    });
    let Some(port) = port else {
        // Its output has ended, so it has, too.
        driver.wait().unwrap();
        return None;
    };
    // A full pipe would block the driver.
    std::thread::spawn(move || lines.for_each(drop));
    Some((driver, format!("http://127.0.0.1:{port}")))
}

fn capabilities() -> Value {
    let arguments = [
        "--headless=new",
        // Tests may run as root and in containers, without a sandbox and with little shared memory.
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--no-proxy-server",
        "--window-size=1440,1000",
        "--force-device-scale-factor=1",
        "--hide-scrollbars",
    ];
    json!({ "alwaysMatch": { "goog:chromeOptions": { "args": arguments } } })
}
