//! FileTokens of an issuer: the good ones, and one for each way to forge them.

mod login;

use std::{os::unix::fs::PermissionsExt as _, sync::Arc};

use axum::http::{HeaderMap, HeaderValue, header::AUTHORIZATION};
use es_net::reloaded_value::ReloadedValue;
use serde_json::{Value, json};

use super::{
    super::{
        Auth, Authenticator,
        denied::AccessDenied,
        tokens::{FileToken, FileTokens},
    },
    Issuer,
};
use login::{Login, SigningKey, encoded};

fn now() -> i64 {
    jiff::Timestamp::now().as_second()
}

fn claims(login: &Login) -> Value {
    json!({
        "iss": login.url,
        "aud": ["other", "library"],
        "sub": "alice",
        "roles": ["staff"],
        "nbf": now() - 1,
        "exp": now() + 300,
    })
}

fn header(algorithm: &str, id: &str) -> Value {
    json!({ "alg": algorithm, "kid": id, "typ": "JWT" })
}

/// Returns the claims of a valid token with one claim changed.
fn with(claims: &Value, name: &str, value: impl Into<Value>) -> Value {
    let mut claims = claims.clone();
    claims[name] = value.into();
    claims
}

fn without(claims: &Value, name: &str) -> Value {
    let mut claims = claims.clone();
    claims.as_object_mut().unwrap().remove(name);
    claims
}

async fn name(issuer: &Arc<Issuer>, token: &str) -> Result<String, AccessDenied> {
    let caller = issuer.authenticate(token.as_bytes()).await?;
    Ok(caller.name().to_owned())
}

const REFUSED: Result<String, AccessDenied> = Err(AccessDenied::InvalidCredential);

#[tokio::test]
async fn every_kind_of_public_key_is_taken() {
    let (ec, ed, rsa) = (SigningKey::ec(), SigningKey::ed(), SigningKey::rsa());
    let login = Login::start(&[
        ec.jwk("ec"),
        ed.jwk("ed"),
        rsa.jwk("rsa"),
        json!({ "kty": "of the future", "kid": "f" }),
        json!("no key"),
    ])
    .await;
    let issuer = login.trusted();
    for (key, algorithm, id) in [
        (&ec, "ES256", "ec"),
        (&ed, "EdDSA", "ed"),
        (&rsa, "RS256", "rsa"),
        (&rsa, "PS256", "rsa"),
    ] {
        let token = key.token(&header(algorithm, id), &claims(&login));
        let caller = issuer.authenticate(token.as_bytes()).await;
        let caller = caller.unwrap_or_else(|denied| panic!("{algorithm}: {denied:?}"));
        assert_eq!(caller.name(), "alice");
        assert!(caller.has_role("staff") && !caller.has_role("reader"));
    }
    assert_eq!(login.asked(), 1, "the keys are kept");
}

#[tokio::test]
async fn a_token_that_is_wrong_in_one_claim_is_refused() {
    let key = SigningKey::ec();
    let login = Login::start(&[key.jwk("k1")]).await;
    let issuer = login.trusted();
    let good = claims(&login);
    let head = header("ES256", "k1");
    for claims in [
        with(&good, "aud", "another-service"),
        with(&good, "aud", json!([])),
        with(&good, "aud", json!(7)),
        without(&good, "aud"),
        with(&good, "iss", "https://login.example.com"),
        with(&good, "iss", format!("{}/", login.url)),
        without(&good, "iss"),
        with(&good, "exp", now() - 90),
        with(&good, "exp", "tomorrow"),
        without(&good, "exp"),
        with(&good, "nbf", now() + 90),
        with(&good, "nbf", "soon"),
        without(&good, "sub"),
        with(&good, "sub", "alice\r\nx-role: staff"),
        with(&good, "iss", json!([login.url])),
        // An ID token, those of Keycloak, and a logout token.
        with(&good, "at_hash", "77QmUPtjPfzWtF2AnpK9RQ"),
        with(&good, "typ", "ID"),
        with(&good, "typ", "Refresh"),
        with(
            &good,
            "events",
            json!({ "http://schemas.openid.net/event/backchannel-logout": {} }),
        ),
    ] {
        let token = key.token(&head, &claims);
        assert_eq!(name(&issuer, &token).await, REFUSED, "{claims}");
    }
    for claims in [
        good.clone(),
        // The clocks may differ by one minute.
        with(&good, "exp", now() - 30),
        with(&good, "nbf", now() + 30),
        without(&good, "nbf"),
        with(&good, "aud", "library"),
        with(&good, "typ", "Bearer"),
    ] {
        let token = key.token(&head, &claims);
        assert_eq!(name(&issuer, &token).await.unwrap(), "alice", "{claims}");
    }
}

