//! The credential of a request, in `Authorization: Bearer …`.

use axum::http::{HeaderMap, header};

/// In lower case, though it may be written in any (RFC 9110, section 11.1).
const SCHEME: &[u8] = b"bearer ";
/// A longer credential is none.
const LONGEST: usize = 8 * 1024;

/// Why there is no credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoBearer {
    /// None was sent.
    Missing,
    /// What was sent is none.
    Invalid,
}

/// The credential after the scheme.
pub(crate) fn credential(headers: &HeaderMap) -> Result<&[u8], NoBearer> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let value = values.next().ok_or(NoBearer::Missing)?;
    // Two of them could mean one thing to a proxy and another one here.
    if values.next().is_some() {
        return Err(NoBearer::Invalid);
    }
    let parts = value.as_bytes().split_at_checked(SCHEME.len());
    let (scheme, credential) = parts.ok_or(NoBearer::Invalid)?;
    let credential = credential.trim_ascii();
    let is_bearer = scheme.eq_ignore_ascii_case(SCHEME);
    match is_bearer && (1..=LONGEST).contains(&credential.len()) {
        true => Ok(credential),
        false => Err(NoBearer::Invalid),
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn of<const N: usize>(values: [&str; N]) -> Result<String, NoBearer> {
        let mut headers = HeaderMap::new();
        for value in values {
            let value = HeaderValue::from_str(value).unwrap();
            headers.append(header::AUTHORIZATION, value);
        }
        let given = credential(&headers).map(<[u8]>::to_vec);
        given.map(|given| String::from_utf8(given).unwrap())
    }

    #[test]
    fn the_scheme_is_bearer_in_any_case() {
        for value in ["Bearer x", "bearer x", "BEARER x", "bEaReR   x"] {
            assert_eq!(of([value]), Ok("x".to_owned()), "{value}");
        }
        for value in ["Basic x", "Bearer", "Bearer ", "x", "", "Bearerx y"] {
            assert_eq!(of([value]), Err(NoBearer::Invalid), "{value}");
        }
    }

    #[test]
    fn there_is_one_credential_or_none() {
        assert_eq!(of([]), Err(NoBearer::Missing));
        assert_eq!(of(["Bearer x", "Bearer x"]), Err(NoBearer::Invalid));
        let longest = "x".repeat(LONGEST);
        assert_eq!(of([&format!("Bearer {longest}")]), Ok(longest.clone()));
        assert_eq!(of([&format!("Bearer {longest}y")]), Err(NoBearer::Invalid));
    }
}
