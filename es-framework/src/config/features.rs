//! The check of all settings, and the settings that need a Cargo feature.

use super::{EventStoreUrl, Settings};
use crate::{Error, Result, projection::DatabaseUrl};

/// A setting, the feature that it needs, and whether the program was compiled with the feature.
type FeatureSetting = (&'static str, &'static str, bool);

const OTLP_ENDPOINT: FeatureSetting = (
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "otel",
    cfg!(feature = "otel"),
);
const CONSOLE: FeatureSetting = ("CONSOLE", "console", cfg!(feature = "console"));
const AUTH_ISSUER: FeatureSetting = ("AUTH_ISSUER", "oidc", cfg!(feature = "oidc"));
const DATABASE_URL: FeatureSetting = (
    "DATABASE_URL=postgres://…",
    "postgres",
    cfg!(feature = "postgres"),
);
const STATE_DATABASE_URL: FeatureSetting = (
    "STATE_DATABASE_URL=postgres://…",
    "postgres",
    cfg!(feature = "postgres"),
);
const POSTGRES_STORE: FeatureSetting = (
    "EVENT_STORE_URL=postgres://…",
    "postgres",
    cfg!(feature = "postgres"),
);
const REMOTE_STORE: FeatureSetting = ("EVENT_STORE_URL", "client", cfg!(feature = "client"));
const TRUSTED_CERTIFICATES: FeatureSetting =
    ("EVENT_STORE_CA_FILE", "client", cfg!(feature = "client"));
const SINKS: FeatureSetting = ("SINKS_FILE", "webhook", cfg!(feature = "webhook"));
const TLS: FeatureSetting = ("HTTP_TLS_CERTIFICATE", "tls", cfg!(feature = "tls"));
const STORE_API: bool = cfg!(feature = "server");
const HASH_VERSION: FeatureSetting = (
    "EVENT_STORE_HASH_VERSION",
    "embedded",
    cfg!(any(feature = "embedded", feature = "postgres")),
);

impl Settings {
    /// Refuses settings with which an application cannot work. `has_store` is true if code provides the event store.
    pub(crate) fn check(&self, has_store: bool) -> Result<()> {
        self.check_features(has_store)?;
        self.check_limits()?;
        self.check_texts()?;
        self.check_metadata_headers()
    }

    /// Refuses empty texts. A deployment file that names an unset variable passes one.
    fn check_texts(&self) -> Result<()> {
        let texts = [
            ("AUTH_ISSUER", self.auth_issuer.as_ref()),
            ("AUTH_AUDIENCE", self.auth_audience.as_ref()),
            ("AUTH_ROLES_CLAIM", Some(&self.auth_roles_claim)),
            ("AUTH_OWNER_CLAIM", Some(&self.auth_owner_claim)),
            ("EVENT_SOURCE", self.event_source.as_ref()),
        ];
        let is_empty = |text: &String| text.trim().is_empty();
        let mut empty = texts
            .into_iter()
            .filter(|(_, text)| text.is_some_and(is_empty));
        match empty.next() {
            Some((name, _)) => Err(Error::new(format!(
                "{name} is empty: set it to a text, or do not set it"
            ))),
            None => Ok(()),
        }
    }

    /// Refuses settings that need a feature that the program lacks. `has_store` is
    /// true if code provides the event store.
    fn check_features(&self, has_store: bool) -> Result<()> {
        if self.event_store_url.is_none() && !has_store && !cfg!(feature = "embedded") {
            return Err(Error::new(
                "EVENT_STORE_URL is not set, and this program has no event store of its own, because it was compiled without the feature `embedded` of es-framework",
            ));
        }
        let used = self.settings_with_features();
        let missing = used
            .into_iter()
            .find(|((_, _, is_compiled), is_set)| *is_set && !is_compiled);
        match missing {
            Some(((setting, feature, _), _)) => Err(Error::missing_feature(setting, feature)),
            None => Ok(()),
        }
    }

