//! Numbered parameters.

/// Replaces each `?` by a sign and a number: `$1`, `$2` and so on, behind `others` other parameters.
/// Statements of the framework contain no other question marks.
pub(super) fn replace_question_marks(sql: &str, sign: char, others: usize) -> String {
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
            replace_question_marks("a = ? AND b IN (?, ?)", '$', 0),
            "a = $1 AND b IN ($2, $3)"
        );
        assert_eq!(replace_question_marks("a = ?", '?', 4), "a = ?5");
        assert_eq!(replace_question_marks("SELECT 1", '$', 0), "SELECT 1");
    }
}
