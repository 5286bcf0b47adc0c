//! Parameters by number.

/// SQL with `$1`, `$2` and so on, or the same with another sign, in the places of its `?`, behind so
/// many other parameters. What the framework makes has no other question marks.
pub(super) fn numbered(sql: &str, sign: char, others: usize) -> String {
    let mut numbered = String::with_capacity(sql.len());
    for (index, part) in sql.split('?').enumerate() {
        if index > 0 {
            numbered.push_str(&format!("{sign}{}", others.saturating_add(index)));
        }
        numbered.push_str(part);
    }
    numbered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_numbered() {
        assert_eq!(
            numbered("a = ? AND b IN (?, ?)", '$', 0),
            "a = $1 AND b IN ($2, $3)"
        );
        assert_eq!(numbered("a = ?", '?', 4), "a = ?5");
        assert_eq!(numbered("SELECT 1", '$', 0), "SELECT 1");
    }
}