#[tokio::test]
async fn a_token_that_the_issuer_did_not_sign_is_refused() {
    let (key, rsa, forged) = (SigningKey::ec(), SigningKey::rsa(), SigningKey::ec());
    let login = Login::start(&[key.jwk("k1"), rsa.jwk("k2")]).await;
    let issuer = login.trusted_without_pause();
    let good = claims(&login);
    let token = key.token(&header("ES256", "k1"), &good);
    let (message, signature) = token.rsplit_once('.').unwrap();
    let other_claims = encoded(with(&good, "roles", json!(["admin"])).to_string());
    let (head, _) = message.split_once('.').unwrap();
    let critical = json!({ "alg": "ES256", "kid": "k1", "crit": ["b64"], "b64": false });
    let own_key = json!({ "alg": "ES256", "kid": "k1", "jwk": forged.jwk("k1") });
    for (what, forgery) in [
        ("alg none", key.token(&header("none", "k1"), &good)),
        ("alg None", key.token(&header("None", "k1"), &good)),
        (
            "HMAC with a curve's point",
            key.token(&header("HS256", "k1"), &good),
        ),
        (
            "HMAC with an RSA key",
            rsa.token(&header("HS256", "k2"), &good),
        ),
        (
            "an RSA algorithm with a curve",
            key.token(&header("RS256", "k1"), &good),
        ),
        (
            "a curve with an RSA key",
            key.token(&header("ES256", "k2"), &good),
        ),
        (
            "another key of the same name",
            forged.token(&header("ES256", "k1"), &good),
        ),
        (
            "an unknown key",
            forged.token(&header("ES256", "k3"), &good),
        ),
        ("a key of its own", forged.token(&own_key, &good)),
        (
            "an unnamed key",
            forged.token(&json!({ "alg": "ES256" }), &good),
        ),
        ("a critical extension", key.token(&critical, &good)),
        ("other claims", format!("{head}.{other_claims}.{signature}")),
        ("no signature", format!("{message}.")),
        ("no third part", message.to_owned()),
        ("a fourth part", format!("{token}.{signature}")),
        ("nothing", String::new()),
        ("dots", "..".to_owned()),
        ("no base64", "%.%.%".to_owned()),
        (
            "no JSON",
            format!("{}.{}.{signature}", encoded("{"), encoded("{")),
        ),
    ] {
        assert_eq!(name(&issuer, &forgery).await, REFUSED, "{what}");
    }
    assert_eq!(name(&issuer, &token).await.unwrap(), "alice");
}

#[tokio::test]
async fn keys_may_share_an_id_or_have_none() {
    let (ec, other, rsa) = (SigningKey::ec(), SigningKey::ec(), SigningKey::rsa());
    // As Keycloak and Hydra publish keys: one id for several algorithms, and keys without an id.
    let shared = [rsa.jwk("k1"), ec.jwk("k1")];
    let nameless = [ec.jwk("k1"), other.jwk("k2"), rsa.jwk("k3")].map(|key| without(&key, "kid"));
    for published in [shared.clone().to_vec(), nameless.to_vec()] {
        let login = Login::start(&published).await;
        let issuer = login.trusted();
        let id = published[0].get("kid");
        for (key, algorithm) in [(&ec, "ES256"), (&rsa, "RS256"), (&rsa, "PS256")] {
            let mut head = json!({ "alg": algorithm });
            if let Some(id) = id {
                head["kid"] = id.clone();
            }
            let token = key.token(&head, &claims(&login));
            assert_eq!(name(&issuer, &token).await.unwrap(), "alice", "{head}");
        }
        let by_other = other.token(&json!({ "alg": "ES256" }), &claims(&login));
        assert_eq!(name(&issuer, &by_other).await.is_ok(), id.is_none());
    }
    // OpenID Connect Core 1.0, section 10.1: a token needs no id if there is one key.
    let login = Login::start(&[ec.jwk("k1")]).await;
    let token = ec.token(&json!({ "alg": "ES256" }), &claims(&login));
    assert_eq!(name(&login.trusted(), &token).await.unwrap(), "alice");
}

#[tokio::test]
async fn a_key_for_another_use_verifies_nothing() {
    let key = SigningKey::ec();
    for (member, value, is_taken) in [
        ("use", json!("sig"), true),
        ("use", json!("enc"), false),
        ("key_ops", json!(["verify"]), true),
        ("key_ops", json!(["sign", "verify"]), true),
        ("key_ops", json!(["sign"]), false),
        ("key_ops", json!([]), false),
    ] {
        let jwk = with(&key.jwk("k1"), member, value);
        let login = Login::start(&[jwk.clone(), SigningKey::ed().jwk("k2")]).await;
        let token = key.token(&header("ES256", "k1"), &claims(&login));
        let found = name(&login.trusted(), &token).await;
        assert_eq!(found.is_ok(), is_taken, "{jwk}");
    }
}

