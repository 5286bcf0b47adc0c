//! Where clients come in: the address, TLS, and who may.

use std::net::SocketAddr;

use tokio::net::TcpListener;

use crate::{Error, Result, config::Config, http::auth::Auth, net::HttpListener};

/// All of it, checked before anything else is started.
pub(super) struct Entrance {
    pub(super) auth: Auth,
    pub(super) listener: HttpListener,
}

impl Entrance {
    pub(super) async fn open(name: &str, config: &Config) -> Result<Self> {
        let host = config.http_host;
        let auth = config.auth.open(name, host)?;
        let tls = config.surface.tls()?;
        if matches!(auth, Auth::Guarded(_)) && tls.is_none() && !host.is_loopback() {
            tracing::warn!(
                "tokens come to {host} unencrypted: set HTTP_TLS_CERTIFICATE and HTTP_TLS_KEY, unless a proxy before it speaks TLS"
            );
        }
        let tcp = listen((host, config.http_port).into(), "HTTP_PORT").await?;
        let listener = HttpListener { tcp, tls };
        Ok(Self { auth, listener })
    }

    /// As clients write it.
    pub(super) fn url(&self) -> Result<String> {
        let scheme = match self.listener.tls {
            Some(_) => "https",
            None => "http",
        };
        let address = local_address(&self.listener.tcp)?;
        Ok(format!("{scheme}://{address}"))
    }
}

pub(super) async fn listen(address: SocketAddr, setting: &str) -> Result<TcpListener> {
    TcpListener::bind(address).await.map_err(|error| {
        Error::because(
            format!("cannot listen on {address} (choose another port with {setting})"),
            error,
        )
    })
}

pub(super) fn local_address(listener: &TcpListener) -> Result<SocketAddr> {
    listener
        .local_addr()
        .map_err(|error| Error::because("the system does not say where it listens", error))
}
