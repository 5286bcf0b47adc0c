//! Verifies the tokens (JWTs) of an OpenID Connect issuer with the keys that the issuer publishes.

mod claims;
mod fetch;
mod signature;
#[cfg(test)]
mod tests;

use std::{
    fmt,
    sync::{Arc, PoisonError, RwLock},
    time::{Duration, Instant},
};

use es_event::{Error, Result};
use jsonwebtoken::{Algorithm, Header, Validation, decode, decode_header, errors::ErrorKind};
use reqwest::{Client, Url};
use tokio::sync::Mutex;

use super::{IssuerSettings, VerifiedCaller, denied::AccessDenied};
use claims::Claims;
use fetch::IssuerKeys;

/// Tolerated difference between the clocks of the issuer and the service, in seconds.
const LEEWAY: u64 = 60;
/// Shortest time between two requests to the issuer.
const PAUSE: Duration = Duration::from_secs(10);
/// Age at which keys are fetched again, so that a withdrawn key becomes invalid.
const REFRESH: Duration = Duration::from_secs(10 * 60);
/// Age at which keys become invalid, even if the issuer does not answer.
const MAX_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// Verifies the tokens of one issuer.
pub(super) struct Issuer {
    settings: IssuerSettings,
    discovery: Url,
    client: Client,
    validation: Validation,
    pause: Duration,
    fetched: RwLock<Option<FetchedKeys>>,
    /// The time of the last request to the issuer. A request holds the lock, so that there is one at
    /// a time.
    last_request: Mutex<Option<Instant>>,
}

#[derive(Clone)]
struct FetchedKeys {
    at: Instant,
    keys: Arc<IssuerKeys>,
}

