//! Sends rows to the service, many in one request, until each has an answer that counts.

use std::{collections::HashMap, time::Duration};

use es_event::describe_chain;
use reqwest::{Client, Response, StatusCode, header};
use serde::Deserialize;
use serde_json::Value;
use tokio::time::sleep;

use crate::error::ToolError;

/// The pauses before the attempts behind the first one: about a minute.
const PAUSES: [u64; 6] = [1, 2, 4, 8, 16, 30];
/// The time for a connection, and for the next bytes of a response.
const TIMEOUT: Duration = Duration::from_secs(90);
/// The longest OpenAPI document and the longest answer, in bytes.
const MAX_TEXT: usize = 64 * 1024 * 1024;

/// The statuses of answers that another attempt may change.
const TEMPORARY: [u16; 4] = [408, 429, 502, 503];
/// The end of the type of a problem that another attempt may solve.
const CONTENDED: &str = ":contended";

pub(super) struct ServiceClient {
    http: Client,
    url: String,
    token: Option<String>,
}

/// The answer to one line.
#[derive(Debug, Deserialize)]
struct LineAnswer {
    line: usize,
    status: u16,
    problem: Option<LineProblem>,
}

#[derive(Debug, Deserialize)]
struct LineProblem {
    r#type: String,
    detail: String,
    #[serde(default)]
    errors: Vec<Violation>,
}

#[derive(Debug, Deserialize)]
struct Violation {
    pointer: String,
    message: String,
}

/// The reason why a request has no answers that count.
enum RequestFailure {
    /// Another attempt may succeed.
    Temporary(String),
    Lasting(ToolError),
}

impl ServiceClient {
    pub(super) fn new(url: &str, token: Option<String>) -> Result<Self, ToolError> {
        // Fails if a provider is installed already, which is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = Client::builder()
            .connect_timeout(TIMEOUT)
            .read_timeout(TIMEOUT);
        let http = http.build().map_err(|error| {
            ToolError::new(format!(
                "no connection can be made: {}",
                describe_chain(&error)
            ))
        })?;
        Ok(Self {
            http,
            url: url.trim_end_matches('/').to_owned(),
            token,
        })
    }

    /// Reads the OpenAPI document of the service.
    pub(super) async fn openapi(&self) -> Result<Value, ToolError> {
        let url = format!("{}/openapi.json", self.url);
        let mut request = self.http.get(&url);
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        let response = request.send().await.map_err(|error| {
            ToolError::new(format!("{url} does not answer: {}", describe_chain(&error)))
        })?;
        let status = response.status();
        if status != StatusCode::OK {
            return Err(refusal(status, &url, &read_text(response).await?));
        }
        let text = read_text(response).await?;
        serde_json::from_str(&text)
            .map_err(|error| ToolError::new(format!("{url} is no OpenAPI document: {error}")))
    }

    /// Sends commands, and returns the reasons for which some of them are refused, by their index. A command that is
    /// `None` is left out. Repeats the request until each command has an answer that counts.
    pub(super) async fn send(
        &self,
        path: &str,
        key: &str,
        commands: &mut [Option<String>],
    ) -> Result<HashMap<usize, String>, ToolError> {
        let mut refused = HashMap::new();
        let mut pauses = PAUSES.iter();
        loop {
            let failure = match self.send_once(path, key, commands, &mut refused).await {
                Ok(true) => return Ok(refused),
                // A row that ended the answers is left out now.
                Ok(false) => continue,
                Err(RequestFailure::Lasting(error)) => return Err(error),
                Err(RequestFailure::Temporary(failure)) => failure,
            };
            let Some(&pause) = pauses.next() else {
                return Err(ToolError::new(format!(
                    "{failure}. Repeat the same command later: it goes on from here"
                )));
            };
            sleep(Duration::from_secs(pause)).await;
        }
    }

