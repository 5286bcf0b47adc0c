//! Templates of source files: texts with names in double braces.

/// Returns the template with `{{name}}` replaced by each value.
pub(crate) fn fill_template(template: &str, values: &[(&str, &str)]) -> String {
    let mut text = template.to_owned();
    for (name, value) in values {
        text = text.replace(&format!("{{{{{name}}}}}"), value);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_in_double_braces_is_replaced() {
        let text = fill_template(
            "struct {{name}} {} // {{name}} {other}",
            &[("name", "Book")],
        );
        assert_eq!(text, "struct Book {} // Book {other}");
    }
}
