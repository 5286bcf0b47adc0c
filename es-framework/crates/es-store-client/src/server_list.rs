//! The servers of one event store, and the server that requests go to.

use std::sync::atomic::{AtomicUsize, Ordering};

use reqwest::{StatusCode, Url};

use super::client_settings::InvalidClientSettings;

/// Servers that share their events.
#[derive(Debug)]
pub(super) struct ServerList {
    bases: Vec<Url>,
    current: AtomicUsize,
}

impl ServerList {
    /// Parses base URLs that commas separate.
    pub(super) fn parse_urls(urls: &str) -> Result<Self, InvalidClientSettings> {
        let bases = urls.split(',').map(|url| parse_base(url.trim()));
        Ok(Self {
            bases: bases.collect::<Result<_, _>>()?,
            current: AtomicUsize::new(0),
        })
    }

    /// Returns the number of servers.
    pub(super) const fn len(&self) -> usize {
        self.bases.len()
    }

    /// Returns the URL of a path on the server that requests go to.
    pub(super) fn current_url(&self, path: &str) -> Option<Url> {
        let base = self.bases.get(self.current.load(Ordering::Relaxed))?;
        let mut url = base.clone();
        url.set_path(&format!("{}{path}", base.path()));
        Some(url)
    }

    /// Sends later requests to the next server, unless another request has found that out before.
    /// Returns the same URL on the server that requests go to from now on.
    pub(super) fn fail_over(&self, failed: &Url) -> Option<Url> {
        let is_at = |base: &Url| failed.as_str().strip_prefix(base.as_str());
        let mut bases = self.bases.iter().enumerate();
        let (server, path) = bases.find_map(|(server, base)| Some((server, is_at(base)?)))?;
        let next = server.checked_add(1).filter(|next| *next < self.len());
        let (relaxed, next) = (Ordering::Relaxed, next.unwrap_or(0));
        let changed = self
            .current
            .compare_exchange(server, next, relaxed, relaxed);
        if changed.is_ok() && self.len() > 1 {
            let failed = failed.origin().ascii_serialization();
            tracing::warn!("the event store at {failed} is away, so requests go to another server");
        }
        self.current_url(path)
    }
}

impl std::fmt::Display for ServerList {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (number, base) in self.bases.iter().enumerate() {
            let separator = if number == 0 { "" } else { ", " };
            write!(f, "{separator}{}", base.as_str().trim_end_matches('/'))?;
        }
        Ok(())
    }
}

/// Returns true if a server or the proxy before it reports that it is away.
pub(super) fn is_away(status: StatusCode) -> bool {
    let away = [
        StatusCode::BAD_GATEWAY,
        StatusCode::SERVICE_UNAVAILABLE,
        StatusCode::GATEWAY_TIMEOUT,
    ];
    away.contains(&status)
}

/// Parses the URL that the routes are joined to.
fn parse_base(url: &str) -> Result<Url, InvalidClientSettings> {
    let mut url: Url = url.parse().map_err(|_| InvalidClientSettings::Url)?;
    let is_plain = url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none();
    if !is_plain || !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err(InvalidClientSettings::Url);
    }
    if !url.path().ends_with('/') {
        let path = format!("{}/", url.path());
        url.set_path(&path);
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_go_to_the_next_server_after_the_last_failed() {
        let servers = ServerList::parse_urls("http://a:1, http://b:2/base/").unwrap();
        assert_eq!(servers.to_string(), "http://a:1, http://b:2/base");
        let first = servers.current_url("api/v1/ping").unwrap();
        assert_eq!(first.as_str(), "http://a:1/api/v1/ping");
        let second = servers.fail_over(&first).unwrap();
        assert_eq!(second.as_str(), "http://b:2/base/api/v1/ping");
        // A slower request that failed at the first server changes nothing.
        assert_eq!(servers.fail_over(&first).unwrap(), second);
        assert_eq!(servers.fail_over(&second).unwrap(), first);
    }
}
