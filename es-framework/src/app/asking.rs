//! What the subcommands for operators share: they ask the application that runs.

mod host;
mod tls;

use std::{
    io::{self, Write as _},
    path::PathBuf,
    time::Duration,
};

use clap::Args;
use reqwest::Method;
use serde::de::DeserializeOwned;
use serde_json::Value;

use host::Host;

use super::token;
use crate::{Error, Result, settings::Secret};

/// How long the application may take to answer.
const PATIENCE: Duration = Duration::from_secs(15);

/// Where the application is, and what its operators are known by.
#[derive(Debug, Args)]
pub(super) struct Application {
    /// Port that the application listens on.
    #[arg(long, env = "HTTP_PORT", default_value_t = 8080, global = true)]
    http_port: u16,
    /// Address that the application listens on, or a name that leads there.
    #[arg(long, env = "HTTP_HOST", default_value = "127.0.0.1", global = true)]
    http_host: Host,
    /// PEM file with the certificate of the application and those that lead to its root. With it,
    /// the application is asked over https.
    #[arg(long, env = "HTTP_TLS_CERTIFICATE", value_name = "FILE", global = true)]
    http_tls_certificate: Option<PathBuf>,
    /// Credential of the event store. Without it, the one kept in EVENT_STORE_DATA_DIR.
    #[arg(
        long,
        env = "EVENT_STORE_API_TOKEN",
        value_name = "TOKEN",
        hide_env_values = true,
        global = true
    )]
    event_store_api_token: Option<Secret>,
    /// Folder of the embedded event store.
    #[arg(
        long,
        env = "EVENT_STORE_DATA_DIR",
        default_value = "./data",
        value_name = "FOLDER",
        global = true
    )]
    event_store_data_dir: PathBuf,
}

impl Application {
    fn token(&self) -> Result<Secret> {
        if let Some(token) = &self.event_store_api_token {
            return Ok(token.clone());
        }
        token::load(&self.event_store_data_dir)?.ok_or_else(|| {
            Error::new(format!(
                "there is no API token in {}: set EVENT_STORE_API_TOKEN, or EVENT_STORE_DATA_DIR to the folder of the application",
                self.event_store_data_dir.display()
            ))
        })
    }

    /// Sends a request and gives its answer, or the reason why there is none that succeeds.
    async fn ask(&self, method: Method, path: &str) -> Result<Value> {
        let token = self.token()?;
        let address = format!("{}:{}", self.http_host, self.http_port);
        let failed = |error: reqwest::Error| {
            tls::complaint(&error, &address).unwrap_or_else(|| {
                let sentence = format!(
                    "the application at {address} does not answer (HTTP_HOST and HTTP_PORT say where it listens, HTTP_TLS_CERTIFICATE that it speaks TLS)"
                );
                Error::because(sentence, error)
            })
        };
        crate::net::tls::install_cryptography();
        let client = reqwest::Client::builder().no_proxy().timeout(PATIENCE);
        let (client, scheme) = match &self.http_tls_certificate {
            Some(file) => (tls::trusting(client, file)?, "https"),
            None => (client, "http"),
        };
        let client = client.build().map_err(failed)?;
        let url = format!("{scheme}://{address}{path}");
        let request = client.request(method, url).bearer_auth(token.reveal());
        let answer = request.send().await.map_err(failed)?;
        let is_success = answer.status().is_success();
        let body = answer.bytes().await.map_err(failed)?;
        let json: Value = serde_json::from_slice(&body).unwrap_or_default();
        match is_success {
            true => Ok(json),
            false => Err(Error::new(
                json.get("detail")
                    .and_then(Value::as_str)
                    .unwrap_or("the application refuses"),
            )),
        }
    }
}

impl Application {
    /// Has the application do something about what a path and a name say, and tells what was done.
    pub(super) async fn have(
        &self,
        path: &str,
        name: &str,
        verb: &str,
        done: &str,
    ) -> Result<String> {
        let path = format!("{path}/{name}/{verb}");
        let answer = self.ask(Method::POST, &path).await?;
        Ok(format!("{name} {done}{}\n", event(&answer)))
    }

    /// Asks how all that a path says are doing, and has `tell` write the lines of each.
    pub(super) async fn status<S: DeserializeOwned>(
        &self,
        path: &str,
        tell: impl Fn(&str, S) -> String,
    ) -> Result<String> {
        let all = self.ask(Method::GET, path).await?;
        let all = all.as_object().into_iter().flatten();
        let lines = all.map(|(name, status)| match S::deserialize(status) {
            Ok(status) => tell(name, status),
            Err(_) => format!("{name}: unknown\n"),
        });
        Ok(lines.collect())
    }
}

/// Waits for a text and writes it to standard output.
pub(super) fn print(text: impl Future<Output = Result<String>>) -> Result<()> {
    let text = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::because("the asynchronous runtime cannot start", error))?
        .block_on(text)?;
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| Error::because("cannot write to standard output", error))
}

/// The event that an answer is about, in brackets.
fn event(answer: &Value) -> String {
    let part = |name: &str| answer.get("event")?.get(name)?.as_str();
    match part("id").zip(part("subject")) {
        Some((id, subject)) => format!(" (event {id} on {subject})"),
        None => String::new(),
    }
}

/// How far something is, in one line.
pub(super) fn reached(name: &str, position: Option<&str>, events_behind: u64) -> String {
    let position = match position {
        Some(position) => format!("at event {position}"),
        None => "at no event".to_owned(),
    };
    format!("{name}: {position}, {events_behind} behind\n")
}
