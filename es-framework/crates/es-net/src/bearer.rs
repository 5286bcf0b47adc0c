//! Reads the bearer token of a request from `Authorization: Bearer …`.

use axum::http::{HeaderMap, header};

/// The scheme in lower case. Clients may use any case (RFC 9110, section 11.1).
const SCHEME: &[u8] = b"bearer ";
/// The longest valid token, in bytes.
const MAX_LENGTH: usize = 8 * 1024;

/// The reasons that a request has no usable bearer token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BearerError {
    /// The request has no header `Authorization`.
    Missing,
    /// The header has another scheme, no token, or appears twice.
    Invalid,
}

/// Returns the token after the scheme.
pub fn read_credential(headers: &HeaderMap) -> Result<&[u8], BearerError> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let value = values.next().ok_or(BearerError::Missing)?;
    // A proxy could read another one of two tokens.
    if values.next().is_some() {
        return Err(BearerError::Invalid);
    }
    let parts = value.as_bytes().split_at_checked(SCHEME.len());
    let (scheme, credential) = parts.ok_or(BearerError::Invalid)?;
    let credential = credential.trim_ascii();
    let is_bearer = scheme.eq_ignore_ascii_case(SCHEME);
    if is_bearer && (1..=MAX_LENGTH).contains(&credential.len()) {
        Ok(credential)
    } else {
        Err(BearerError::Invalid)
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn of<const N: usize>(values: [&str; N]) -> Result<String, BearerError> {
        let mut headers = HeaderMap::new();
        for value in values {
            let value = HeaderValue::from_str(value).unwrap();
            headers.append(header::AUTHORIZATION, value);
        }
        let given = read_credential(&headers).map(<[u8]>::to_vec);
        given.map(|given| String::from_utf8(given).unwrap())
    }

    #[test]
    fn the_scheme_is_bearer_in_any_case() {
        for value in ["Bearer x", "bearer x", "BEARER x", "bEaReR   x"] {
            assert_eq!(of([value]), Ok("x".to_owned()), "{value}");
        }
        for value in ["Basic x", "Bearer", "Bearer ", "x", "", "Bearerx y"] {
            assert_eq!(of([value]), Err(BearerError::Invalid), "{value}");
        }
    }

    #[test]
    fn there_is_one_credential_or_none() {
        assert_eq!(of([]), Err(BearerError::Missing));
        assert_eq!(of(["Bearer x", "Bearer x"]), Err(BearerError::Invalid));
        let longest = "x".repeat(MAX_LENGTH);
        assert_eq!(of([&format!("Bearer {longest}")]), Ok(longest.clone()));
        assert_eq!(
            of([&format!("Bearer {longest}y")]),
            Err(BearerError::Invalid)
        );
    }
}
