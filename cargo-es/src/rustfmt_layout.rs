//! Lays code out as rustfmt does, so that generated files need no formatting.

use std::{cmp::Ordering, iter::Peekable, str::Chars};

/// The widths of rustfmt's default style.
const MAX_WIDTH: usize = 100;
const ATTRIBUTE_WIDTH: usize = 70;
const STRUCT_LITERAL_WIDTH: usize = 18;

/// Returns an attribute with its arguments, without indentation.
pub(crate) fn attribute(name: &str, arguments: &[String]) -> String {
    let line = arguments.join(", ");
    if line.len() <= ATTRIBUTE_WIDTH {
        return format!("#[{name}({line})]");
    }
    let lines = arguments.join(",\n    ");
    format!("#[{name}(\n    {lines}\n)]")
}

/// Returns the head of a function, up to its opening brace. `keyword` is `fn` or `async fn`, and `indent` is the number of blanks in front of
/// the function, which are not part of the text.
pub(crate) fn function_head(
    indent: usize,
    keyword: &str,
    name: &str,
    parameters: &[String],
    output: Option<&str>,
) -> String {
    let output = output.map_or_else(String::new, |output| format!(" -> {output}"));
    let line = format!("{keyword} {name}({}){output} {{", parameters.join(", "));
    if indent + line.len() <= MAX_WIDTH {
        return line;
    }
    let mut lines = format!("{keyword} {name}(\n");
    for parameter in parameters {
        lines.push_str(&format!("{}{parameter},\n", blanks(indent, 4)));
    }
    lines.push_str(&format!("{}){output} {{", blanks(indent, 0)));
    lines
}

/// Returns the body of a struct: its fields, each on a line of its own.
pub(crate) fn struct_body(declarations: &[String]) -> String {
    if declarations.is_empty() {
        return "{}".to_owned();
    }
    format!("{{\n    {}\n}}", declarations.join("\n    "))
}

/// Returns a struct literal whose first line stands after `indent` blanks.
pub(crate) fn struct_literal(indent: usize, name: &str, fields: &[(String, String)]) -> String {
    if fields.is_empty() {
        return format!("{name} {{}}");
    }
    let fields: Vec<_> = fields
        .iter()
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    let line = fields.join(", ");
    if line.len() <= STRUCT_LITERAL_WIDTH {
        return format!("{name} {{ {line} }}");
    }
    let mut lines = format!("{name} {{\n");
    for field in fields {
        lines.push_str(&format!("{}{field},\n", blanks(indent, 4)));
    }
    lines.push_str(&format!("{}}}", blanks(indent, 0)));
    lines
}

/// Returns the line of a test that fails with a sentence, after the indentation of a test in a module.
pub(crate) fn panic_line(sentence: &str) -> String {
    let line = format!("        panic!(\"{sentence}\");");
    if line.chars().count() <= MAX_WIDTH {
        return line;
    }
    format!("        panic!(\n            \"{sentence}\"\n        );")
}

/// Returns the imports of types by their paths, in order and without repetitions.
pub(crate) fn imports(mut paths: Vec<String>) -> String {
    paths.sort_by(|one, other| compare_for_sorting(one, other));
    paths.dedup();
    let lines = paths.iter().map(|path| format!("use {path};\n"));
    lines.collect()
}

/// Compares two names or paths in the version sort of Rust's style of 2024: `_` comes first, and numbers
/// are compared by value.
pub(crate) fn compare_for_sorting(one: &str, other: &str) -> Ordering {
    let (mut one, mut other) = (one.chars().peekable(), other.chars().peekable());
    loop {
        let order = match (digits(&mut one), digits(&mut other)) {
            (Some(one), Some(other)) => one.len().cmp(&other.len()).then(one.cmp(&other)),
            (Some(number), None) => number.chars().next().map(rank).cmp(&other.next().map(rank)),
            (None, Some(number)) => one.next().map(rank).cmp(&number.chars().next().map(rank)),
            (None, None) => match (one.next(), other.next()) {
                (None, None) => return Ordering::Equal,
                (one, other) => one.map(rank).cmp(&other.map(rank)),
            },
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

/// Ends of segments come first, then `_`, then the other characters.
fn rank(character: char) -> (u8, char) {
    match character {
        ':' => (0, character),
        '_' => (1, character),
        _ => (2, character),
    }
}

/// Takes a number, if the text goes on with one.
fn digits(text: &mut Peekable<Chars<'_>>) -> Option<String> {
    let mut number = String::new();
    while let Some(digit) = text.next_if(char::is_ascii_digit) {
        number.push(digit);
    }
    (!number.is_empty()).then_some(number)
}

fn blanks(indent: usize, more: usize) -> String {
    " ".repeat(indent + more)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_the_order_of_rustfmt() {
        let sorted = [
            "a_1::B", "a2::B", "a10::B", "ab::A", "ab::B", "ab_c::A", "abc::A", "b::A",
        ];
        let mut names = sorted;
        names.reverse();
        names.sort_by(|one, other| compare_for_sorting(one, other));
        assert_eq!(names, sorted);
    }
}
