//! The client of the operator API, for the command line.

use std::{
    net::{IpAddr, Ipv4Addr},
    num::NonZeroU32,
    path::PathBuf,
    time::Duration,
};

use clap::Args;
use es_event::{Error, Result};
use es_net::Secret;
use reqwest::{Method, StatusCode, header};
use serde_json::Value;
use url::Host;

use super::{client_tls, generated_token};

/// Time in which the application has to accept a connection, and to send a response after the time of a request.
const TIMEOUT: Duration = Duration::from_secs(15);

/// The address of a running application and the credential of an operator.
#[derive(Debug, Args)]
pub(super) struct OperatorArguments {
    /// Port that the application listens on.
    #[arg(long, env = "HTTP_PORT", default_value_t = 8080, global = true)]
    http_port: u16,
    /// Address or host name of the application.
    #[arg(long, env = "HTTP_HOST", default_value = "127.0.0.1", value_parser = parse_host, global = true)]
    http_host: Host,
    /// PEM file with the certificate chain of the application. With it, requests use https.
    #[arg(long, env = "HTTP_TLS_CERTIFICATE", value_name = "FILE", global = true)]
    http_tls_certificate: Option<PathBuf>,
    /// The time after which the application ends a request.
    #[arg(
        long,
        env = "HTTP_REQUEST_SECONDS",
        default_value = "60",
        value_name = "SECONDS",
        global = true
    )]
    http_request_seconds: NonZeroU32,
    /// API token of the event store. Without it, the token in EVENT_STORE_DATA_DIR is used.
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

impl OperatorArguments {
    /// Returns the configured token, or the generated one in the data folder.
    fn token(&self) -> Result<Secret> {
        if let Some(token) = &self.event_store_api_token {
            return Ok(token.clone());
        }
        generated_token::find_existing(&self.event_store_data_dir)?.ok_or_else(|| {
            Error::new(format!(
                "there is no API token in {}: set EVENT_STORE_API_TOKEN, or EVENT_STORE_DATA_DIR to the folder of the application",
                self.event_store_data_dir.display()
            ))
        })
    }

    /// Sends a request, with a JSON body if there is one, and returns the JSON of a successful response.
    ///
    /// # Errors
    /// The application cannot be reached, or its response is not successful.
    pub(super) async fn send_request(
        &self,
        method: Method,
        path: &str,
        body: Option<Vec<u8>>,
    ) -> Result<Value> {
        let token = self.token()?;
        let address = format!("{}:{}", self.http_host, self.http_port);
        let seconds = self.http_request_seconds.get().into();
        let time = Duration::from_secs(seconds).saturating_add(TIMEOUT);
        let failed = |error: reqwest::Error| {
            if error.is_timeout() && !error.is_connect() {
                return Error::new(format!(
                    "the application at {address} has sent no response within {} seconds; it may still carry out the request, and if HTTP_REQUEST_SECONDS gives it more time, this command needs the same setting",
                    time.as_secs()
                ));
            }
            client_tls::handshake_error(&error, &address).unwrap_or_else(|| {
                let sentence = format!(
                    "the application at {address} does not answer (HTTP_HOST and HTTP_PORT say where it listens, HTTP_TLS_CERTIFICATE that it speaks TLS)"
                );
                Error::because(sentence, error)
            })
        };
        es_net::tls::install_cryptography();
        let builder = reqwest::Client::builder()
            .no_proxy()
            .connect_timeout(TIMEOUT)
            .timeout(time);
        let (builder, scheme) = match &self.http_tls_certificate {
            Some(file) => (client_tls::trust_only(builder, file)?, "https"),
            None => (builder, "http"),
        };
        let client = builder.build().map_err(failed)?;
        let url = format!("{scheme}://{address}{path}");
        let mut request = client.request(method, url).bearer_auth(token.reveal());
        if let Some(body) = body {
            let json = (header::CONTENT_TYPE, "application/json");
            request = request.header(json.0, json.1).body(body);
        }
        let response = request.send().await.map_err(failed)?;
        let is_report = response.status() == StatusCode::CONFLICT && !is_problem(&response);
        let is_success = response.status().is_success() || is_report;
        let body = response.bytes().await.map_err(failed)?;
        let json: Value = serde_json::from_slice(&body).unwrap_or_default();
        if is_success {
            return Ok(json);
        }
        let detail = json.get("detail").and_then(Value::as_str);
        Err(Error::new(detail.unwrap_or("the application refuses")))
    }
}

/// Reads the host of an application, as it stands in a URL. One that listens on all addresses is reached on this machine.
fn parse_host(text: &str) -> Result<Host, &'static str> {
    match text.parse() {
        Ok(address) if IpAddr::is_unspecified(&address) => Ok(Host::Ipv4(Ipv4Addr::LOCALHOST)),
        Ok(IpAddr::V4(address)) => Ok(Host::Ipv4(address)),
        Ok(IpAddr::V6(address)) => Ok(Host::Ipv6(address)),
        Err(_) => Host::parse(text).map_err(|_| "it is no address and no host name"),
    }
}

/// Returns true if an answer is a problem, and not a report of what an operator has to look at.
fn is_problem(response: &reqwest::Response) -> bool {
    let content_type = response.headers().get(header::CONTENT_TYPE);
    content_type.is_none_or(|value| value != "application/json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_stands_in_a_url() {
        for (given, shown) in [
            ("127.0.0.1", "127.0.0.1"),
            ("0.0.0.0", "127.0.0.1"),
            ("::", "127.0.0.1"),
            ("::1", "[::1]"),
            ("[::1]", "[::1]"),
            ("library.example.com", "library.example.com"),
        ] {
            assert_eq!(parse_host(given).unwrap().to_string(), shown);
        }
        for wrong in ["", "a b", "user@library", "library/", "library:80"] {
            assert!(parse_host(wrong).is_err(), "{wrong}");
        }
    }
}
