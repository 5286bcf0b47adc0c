//! The claims of a token whose signature is valid.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value};

use crate::auth::{
    VerifiedCaller,
    tokens::{is_valid_name, is_valid_subject},
};

/// Number of roles that are read. Further roles are ignored.
const MAX_ROLES: usize = 100;

pub(super) type Claims = Map<String, Value>;

/// Returns the caller of a token. `None` if it has no subject, or one that is too long or has
/// characters that no log should have.
pub(super) fn read_caller(
    claims: &Claims,
    roles_claim: &str,
    owner_claim: &str,
) -> Option<VerifiedCaller> {
    let subject = claims.get("sub")?.as_str()?;
    let roles = roles(claims, roles_claim);
    let owner_id = find(claims, owner_claim).and_then(owner_id);
    is_valid_subject(subject).then(|| VerifiedCaller::new(subject, roles, owner_id.as_deref()))
}

/// Checks that the claims can be those of an access token, because not every issuer writes the kind of a token into its
/// header. RFC 7519, section 4.1.1: one text names the issuer, though `jsonwebtoken` accepts a list.
pub(super) fn check_kind(claims: &Claims) -> Result<(), &'static str> {
    // OpenID Connect Core 1.0, section 3.1.3.6, and Back-Channel Logout 1.0, section 2.4.
    if ["at_hash", "c_hash", "events"]
        .iter()
        .any(|name| claims.contains_key(*name))
    {
        return Err("it is an ID token or tells of an event");
    }
    // Keycloak's name of the kind.
    let kind = claims.get("typ").and_then(Value::as_str);
    if kind.is_some_and(|kind| ["ID", "Refresh", "Offline", "Logout"].contains(&kind)) {
        return Err("its claim `typ` is that of another kind of token");
    }
    if claims.get("iss").is_some_and(Value::is_string) {
        Ok(())
    } else {
        Err("its issuer is not a text")
    }
}

/// Returns the time at which the token expires; `leeway` is in seconds.
pub(super) fn read_expiry(claims: &Claims, leeway: u64) -> Option<Instant> {
    let exp = claims.get("exp")?.as_f64()?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    let end = Duration::try_from_secs_f64(exp)
        .ok()?
        .saturating_add(Duration::from_secs(leeway));
    Instant::now().checked_add(end.saturating_sub(now))
}

/// Reads roles from an array of texts, or from one text with blanks between them, as in `scope`.
/// Values that cannot be roles are ignored.
fn roles<'a>(claims: &'a Claims, name: &str) -> Vec<&'a str> {
    let found: Vec<&str> = match find(claims, name) {
        Some(Value::Array(roles)) => roles.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(roles)) => roles.split_ascii_whitespace().collect(),
        _ => Vec::new(),
    };
    let roles = found.into_iter().filter(|role| is_valid_name(role));
    roles.take(MAX_ROLES).collect()
}

/// Reads an owner id: a text or an integer. Other values are none.
fn owner_id(value: &Value) -> Option<String> {
    let id = match value {
        Value::String(id) => id.clone(),
        Value::Number(id) if !id.is_f64() => id.to_string(),
        _ => return None,
    };
    is_valid_subject(&id).then_some(id)
}

/// Returns a claim by its name or its path, such as `realm_access.roles`. Names in a path may have dots, too, as that of
/// the client in `resource_access.library.example.com.roles`.
fn find<'a>(claims: &'a Claims, name: &str) -> Option<&'a Value> {
    claims.get(name).or_else(|| {
        name.match_indices('.').find_map(|(dot, _)| {
            let (first, rest) = name.split_at(dot);
            find(claims.get(first)?.as_object()?, rest.strip_prefix('.')?)
        })
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn caller_of(claims: &Value, roles_claim: &str) -> Option<VerifiedCaller> {
        read_caller(claims.as_object().unwrap(), roles_claim, "sub")
    }

    #[test]
    fn roles_are_found_where_issuers_put_them() {
        for (claims, name) in [
            (json!({ "sub": "a", "roles": ["staff", "reader"] }), "roles"),
            (json!({ "sub": "a", "scope": "staff reader" }), "scope"),
            (
                json!({ "sub": "a", "realm_access": { "roles": ["staff", "reader"] } }),
                "realm_access.roles",
            ),
            (
                json!({ "sub": "a", "resource_access": {
                    "library": { "roles": [] },
                    "library.example.com": { "roles": ["staff", "reader"] },
                } }),
                "resource_access.library.example.com.roles",
            ),
            (
                json!({ "sub": "a", "https://library.test/roles": ["staff", "reader"] }),
                "https://library.test/roles",
            ),
        ] {
            let caller = caller_of(&claims, name).unwrap();
            assert!(
                caller.has_role("staff") && caller.has_role("reader"),
                "{name}"
            );
        }
        let odd = json!({ "sub": "a", "roles": ["a,staff", 7, "", "two words", "staff\n"] });
        assert!(!caller_of(&odd, "roles").unwrap().has_role("staff"));
    }

    #[test]
    fn a_subject_that_could_write_into_a_log_is_none() {
        for subject in [
            "",
            "a\nb",
            "a\r\nx-role: staff",
            "a b",
            "\u{e9}",
            &"x".repeat(256),
        ] {
            assert_eq!(caller_of(&json!({ "sub": subject }), "roles"), None);
        }
        assert_eq!(caller_of(&json!({ "sub": 7 }), "roles"), None);
        assert_eq!(caller_of(&json!({}), "roles"), None);
        let name = "auth0|5f7c8ec7c33c6c004bbafe82";
        let found = caller_of(&json!({ "sub": name }), "roles").unwrap();
        assert_eq!(found.name(), name);
    }
}
