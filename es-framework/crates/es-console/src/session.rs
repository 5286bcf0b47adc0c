//! The sessions of browsers. A session is a signed cookie, so that each instance of an application accepts it. Its end
//! is an event in the event store, so that no instance and no later process accepts a copy of the cookie.

use std::sync::Arc;

use axum::http::{HeaderMap, HeaderValue, header};
use es_event::{EventCandidate, EventType, Metadata, Subject};
use es_net::ApiToken;
use es_store::{AppendError, EventLog, StoreError, latest_event, secret_file::generate_secret};
use jiff::Timestamp;
use ring::hmac;

/// Time after which a browser has to sign in again, in seconds.
const SECONDS: i64 = 12 * 60 * 60;

const ENDED: EventType = EventType::declared("io.es-framework.ConsoleSessionEndedEvent");

/// The rights of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionRole {
    /// Signed in with the API token: may send commands of operators.
    Operator,
    /// Opened the link that the start of an open application prints: may read.
    Reader,
}

impl SessionRole {
    const fn letter(self) -> &'static str {
        match self {
            Self::Operator => "o",
            Self::Reader => "r",
        }
    }

    fn from_letter(letter: &str) -> Option<Self> {
        let roles = [Self::Operator, Self::Reader];
        roles.into_iter().find(|role| role.letter() == letter)
    }
}

/// The session of a browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Session {
    pub(crate) role: SessionRole,
    /// The value of the cookie: role, end and a random text, with their signature.
    value: String,
}

/// Begins, finds and ends sessions.
#[derive(Debug)]
pub(crate) struct Sessions {
    key: hmac::Key,
    /// The name of the cookie. It depends on the key, because browsers send the cookies of all services of
    /// a host to each of them, whatever their ports.
    cookie: String,
    is_tls: bool,
    log: SessionLog,
}

/// The event store that knows which sessions have ended, and the source of these events. Only who has a session can add
/// one.
#[derive(Debug, Clone)]
pub struct SessionLog {
    pub store: Arc<dyn EventLog>,
    pub source: Arc<str>,
}

impl Sessions {
    /// Creates the sessions of an application. The API token signs them; without one, they are valid for this
    /// process alone.
    pub(crate) fn new(token: Option<&ApiToken>, is_tls: bool, log: SessionLog) -> Self {
        let key = match token {
            Some(token) => hmac::Key::new(hmac::HMAC_SHA256, token.signature_key()),
            None => hmac::Key::new(hmac::HMAC_SHA256, generate_secret().as_bytes()),
        };
        let signature = sign(&key, "cookie");
        let name = signature.get(..8).unwrap_or_default();
        Self {
            cookie: format!("es_console_{name}"),
            key,
            is_tls,
            log,
        }
    }

    /// Begins a session. The caller has checked the credential.
    pub(crate) fn begin(&self, role: SessionRole) -> Session {
        let end = now().saturating_add(SECONDS);
        let content = format!("{}.{end}.{}", role.letter(), generate_secret());
        let signature = sign(&self.key, &format!("session {content}"));
        Session {
            role,
            value: format!("{content}.{signature}"),
        }
    }

    /// Finds the session of a request, unless it has ended. While the event store does not answer, it cannot have new
    /// ends, and operators need the console: the session counts then.
    pub(crate) async fn find_open(&self, headers: &HeaderMap) -> Option<Session> {
        let session = self.find_valid_session(headers)?;
        let subject = self.subject(&session).ok()?;
        let ended = latest_event(&*self.log.store, subject, false).await;
        (!matches!(ended, Ok(Some(_)))).then_some(session)
    }

    /// Finds the session in the cookies of a request, if there is a valid one. It may have ended.
    pub(crate) fn find_valid_session(&self, headers: &HeaderMap) -> Option<Session> {
        let lines = headers.get_all(header::COOKIE).iter();
        let lists = lines.filter_map(|value| value.to_str().ok());
        let cookies = lists.flat_map(|list| list.split(';'));
        let mut values = cookies.filter_map(|one| {
            let value = one.trim().strip_prefix(self.cookie.as_str())?;
            value.strip_prefix('=')
        });
        values.find_map(|value| self.parse_valid(value))
    }

