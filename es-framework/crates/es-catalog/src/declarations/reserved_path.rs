//! The paths that the framework serves itself.

/// The first segments of these paths.
const RESERVED: [&str; 4] = ["/actuator", "/console", "/docs", "/openapi.json"];

/// Returns true if the framework serves this path itself, so that no command or query can have it.
pub(crate) fn is_reserved_path(path: &str) -> bool {
    let is_below = |head: &&str| {
        path.strip_prefix(*head)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    RESERVED.iter().any(is_below)
}

#[cfg(test)]
mod tests {
    use super::is_reserved_path;

    #[test]
    fn a_path_is_reserved_with_everything_below_it() {
        for path in [
            "/console",
            "/console/events",
            "/actuator",
            "/docs",
            "/openapi.json",
        ] {
            assert!(is_reserved_path(path), "{path}");
        }
        for path in ["/", "/consoles", "/books/console", "/documents"] {
            assert!(!is_reserved_path(path), "{path}");
        }
    }
}