    /// Returns true if all commands have an answer, and false if some need another request at once.
    async fn send_once(
        &self,
        path: &str,
        key: &str,
        commands: &mut [Option<String>],
        refused: &mut HashMap<usize, String>,
    ) -> Result<bool, RequestFailure> {
        let body = to_lines(commands);
        let url = format!("{}{path}", self.url);
        let mut request = self.http.post(&url);
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        let request = request
            .header(header::CONTENT_TYPE, "application/x-ndjson")
            .header("idempotency-key", key);
        let mut response = request.body(body).send().await.map_err(|error| {
            RequestFailure::Temporary(format!("{url} does not answer: {}", describe_chain(&error)))
        })?;
        let status = response.status();
        if status != StatusCode::OK {
            let text = read_text(response).await.map_err(RequestFailure::Lasting)?;
            let error = refusal(status, &url, &text);
            return Err(if TEMPORARY.contains(&status.as_u16()) {
                RequestFailure::Temporary(error.to_string())
            } else {
                RequestFailure::Lasting(error)
            });
        }
        let broken = |error: reqwest::Error| {
            RequestFailure::Temporary(format!(
                "the answers of {url} broke off: {}",
                describe_chain(&error)
            ))
        };
        let mut unanswered = commands.iter().flatten().count();
        let mut temporary = None;
        let mut has_ended_early = false;
        let mut rest = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(broken)? {
            rest.extend_from_slice(&chunk);
            while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                let line: Vec<_> = rest.drain(..=end).collect();
                let answer: LineAnswer = serde_json::from_slice(&line).map_err(|error| {
                    let sentence = format!("{url} answers with a line that is none: {error}");
                    RequestFailure::Lasting(ToolError::new(sentence))
                })?;
                unanswered = unanswered.saturating_sub(1);
                if answer.is_temporary() {
                    temporary.get_or_insert_with(|| answer.reason());
                } else if answer.status >= 400 {
                    let index = answer.line.saturating_sub(1);
                    has_ended_early = answer.status == 413;
                    refused.insert(index, answer.reason());
                    if let Some(command) = commands.get_mut(index) {
                        *command = None;
                    }
                }
            }
            if rest.len() > MAX_TEXT {
                let sentence = format!("{url} answers with a line that does not end");
                return Err(RequestFailure::Lasting(ToolError::new(sentence)));
            }
        }
        match temporary {
            Some(reason) => Err(RequestFailure::Temporary(reason)),
            None if unanswered == 0 => Ok(true),
            None if has_ended_early => Ok(false),
            None => Err(RequestFailure::Temporary(format!(
                "{url} ended its answers before the last one"
            ))),
        }
    }
}

/// Writes each command as a line. The line of a command that is left out is blank, so the others keep their numbers and
/// their keys.
fn to_lines(commands: &[Option<String>]) -> String {
    let lines = commands.iter().map(Option::as_deref);
    lines
        .flat_map(|line| [line.unwrap_or_default(), "\n"])
        .collect()
}

impl LineAnswer {
    fn is_temporary(&self) -> bool {
        let problem = self.problem.as_ref();
        TEMPORARY.contains(&self.status)
            || problem.is_some_and(|problem| problem.r#type.ends_with(CONTENDED))
    }

    fn reason(&self) -> String {
        match &self.problem {
            Some(problem) => problem.reason(),
            None => format!("the service answered with the status {}", self.status),
        }
    }
}

impl LineProblem {
    /// Returns the detail, with each value that is not valid.
    fn reason(&self) -> String {
        let errors = self.errors.iter();
        let errors: Vec<_> = errors
            .map(|error| format!("{} {}", error.pointer, error.message))
            .collect();
        if errors.len() > 1 {
            errors.join("; ")
        } else {
            self.detail.clone()
        }
    }
}

/// Returns the error for a request that was refused as a whole.
fn refusal(status: StatusCode, url: &str, text: &str) -> ToolError {
    let reason = match serde_json::from_str::<LineProblem>(text) {
        Ok(problem) => problem.reason(),
        Err(_) => text.chars().take(200).collect(),
    };
    let help = match status {
        StatusCode::UNAUTHORIZED => ". Name the token with --token-file or CARGO_ES_TOKEN",
        StatusCode::UNSUPPORTED_MEDIA_TYPE => ". The service may be older than this tool",
        _ => "",
    };
    ToolError::new(format!("{url} answers with {status}: {reason}{help}"))
}

async fn read_text(mut response: Response) -> Result<String, ToolError> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| {
        ToolError::new(format!(
            "the response broke off: {}",
            describe_chain(&error)
        ))
    })? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > MAX_TEXT {
            return Err(ToolError::new("the response is longer than 64 MiB"));
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
