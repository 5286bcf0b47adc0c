//! Turns the flags and environment variables into settings.

use std::{num::NonZeroU32, time::Duration};

use clap::{CommandFactory as _, FromArgMatches as _};
use es_net::hide_secrets_in_error;

use super::SettingsArguments;
use crate::config::Settings;

impl SettingsArguments {
    /// Reads the environment variables alone.
    pub(in crate::config) fn from_environment() -> crate::Result<Self> {
        // The first argument is the name of the program, which `no_binary_name` leaves out.
        let mut command = Self::command().no_binary_name(true);
        let matches = command.try_get_matches_from_mut(std::iter::empty::<&str>());
        let arguments = matches.and_then(|matches| Self::from_arg_matches(&matches));
        arguments.map_err(|error| {
            // clap adds paragraphs on the usage.
            let sentence = hide_secrets_in_error(error, &command).to_string();
            let sentence = sentence.split("\n\n").next().unwrap_or_default();
            crate::Error::new(sentence.trim_start_matches("error: "))
        })
    }
}

impl From<SettingsArguments> for Settings {
    fn from(arguments: SettingsArguments) -> Self {
        Self {
            http_port: arguments.http_port,
            http_host: arguments.http_host,
            auth_tokens_file: arguments.auth_tokens_file,
            auth_issuer: arguments.auth_issuer,
            auth_audience: arguments.auth_audience,
            auth_roles_claim: arguments.auth_roles_claim,
            auth_owner_claim: arguments.auth_owner_claim,
            http_open: arguments.http_open,
            event_metadata_caller: arguments.event_metadata_caller,
            http_tls_certificate: arguments.http_tls_certificate,
            http_tls_key: arguments.http_tls_key,
            http_cors_origins: arguments.http_cors_origins,
            http_rate_limit: arguments.http_rate_limit,
            http_public_rate_limit: arguments.http_public_rate_limit,
            event_store_url: arguments.event_store_url,
            event_store_api_token: arguments.event_store_api_token,
            event_store_ca_file: arguments.event_store_ca_file,
            event_store_port: arguments.event_store_port,
            event_store_host: arguments.event_store_host,
            event_store_dialect: arguments.event_store_dialect,
            event_store_hash_version: arguments.event_store_hash_version,
            event_store_data_dir: arguments.event_store_data_dir,
            key_store_url: arguments.key_store_url,
            key_store_master_key_file: arguments.key_store_master_key_file,
            state_database_url: arguments.state_database_url,
            database_url: arguments.database_url,
            sinks_file: arguments.sinks_file,
            event_source: arguments.event_source,
            event_metadata_headers: arguments.event_metadata_headers,
            console: arguments.console.unwrap_or(cfg!(feature = "console")),
            live_queries: arguments.live_queries,
            snapshot_file: arguments.snapshot_file,
            shutdown_timeout: Duration::from_secs(arguments.shutdown_timeout),
            log_format: arguments.log_format,
            log_filter: arguments.log_filter,
            otel_exporter_otlp_endpoint: arguments.otel_exporter_otlp_endpoint,
            http_body_limit: count(arguments.http_body_limit),
            http_body_seconds: seconds(arguments.http_body_seconds),
            http_headers_limit: count(arguments.http_headers_limit),
            http_header_count_limit: count(arguments.http_header_count_limit),
            http_headers_seconds: seconds(arguments.http_headers_seconds),
            http_connection_limit: count(arguments.http_connection_limit),
            http_request_limit: count(arguments.http_request_limit),
            http_caller_share: arguments.http_caller_share,
            http_request_seconds: seconds(arguments.http_request_seconds),
            query_seconds: seconds(arguments.query_seconds),
            event_store_observer_limit: count(arguments.event_store_observer_limit),
            event_store_query_seconds: seconds(arguments.event_store_query_seconds),
            event_store_query_memory: count(arguments.event_store_query_memory),
        }
    }
}

fn count(number: NonZeroU32) -> usize {
    usize::try_from(number.get()).unwrap_or(usize::MAX)
}

fn seconds(number: NonZeroU32) -> Duration {
    Duration::from_secs(number.get().into())
}
