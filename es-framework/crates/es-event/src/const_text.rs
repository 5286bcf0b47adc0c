//! The comparison of texts at compile time, where `==` is not available.

/// Returns whether two texts are equal.
#[must_use]
pub const fn are_equal(left: &str, right: &str) -> bool {
    let (mut left, mut right) = (left.as_bytes(), right.as_bytes());
    while let ([first, left_rest @ ..], [other, right_rest @ ..]) = (left, right) {
        if *first != *other {
            return false;
        }
        (left, right) = (left_rest, right_rest);
    }
    left.is_empty() && right.is_empty()
}

#[cfg(test)]
mod tests {
    use super::are_equal;

    #[test]
    fn texts_are_equal_only_as_a_whole() {
        assert!(are_equal("id", "id") && are_equal("", ""));
        for (left, right) in [("id", "i"), ("i", "id"), ("id", "ib"), ("", "id")] {
            assert!(!are_equal(left, right), "{left} {right}");
        }
    }
}
