//! The scheme in the URL of a PostgreSQL database.

/// Returns the URL without the scheme of PostgreSQL, or `None` if it has another scheme.
#[must_use]
pub fn strip_postgres_scheme(url: &str) -> Option<&str> {
    let rest = url.strip_prefix("postgres://");
    rest.or_else(|| url.strip_prefix("postgresql://"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_schemes_of_postgresql_are_known() {
        for url in ["postgres://me@db/events", "postgresql://me@db/events"] {
            assert_eq!(strip_postgres_scheme(url), Some("me@db/events"), "{url}");
        }
        for url in ["http://db", "postgres:db", "data/postgres://db"] {
            assert_eq!(strip_postgres_scheme(url), None, "{url}");
        }
    }
}
