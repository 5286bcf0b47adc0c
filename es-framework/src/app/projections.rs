//! The subcommand `projection` of every application: asks the one that runs how its read models are
//! doing, or has it rebuild one, or take or leave out the event that stopped one.

use std::{
    io::{self, Write as _},
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

use clap::{FromArgMatches as _, Parser, Subcommand};
use reqwest::Method;
use serde::Deserialize;
use serde_json::Value;

use super::token;
use crate::{Error, Result, config::Secret};

/// The name of the subcommand.
pub(super) const NAME: &str = "projection";

/// How long the application may take to answer.
const PATIENCE: Duration = Duration::from_secs(15);

/// Asks the running application about its read models.
#[derive(Debug, Parser)]
#[command(name = NAME)]
struct Projection {
    #[command(subcommand)]
    command: Command,
    /// Port that the application listens on.
    #[arg(long, env = "HTTP_PORT", default_value_t = 8080, global = true)]
    http_port: u16,
    /// Address that the application listens on.
    #[arg(long, env = "HTTP_HOST", default_value = "127.0.0.1", global = true)]
    http_host: IpAddr,
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

#[derive(Debug, Subcommand)]
enum Command {
    /// Says how far each read model is, how a rebuild goes, and which event stopped one.
    Status,
    /// Makes the rows of a read model again, beside those that answer queries meanwhile.
    Rebuild {
        /// Name of the read model.
        name: String,
    },
    /// Has a read model take the event that stopped it once more.
    Retry {
        /// Name of the read model.
        name: String,
    },
    /// Has a read model leave out the event that stopped it, now and in every rebuild.
    Skip {
        /// Name of the read model.
        name: String,
    },
}

/// The subcommand, for the application's command line.
pub(super) fn command() -> clap::Command {
    <Projection as clap::CommandFactory>::command()
}

/// Carries it out.
pub(super) fn run(matches: &clap::ArgMatches) -> Result<()> {
    let asked = Projection::from_arg_matches(matches).unwrap_or_else(|error| error.exit());
    let text = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::because("the asynchronous runtime cannot start", error))?
        .block_on(asked.answer())?;
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| Error::because("cannot write to standard output", error))
}

impl Projection {
    async fn answer(&self) -> Result<String> {
        let (name, verb, done) = match &self.command {
            Command::Status => return Ok(status(&self.ask(Method::GET, "").await?)),
            Command::Rebuild { name } => {
                (name, "rebuild", "is rebuilt; status shows how far it is")
            }
            Command::Retry { name } => (name, "retry", "takes the event again"),
            Command::Skip { name } => (name, "skip", "leaves out the event from now on"),
        };
        let path = format!("/{name}/{verb}");
        let answer = self.ask(Method::POST, &path).await?;
        let event = answer
            .get("event")
            .and_then(refused)
            .map(|event| format!(" ({event})"));
        Ok(format!("{name} {done}{}\n", event.unwrap_or_default()))
    }

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

    async fn ask(&self, method: Method, path: &str) -> Result<Value> {
        let token = self.token()?;
        // Who listens on all addresses is reached on this one.
        let host = match self.http_host.is_unspecified() {
            true => Ipv4Addr::LOCALHOST.into(),
            false => self.http_host,
        };
        let address = SocketAddr::from((host, self.http_port));
        let failed = |error: reqwest::Error| {
            let sentence = format!(
                "the application at {address} does not answer (HTTP_HOST and HTTP_PORT say where it listens)"
            );
            Error::because(sentence, error)
        };
        crate::net::tls::install_cryptography();
        let client = reqwest::Client::builder().no_proxy().timeout(PATIENCE);
        let client = client.build().map_err(failed)?;
        let url = format!("http://{address}/actuator/projections{path}");
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

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    position: Option<String>,
    events_behind: u64,
    error: Option<String>,
    rebuild: Option<Rebuild>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Rebuild {
    beside: bool,
    events_left: Option<u64>,
    events_per_second: Option<u64>,
    seconds_left: Option<u64>,
    error: Option<String>,
}

/// A line for each read model, and one for what keeps it from going on.
fn status(models: &Value) -> String {
    let mut text = String::new();
    for (name, model) in models.as_object().into_iter().flatten() {
        let Ok(status) = Status::deserialize(model) else {
            text.push_str(&format!("{name}: unknown\n"));
            continue;
        };
        let position = match status.position {
            Some(position) => format!("at event {position}"),
            None => "at no event".to_owned(),
        };
        text.push_str(&format!(
            "{name}: {position}, {} behind\n",
            status.events_behind
        ));
        if let Some(error) = status.error {
            text.push_str(&format!("  {error}\n"));
        }
        if let Some(rebuild) = status.rebuild {
            text.push_str(&format!("  {}\n", rebuild.sentence()));
        }
    }
    text
}

impl Rebuild {
    fn sentence(&self) -> String {
        let place = match self.beside {
            true => "beside the rows that answer queries",
            false => "in place: queries wait",
        };
        let number = |number: Option<u64>| number.map_or("?".to_owned(), |one| one.to_string());
        let pace = format!(
            "{} events left, {} events/s, {} s",
            number(self.events_left),
            number(self.events_per_second),
            number(self.seconds_left),
        );
        match &self.error {
            Some(error) => format!("rebuilt {place}: {error}"),
            None => format!("rebuilt {place}: {pace}"),
        }
    }
}

fn refused(event: &Value) -> Option<String> {
    let part = |name: &str| event.get(name)?.as_str();
    Some(format!("event {} on {}", part("id")?, part("subject")?))
}