    fn parse_valid(&self, value: &str) -> Option<Session> {
        let (content, signature) = value.rsplit_once('.')?;
        let mut parts = content.split('.');
        let role = SessionRole::from_letter(parts.next()?)?;
        let end: i64 = parts.next()?.parse().ok()?;
        let is_valid = end > now() && verify(&self.key, &format!("session {content}"), signature);
        is_valid.then(|| Session {
            role,
            value: value.to_owned(),
        })
    }

    /// Ends a session. A copy of its cookie is worth nothing any more.
    pub(crate) async fn end(&self, session: &Session) -> Result<(), StoreError> {
        let refused = |error: String| StoreError::Refused(error);
        let data = es_event::encode(&Metadata::default(), &serde_json::json!({}));
        let ended = EventCandidate {
            source: Arc::clone(&self.log.source),
            subject: self.subject(session)?,
            event_type: ENDED,
            data: data.map_err(|error| refused(error.to_string()))?,
            trace: None,
        };
        match self.log.store.append(vec![ended], Vec::new()).await {
            Ok(_) => Ok(()),
            Err(AppendError::Store(error)) => Err(error),
            Err(error) => Err(refused(error.to_string())),
        }
    }

    /// Returns the subject of a session's end. A signature tells nothing about the cookie.
    fn subject(&self, session: &Session) -> Result<Subject, StoreError> {
        let name = sign(&self.key, &format!("end {}", session.value));
        let subject = format!("/es-framework/console-sessions/{name}").parse();
        subject.map_err(|error: es_event::InvalidSubject| StoreError::Refused(error.to_string()))
    }

    /// Returns the text that forms of a session carry. A page of another origin cannot know it.
    pub(crate) fn form_token(&self, session: &Session) -> String {
        sign(&self.key, &format!("form {}", session.value))
    }

    /// Returns whether a form belongs to a session.
    pub(crate) fn owns_form(&self, session: &Session, form_token: &str) -> bool {
        verify(&self.key, &format!("form {}", session.value), form_token)
    }

    /// Returns the header that stores a session in the browser.
    pub(crate) fn to_cookie(&self, session: &Session) -> Option<HeaderValue> {
        self.cookie(&session.value, SECONDS)
    }

    /// Returns the header that removes the session from the browser.
    pub(crate) fn removal(&self) -> Option<HeaderValue> {
        self.cookie("", 0)
    }

    fn cookie(&self, value: &str, seconds: i64) -> Option<HeaderValue> {
        let secure = if self.is_tls { "; Secure" } else { "" };
        let name = &self.cookie;
        let cookie = format!(
            "{name}={value}; Path=/console; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}"
        );
        HeaderValue::from_str(&cookie).ok()
    }
}

fn now() -> i64 {
    Timestamp::now().as_second()
}

/// Returns the signature of a text in hexadecimal digits.
fn sign(key: &hmac::Key, text: &str) -> String {
    let signature = hmac::sign(key, format!("console {text}").as_bytes());
    es_event::hex(signature.as_ref())
}

fn verify(key: &hmac::Key, text: &str, signature: &str) -> bool {
    let digits = signature.as_bytes().chunks_exact(2);
    let is_whole = signature.len() == 64 && digits.remainder().is_empty();
    let parsed = digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
    let bytes: Option<Vec<u8>> = parsed.collect();
    let text = format!("console {text}");
    is_whole && bytes.is_some_and(|bytes| hmac::verify(key, text.as_bytes(), &bytes).is_ok())
}

#[cfg(test)]
mod tests {
    use es_store::memory::MemoryStore;

    use super::*;

    fn sessions(token: &str) -> Sessions {
        sessions_in(MemoryStore::new(), token, false)
    }

    fn sessions_in(store: MemoryStore, token: &str, is_tls: bool) -> Sessions {
        let log = SessionLog {
            store: Arc::new(store),
            source: "tests".into(),
        };
        Sessions::new(Some(&token.parse().unwrap()), is_tls, log)
    }

    fn headers(cookie: &str) -> HeaderMap {
        let value = HeaderValue::from_str(cookie).unwrap();
        HeaderMap::from_iter([(header::COOKIE, value)])
    }