    /// Returns each setting that needs a feature, and whether it asks for what the feature links.
    fn settings_with_features(&self) -> [(FeatureSetting, bool); 17] {
        let default = Self::default();
        let of_server = |name, is_set| ((name, "server", STORE_API), is_set);
        [
            (OTLP_ENDPOINT, self.otel_exporter_otlp_endpoint.is_some()),
            (AUTH_ISSUER, self.auth_issuer.is_some()),
            (CONSOLE, self.console),
            (
                HASH_VERSION,
                self.event_store_hash_version != default.event_store_hash_version,
            ),
            (
                DATABASE_URL,
                matches!(self.database_url, DatabaseUrl::Postgres(_)),
            ),
            (
                STATE_DATABASE_URL,
                matches!(self.state_database_url, Some(DatabaseUrl::Postgres(_))),
            ),
            (
                POSTGRES_STORE,
                self.event_store_url
                    .as_ref()
                    .is_some_and(EventStoreUrl::is_postgres),
            ),
            (
                REMOTE_STORE,
                self.event_store_url
                    .as_ref()
                    .is_some_and(|url| !url.is_postgres()),
            ),
            (TRUSTED_CERTIFICATES, self.event_store_ca_file.is_some()),
            (SINKS, self.sinks_file.is_some()),
            (TLS, self.http_tls_certificate.is_some()),
            of_server(
                "EVENT_STORE_PORT",
                self.event_store_port != default.event_store_port,
            ),
            of_server(
                "EVENT_STORE_HOST",
                self.event_store_host != default.event_store_host,
            ),
            of_server(
                "EVENT_STORE_DIALECT",
                self.event_store_dialect != default.event_store_dialect,
            ),
            of_server(
                "EVENT_STORE_OBSERVER_LIMIT",
                self.event_store_observer_limit != default.event_store_observer_limit,
            ),
            of_server(
                "EVENT_STORE_QUERY_SECONDS",
                self.event_store_query_seconds != default.event_store_query_seconds,
            ),
            of_server(
                "EVENT_STORE_QUERY_MEMORY",
                self.event_store_query_memory != default.event_store_query_memory,
            ),
        ]
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::event::{Dialect, HashVersion};

    /// Settings that need a feature, each with the name and the feature that an error names.
    fn settings() -> Vec<(Settings, &'static str, &'static str, bool)> {
        let settings = Settings::default;
        let postgres = "postgres://localhost/library".parse().unwrap();
        let issuer = "http://localhost/realms/library".to_owned();
        let collector = "http://localhost:4318".to_owned();
        let (server, seconds) = (cfg!(feature = "server"), Duration::from_secs(1));
        let console = cfg!(feature = "console");
        vec![
            (
                settings().otel_exporter_otlp_endpoint(Some(collector)),
                "OTEL_EXPORTER_OTLP_ENDPOINT",
                "otel",
                cfg!(feature = "otel"),
            ),
            (settings().console(true), "CONSOLE", "console", console),
            (
                settings().auth_issuer(Some(issuer)),
                "AUTH_ISSUER",
                "oidc",
                cfg!(feature = "oidc"),
            ),
            (
                settings().database_url(postgres),
                "DATABASE_URL=postgres://…",
                "postgres",
                cfg!(feature = "postgres"),
            ),
            (
                settings().state_database_url("postgres://localhost/library".parse().ok()),
                "STATE_DATABASE_URL=postgres://…",
                "postgres",
                cfg!(feature = "postgres"),
            ),
            (
                settings().event_store_port(0),
                "EVENT_STORE_PORT",
                "server",
                server,
            ),
            (
                settings().event_store_host([0, 0, 0, 0].into()),
                "EVENT_STORE_HOST",
                "server",
                server,
            ),
            (
                settings().event_store_dialect(Dialect::Event),
                "EVENT_STORE_DIALECT",
                "server",
                server,
            ),
            (
                settings().event_store_observer_limit(1),
                "EVENT_STORE_OBSERVER_LIMIT",
                "server",
                server,
            ),
            (
                settings().event_store_query_seconds(seconds),
                "EVENT_STORE_QUERY_SECONDS",
                "server",
                server,
            ),
            (
                settings().event_store_query_memory(1),
                "EVENT_STORE_QUERY_MEMORY",
                "server",
                server,
            ),
        ]
    }

    /// Settings of connections to others and of TLS, in the form of [`settings`].
    fn connection_settings() -> [(Settings, &'static str, &'static str, bool); 5] {
        [
            (
                Settings::default().sinks_file(Some("sinks.toml".into())),
                "SINKS_FILE",
                "webhook",
                cfg!(feature = "webhook"),
            ),
            (
                Settings::default().event_store_url(Some("postgres://localhost/library".into())),
                "EVENT_STORE_URL=postgres://…",
                "postgres",
                cfg!(feature = "postgres"),
            ),
            (
                Settings::default().event_store_url(Some("http://localhost:3000".into())),
                "EVENT_STORE_URL",
                "client",
                cfg!(feature = "client"),
            ),
            (
                Settings::default().event_store_ca_file(Some("certificates.pem".into())),
                "EVENT_STORE_CA_FILE",
                "client",
                cfg!(feature = "client"),
            ),
            (
                Settings::default().http_tls_certificate(Some("certificate.pem".into())),
                "HTTP_TLS_CERTIFICATE",
                "tls",
                cfg!(feature = "tls"),
            ),
        ]
    }

    /// Settings of the event stores without a server, in the form of [`settings`].
    fn engine_settings() -> [(Settings, &'static str, &'static str, bool); 1] {
        let has_engine = cfg!(any(feature = "embedded", feature = "postgres"));
        [(
            Settings::default().event_store_hash_version(HashVersion::V2),
            "EVENT_STORE_HASH_VERSION",
            "embedded",
            has_engine,
        )]
    }

    #[test]
    fn a_setting_whose_feature_is_missing_names_the_feature() {
        for (settings, name, feature, is_compiled) in settings()
            .into_iter()
            .chain(connection_settings())
            .chain(engine_settings())
        {
            let checked = settings.check_features(true);
            if is_compiled {
                assert!(checked.is_ok(), "{checked:?}");
                continue;
            }
            let sentence = format!(
                "{name} needs the feature `{feature}` of es-framework, without which this program was compiled"
            );
            assert_eq!(checked.unwrap_err().to_string(), sentence);
        }
    }

    #[test]
    fn the_defaults_need_the_embedded_event_store() {
        let checked = Settings::default().check_features(false);
        assert_eq!(checked.is_ok(), cfg!(feature = "embedded"), "{checked:?}");
        if let Err(error) = checked {
            assert!(error.to_string().contains("feature `embedded`"), "{error}");
        }
        let remote = Settings::default().event_store_url(Some("http://localhost:3000".into()));
        let checked = remote.check_features(false);
        assert_eq!(checked.is_ok(), cfg!(feature = "client"), "{checked:?}");
        assert!(Settings::default().check_features(true).is_ok());
    }
}
