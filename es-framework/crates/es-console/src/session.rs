//! The session of an operator's browser: a signed cookie, so that no process has to store anything.

use axum::http::{HeaderMap, HeaderValue, header};
use es_runtime::ApiToken;
use jiff::Timestamp;
use ring::hmac;

/// The name of the cookie.
const COOKIE: &str = "es_console";
/// Time after which an operator has to sign in again, in seconds.
const SECONDS: i64 = 12 * 60 * 60;

/// The session of an operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Session {
    /// The end of the session in seconds, and its signature.
    value: String,
}

impl Session {
    /// Begins a session. The caller has checked the operator's token.
    pub(crate) fn begin(token: &ApiToken) -> Self {
        let end = Timestamp::now().as_second().saturating_add(SECONDS);
        let signature = sign(token, &format!("session {end}"));
        Self {
            value: format!("{end}.{signature}"),
        }
    }

    /// Finds the session in the cookies of a request, if it is valid.
    pub(crate) fn find_in_cookies(headers: &HeaderMap, token: &ApiToken) -> Option<Self> {
        let cookies = headers.get_all(header::COOKIE).iter();
        let cookies = cookies.filter_map(|value| value.to_str().ok());
        let mut cookies = cookies.flat_map(|list| list.split(';'));
        let value = cookies.find_map(|one| one.trim().strip_prefix(COOKIE)?.strip_prefix('='))?;
        let (end, signature) = value.split_once('.')?;
        let has_ended = end.parse::<i64>().ok()? <= Timestamp::now().as_second();
        let is_valid = !has_ended && verify(token, &format!("session {end}"), signature);
        is_valid.then(|| Self {
            value: value.to_owned(),
        })
    }

    /// Returns the text that forms of this session carry. A page of another origin cannot know it.
    pub(crate) fn form_token(&self, token: &ApiToken) -> String {
        sign(token, &format!("form {}", self.value))
    }

    /// Returns whether a form belongs to this session.
    pub(crate) fn owns_form(&self, token: &ApiToken, form_token: &str) -> bool {
        verify(token, &format!("form {}", self.value), form_token)
    }

    /// Returns the header that stores the session in the browser.
    pub(crate) fn to_cookie(&self, is_tls: bool) -> Option<HeaderValue> {
        cookie(&self.value, SECONDS, is_tls)
    }
}

/// Returns the header that removes the session from the browser.
pub(crate) fn removal(is_tls: bool) -> Option<HeaderValue> {
    cookie("", 0, is_tls)
}

fn cookie(value: &str, seconds: i64, is_tls: bool) -> Option<HeaderValue> {
    let secure = if is_tls { "; Secure" } else { "" };
    let cookie = format!(
        "{COOKIE}={value}; Path=/console; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}"
    );
    HeaderValue::from_str(&cookie).ok()
}

fn key(token: &ApiToken) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, token.signature_key())
}

/// Returns the signature of a text in hexadecimal digits.
fn sign(token: &ApiToken, text: &str) -> String {
    let signature = hmac::sign(&key(token), format!("console {text}").as_bytes());
    let digits = signature.as_ref().iter().map(|byte| format!("{byte:02x}"));
    digits.collect()
}

fn verify(token: &ApiToken, text: &str, signature: &str) -> bool {
    let digits = signature.as_bytes().chunks_exact(2);
    let is_whole = signature.len() == 64 && digits.remainder().is_empty();
    let bytes = digits.map(|pair| {
        let pair = std::str::from_utf8(pair).ok()?;
        u8::from_str_radix(pair, 16).ok()
    });
    let bytes: Option<Vec<u8>> = bytes.collect();
    let text = format!("console {text}");
    is_whole
        && bytes.is_some_and(|bytes| hmac::verify(&key(token), text.as_bytes(), &bytes).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(text: &str) -> ApiToken {
        text.parse().unwrap()
    }

    fn headers(cookie: &str) -> HeaderMap {
        let value = HeaderValue::from_str(cookie).unwrap();
        HeaderMap::from_iter([(header::COOKIE, value)])
    }

    #[test]
    fn a_session_is_valid_for_the_token_that_began_it() {
        let session = Session::begin(&token("secret"));
        let sent = headers(&format!("a=b; es_console={}", session.value));
        assert_eq!(
            Session::find_in_cookies(&sent, &token("secret")),
            Some(session.clone())
        );
        assert_eq!(Session::find_in_cookies(&sent, &token("other")), None);
        assert_eq!(
            Session::find_in_cookies(&HeaderMap::new(), &token("secret")),
            None
        );
        let form = session.form_token(&token("secret"));
        assert!(session.owns_form(&token("secret"), &form));
        assert!(!session.owns_form(&token("other"), &form));
        assert!(!session.owns_form(&token("secret"), &session.value));
    }

    #[test]
    fn a_changed_or_old_session_is_refused() {
        let session = Session::begin(&token("secret")).value;
        let (end, signature) = session.split_once('.').unwrap();
        let later = format!("{}.{signature}", end.parse::<i64>().unwrap() + 1);
        let old = format!("7.{}", sign(&token("secret"), "session 7"));
        for wrong in [
            "",
            ".",
            "7",
            "x.y",
            &later,
            &old,
            &format!("{end}.ü"),
            &format!("{end}."),
        ] {
            let cookie = format!("es_console={wrong}");
            let Ok(value) = HeaderValue::from_str(&cookie) else {
                continue;
            };
            let sent = HeaderMap::from_iter([(header::COOKIE, value)]);
            assert_eq!(
                Session::find_in_cookies(&sent, &token("secret")),
                None,
                "{wrong}"
            );
        }
    }

    #[test]
    fn scripts_and_other_sites_cannot_use_the_cookie() {
        let cookie = Session::begin(&token("secret")).to_cookie(true).unwrap();
        let cookie = cookie.to_str().unwrap();
        for attribute in ["HttpOnly", "SameSite=Strict", "Secure", "Path=/console"] {
            assert!(cookie.contains(attribute), "{cookie}");
        }
    }
}
