//! The address that an application listens on, and the TLS of its connections.

use std::net::SocketAddr;

use es_net::tls::ServerTls;
use tokio::net::TcpListener;

use crate::{
    Error, Result,
    config::Settings,
    http::{BrowserPolicy, auth::Auth},
};

/// Loads the certificate and the key that the settings name.
pub(super) fn load_tls(settings: &Settings) -> Result<Option<ServerTls>> {
    match (&settings.http_tls_certificate, &settings.http_tls_key) {
        (None, None) => Ok(None),
        #[cfg(feature = "tls")]
        (Some(certificate), Some(key)) => {
            let (certificate, key) = (certificate.clone(), key.clone());
            let files = es_net::tls::TlsFiles { certificate, key };
            ServerTls::load_and_watch(files).map(Some)
        }
        #[cfg(not(feature = "tls"))]
        (Some(_), Some(_)) => Err(Error::missing_feature("HTTP_TLS_CERTIFICATE", "tls")),
        _ => Err(Error::new(
            "HTTP_TLS_CERTIFICATE and HTTP_TLS_KEY go together: set both or none",
        )),
    }
}

/// Refuses to serve without authentication on an address that other machines reach, unless the settings allow it.
/// Warns if tokens are sent unencrypted.
pub(super) fn check_network_exposure(
    name: &str,
    address: SocketAddr,
    auth: &Auth,
    settings: &Settings,
    tls: Option<&ServerTls>,
) -> Result<()> {
    let host = address.ip();
    if host.is_loopback() {
        return Ok(());
    }
    if auth.is_open() && !settings.http_open {
        return Err(Error::new(format!(
            "{name} does not serve on {address}: other machines reach it, and anyone could call: configure authentication or http_open"
        )));
    }
    if !auth.is_open() && tls.is_none() {
        tracing::warn!(
            "tokens come to {host} unencrypted: set HTTP_TLS_CERTIFICATE and HTTP_TLS_KEY, unless a proxy before it speaks TLS"
        );
    }
    Ok(())
}

/// Binds an address. The error names the setting that chooses the port.
pub(super) async fn listen(address: SocketAddr, setting: &str) -> Result<TcpListener> {
    TcpListener::bind(address).await.map_err(|error| {
        Error::because(
            format!("cannot listen on {address} (choose another port with {setting})"),
            error,
        )
    })
}

/// Returns the address that a listener is bound to.
pub(super) fn local_address(listener: &TcpListener) -> Result<SocketAddr> {
    listener
        .local_addr()
        .map_err(|error| Error::because("the system does not say where it listens", error))
}

/// Logs the address of the console, or the link that opens it once.
pub(super) fn log_console(url: &str, link_key: Option<&str>) {
    match link_key {
        Some(key) => {
            tracing::info!(
                "the console is at {url}/console/open?key={key}, a link that works once"
            );
        }
        None => tracing::info!("the console is at {url}/console"),
    }
}

pub(super) fn browser_policy(
    settings: &Settings,
    auth: &Auth,
    tls: Option<&ServerTls>,
) -> BrowserPolicy {
    let is_local = settings.http_host.is_loopback() && !settings.http_open;
    BrowserPolicy {
        origins: settings.http_cors_origins.clone(),
        tls: tls.is_some(),
        local_hosts_only: is_local && auth.is_open(),
    }
}