#[tokio::test]
async fn the_type_of_a_token_is_that_of_an_access_token_if_it_has_one() {
    let key = SigningKey::ec();
    let login = Login::start(&[key.jwk("k1")]).await;
    let issuer = login.trusted();
    for (typ, is_taken) in [
        ("JWT", true),
        ("jwt", true),
        ("at+jwt", true),
        ("application/at+jwt", true),
        ("logout+jwt", false),
        ("application/logout+jwt", false),
        ("secevent+jwt", false),
        ("dpop+jwt", false),
        ("", false),
    ] {
        let token = key.token(&with(&header("ES256", "k1"), "typ", typ), &claims(&login));
        assert_eq!(name(&issuer, &token).await.is_ok(), is_taken, "{typ}");
    }
    let token = key.token(&json!({ "alg": "ES256", "kid": "k1" }), &claims(&login));
    assert_eq!(name(&issuer, &token).await.unwrap(), "alice");
}

#[tokio::test]
async fn a_subject_with_the_name_of_a_token_in_the_file_is_refused() {
    let key = SigningKey::ec();
    let login = Login::start(&[key.jwk("k1")]).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens");
    let line = FileToken::new("alice", &[], None, "secret").to_line();
    std::fs::write(&file, line).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let read = move || FileTokens::read_file(&file);
    let tokens = ReloadedValue::load_and_watch("the tokens", Vec::new(), read).unwrap();
    let authenticator = Authenticator::new(Some(tokens), Some(login.trusted()));
    for (subject, is_taken) in [("alice", false), ("bob", true)] {
        let claims = with(&claims(&login), "sub", subject);
        let token = key.token(&header("ES256", "k1"), &claims);
        let mut headers = HeaderMap::new();
        let bearer = HeaderValue::from_str(&format!("Bearer {token}")).unwrap();
        headers.insert(AUTHORIZATION, bearer);
        let caller = Auth(Some(authenticator.clone())).caller(&headers).await;
        assert_eq!(caller.is_ok(), is_taken, "{subject}: {caller:?}");
    }
}

#[tokio::test]
async fn keys_are_rotated_without_a_restart() {
    let (old, new) = (SigningKey::ec(), SigningKey::ed());
    let login = Login::start(&[old.jwk("old")]).await;
    let issuer = login.trusted_without_pause();
    let of_old = old.token(&header("ES256", "old"), &claims(&login));
    let of_new = new.token(&header("EdDSA", "new"), &claims(&login));
    assert_eq!(name(&issuer, &of_old).await.unwrap(), "alice");
    assert_eq!(name(&issuer, &of_new).await, REFUSED);
    login.publish(&[new.jwk("new")]);
    assert_eq!(name(&issuer, &of_new).await.unwrap(), "alice");
    assert_eq!(name(&issuer, &of_old).await, REFUSED, "it was given up");
}

#[tokio::test]
async fn callers_cannot_make_the_issuer_be_asked_again_and_again() {
    let key = SigningKey::ec();
    let login = Login::start(&[key.jwk("k1")]).await;
    let issuer = login.trusted();
    issuer.warm_up().await;
    for number in 0..50 {
        let head = header("ES256", &format!("guess-{number}"));
        let token = key.token(&head, &claims(&login));
        assert_eq!(name(&issuer, &token).await, REFUSED);
    }
    assert_eq!(login.asked(), 1);
}

#[tokio::test]
async fn no_token_is_called_invalid_because_the_issuer_is_away() {
    let (key, new) = (SigningKey::ec(), SigningKey::ec());
    let login = Login::start(&[key.jwk("k1")]).await;
    login.go_away(true);
    let issuer = login.trusted_without_pause();
    let token = key.token(&header("ES256", "k1"), &claims(&login));
    assert_eq!(name(&issuer, &token).await, Err(AccessDenied::IssuerAway));
    login.go_away(false);
    assert_eq!(name(&issuer, &token).await.unwrap(), "alice");
    login.go_away(true);
    assert_eq!(
        name(&issuer, &token).await.unwrap(),
        "alice",
        "its key is known"
    );
    let of_new = new.token(&header("ES256", "k2"), &claims(&login));
    assert_eq!(name(&issuer, &of_new).await, Err(AccessDenied::IssuerAway));
}

#[tokio::test]
async fn an_issuer_that_calls_itself_otherwise_or_sends_nonsense_is_not_trusted() {
    let key = SigningKey::ec();
    let login = Login::start(&[key.jwk("k1")]).await;
    let token = key.token(&header("ES256", "k1"), &claims(&login));
    login.call_itself("https://login.example.com");
    let issuer = login.trusted_without_pause();
    assert_eq!(name(&issuer, &token).await, Err(AccessDenied::IssuerAway));
    login.call_itself(&login.url);
    login.publish(&vec![json!({ "filler": "x".repeat(1_000) }); 1_000]);
    assert_eq!(name(&issuer, &token).await, Err(AccessDenied::IssuerAway));
    login.publish(&[]);
    assert_eq!(name(&issuer, &token).await, Err(AccessDenied::IssuerAway));
}