impl fmt::Debug for Issuer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Issuer")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl Issuer {
    /// Creates an issuer, and begins to fetch its keys.
    pub(super) fn connect(settings: IssuerSettings) -> Result<Arc<Self>> {
        let issuer = Arc::new(Self::new(settings)?);
        let fetching = Arc::clone(&issuer);
        tokio::spawn(async move { fetching.warm_up().await });
        Ok(issuer)
    }

    /// Creates an issuer whose keys are not fetched yet.
    fn new(settings: IssuerSettings) -> Result<Self> {
        signature::install_verifiers();
        let issuer = &settings.issuer;
        let discovery = format!(
            "{}/.well-known/openid-configuration",
            issuer.trim_end_matches('/')
        );
        let discovery = fetch::parse_safe_url(&discovery).ok_or_else(|| {
            Error::new(format!(
                "AUTH_ISSUER={issuer} is no URL of an issuer: write it as the issuer does, such as https://login.example.com/realms/library (http:// is for this machine only)"
            ))
        })?;
        let mut validation = Validation::new(Algorithm::ES256);
        validation.leeway = LEEWAY;
        validation.validate_nbf = true;
        validation.set_issuer(&[issuer]);
        validation.set_audience(&[&settings.audience]);
        validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        let client = fetch::create_client();
        let client = client.map_err(|error| Error::because("the issuer cannot be asked", error))?;
        Ok(Self {
            settings,
            discovery,
            client,
            validation,
            pause: PAUSE,
            fetched: RwLock::new(None),
            last_request: Mutex::new(None),
        })
    }

    /// Fetches the keys for the first time. An issuer that does not answer does not stop the start:
    /// callers get 503 until it is back.
    async fn warm_up(&self) {
        self.fetch_since(None).await;
    }

    /// Verifies a token and returns its caller.
    pub(super) async fn authenticate(
        self: &Arc<Self>,
        token: &[u8],
    ) -> Result<VerifiedCaller, AccessDenied> {
        let invalid = |reason: &dyn fmt::Display| {
            tracing::debug!(%reason, "a JWT was refused");
            AccessDenied::InvalidCredential
        };
        let header = decode_header(token).map_err(|error| invalid(&error))?;
        if !signature::ALLOWED.contains(&header.alg) {
            return Err(invalid(&"its algorithm is not one of those that are taken"));
        }
        // RFC 7515, section 4.1.11: an unknown critical extension makes a token invalid.
        if header.crit.is_some() {
            return Err(invalid(&"it has critical extensions"));
        }
        if !header.typ.as_deref().is_none_or(is_access_token_type) {
            return Err(invalid(&"it is another kind of token"));
        }
        let keys = self.keys_for(&header).await?;
        let mut validation = self.validation.clone();
        validation.algorithms = vec![header.alg];
        let mut decoded = Err(ErrorKind::InvalidSignature.into());
        for key in keys.candidates(&header) {
            decoded = decode::<Claims>(token, &key.decoding, &validation);
            let is_of_key =
                |error: &jsonwebtoken::errors::Error| *error.kind() != ErrorKind::InvalidSignature;
            if decoded.as_ref().err().is_none_or(is_of_key) {
                break;
            }
        }
        let claims = decoded.map_err(|error| invalid(&error))?.claims;
        claims::check_kind(&claims).map_err(|reason| invalid(&reason))?;
        let caller = claims::read_caller(
            &claims,
            &self.settings.roles_claim,
            &self.settings.owner_claim,
        );
        let caller = caller.map(|caller| caller.with_expiry(claims::read_expiry(&claims, LEEWAY)));
        caller.ok_or_else(|| invalid(&"its subject is missing or unprintable"))
    }

    /// Returns the keys. It fetches them again if none of them may have signed a token with this header.
    async fn keys_for(self: &Arc<Self>, header: &Header) -> Result<Arc<IssuerKeys>, AccessDenied> {
        let is_known = |keys: &IssuerKeys| keys.candidates(header).next().is_some();
        match self.fetched() {
            Some(fetched) if is_known(&fetched.keys) => {
                if fetched.at.elapsed() >= REFRESH {
                    // The request does not wait for it.
                    let issuer = Arc::clone(self);
                    tokio::spawn(async move { issuer.fetch_since(Some(fetched.at)).await });
                }
                Ok(fetched.keys)
            }
            known => {
                let since = known.as_ref().map(|fetched| fetched.at);
                let answered = self.fetch_since(since).await;
                let keys = self.fetched().map(|fetched| fetched.keys);
                match keys {
                    Some(keys) if answered || is_known(&keys) => Ok(keys),
                    // The token may be valid. Its owner would discard one that is called invalid.
                    _ => Err(AccessDenied::IssuerAway),
                }
            }
        }
    }

    fn fetched(&self) -> Option<FetchedKeys> {
        let fetched = self.fetched.read().unwrap_or_else(PoisonError::into_inner);
        fetched
            .clone()
            .filter(|fetched| fetched.at.elapsed() < MAX_AGE)
    }

    /// Fetches the keys, unless they were fetched since, or the last attempt was a moment ago. Returns
    /// whether the known keys are those of the issuer's last response.
    async fn fetch_since(&self, since: Option<Instant>) -> bool {
        let mut last_request = self.last_request.lock().await;
        let fetched = self.fetched().map(|fetched| fetched.at);
        if fetched != since {
            return true;
        }
        if last_request.is_some_and(|last_request| last_request.elapsed() < self.pause) {
            // IssuerKeys of the last request are up to date.
            return fetched.is_some() && fetched >= *last_request;
        }
        *last_request = Some(Instant::now());
        match fetch::fetch_keys(&self.client, &self.settings.issuer, &self.discovery).await {
            Ok(keys) => {
                let issuer = &self.settings.issuer;
                tracing::info!("{} keys of {issuer} are known", keys.len());
                let (at, keys) = (Instant::now(), Arc::new(keys));
                let mut fetched = self.fetched.write().unwrap_or_else(PoisonError::into_inner);
                *fetched = Some(FetchedKeys { at, keys });
                true
            }
            Err(error) => {
                let issuer = &self.settings.issuer;
                tracing::warn!(%error, "the keys of {issuer} could not be fetched");
                false
            }
        }
    }
}

/// Returns whether the type in a token's header is that of an access token (RFC 9068, section 2.1) or says nothing
/// about its kind. RFC 8725, section 3.11: a token of another kind is not taken for one.
fn is_access_token_type(text: &str) -> bool {
    let name = text.to_ascii_lowercase();
    matches!(
        name.strip_prefix("application/").unwrap_or(&name),
        "jwt" | "at+jwt"
    )
}