    fn sent(sessions: &Sessions, value: &str) -> HeaderMap {
        headers(&format!("a=b; {}={value}", sessions.cookie))
    }

    #[test]
    fn a_session_is_valid_for_the_token_that_began_it() {
        let own = sessions("secret");
        let session = own.begin(SessionRole::Operator);
        let request = sent(&own, &session.value);
        assert_eq!(own.find_valid_session(&request), Some(session.clone()));
        let other_instance = sessions("secret");
        assert_eq!(
            other_instance.find_valid_session(&request),
            Some(session.clone())
        );
        let other = sessions("other");
        assert_eq!(
            other.find_valid_session(&sent(&other, &session.value)),
            None
        );
        assert_eq!(own.find_valid_session(&HeaderMap::new()), None);
        let form = own.form_token(&session);
        assert!(own.owns_form(&session, &form));
        assert!(!other.owns_form(&session, &form));
        assert!(!own.owns_form(&session, &session.value));
        assert!(!own.owns_form(&own.begin(SessionRole::Operator), &form));
    }

    #[test]
    fn a_cookie_of_another_service_hides_no_session() {
        let (own, other) = (sessions("secret"), sessions("other"));
        assert_ne!(own.cookie, other.cookie);
        let session = own.begin(SessionRole::Reader);
        let foreign = other.begin(SessionRole::Operator);
        let name = &own.cookie;
        let both = headers(&format!(
            "{name}={}; {name}={}",
            foreign.value, session.value
        ));
        assert_eq!(own.find_valid_session(&both), Some(session));
    }

    #[tokio::test]
    async fn a_session_that_has_ended_is_refused_by_every_later_process_and_others_go_on() {
        let store = MemoryStore::new();
        let sessions = sessions_in(store.clone(), "secret", false);
        let ended = sessions.begin(SessionRole::Operator);
        let other = sessions.begin(SessionRole::Operator);
        let later = sessions_in(store, "secret", false);
        for process in [&sessions, &later] {
            let request = sent(process, &ended.value);
            assert_eq!(process.find_open(&request).await, Some(ended.clone()));
        }
        sessions.end(&ended).await.unwrap();
        for process in [&sessions, &later] {
            assert_eq!(process.find_open(&sent(process, &ended.value)).await, None);
            let request = sent(process, &other.value);
            assert_eq!(process.find_open(&request).await, Some(other.clone()));
        }
    }

    #[test]
    fn a_changed_or_old_session_is_refused() {
        let sessions = sessions("secret");
        let session = sessions.begin(SessionRole::Reader).value;
        let [role, end, random, signature] = session.split('.').collect::<Vec<_>>()[..] else {
            panic!("{session}")
        };
        let later = end.parse::<i64>().unwrap() + 1;
        let old = sign(&sessions.key, &format!("session r.7.{random}"));
        for wrong in [
            String::new(),
            "...".to_owned(),
            "7".to_owned(),
            "x.y.z.a".to_owned(),
            format!("o.{end}.{random}.{signature}"),
            format!("{role}.{later}.{random}.{signature}"),
            format!("{role}.7.{random}.{old}"),
            format!("{role}.{end}.{random}.\u{fc}"),
            format!("{role}.{end}.{random}."),
            format!("{role}.{end}.{signature}"),
        ] {
            let Ok(value) = HeaderValue::from_str(&format!("{}={wrong}", sessions.cookie)) else {
                continue;
            };
            let request = HeaderMap::from_iter([(header::COOKIE, value)]);
            assert_eq!(sessions.find_valid_session(&request), None, "{wrong}");
        }
    }

    #[test]
    fn a_cookie_is_for_the_console_alone() {
        let sessions = sessions_in(MemoryStore::new(), "secret", true);
        let session = sessions.begin(SessionRole::Operator);
        let cookie = sessions.to_cookie(&session).unwrap();
        let cookie = cookie.to_str().unwrap();
        for part in ["Path=/console;", "HttpOnly", "SameSite=Strict", "Secure"] {
            assert!(cookie.contains(part), "{cookie}");
        }
    }
}
