//! The `mod` line of a new file, in the file of the crate's root.

/// Returns whether the root declares a module of this name.
pub(crate) fn declares(root: &str, module: &str) -> bool {
    let is_inline = |line: &str| {
        let rest = after_mod(line).and_then(|rest| rest.strip_prefix(module));
        rest.is_some_and(|rest| rest.trim_start().starts_with('{'))
    };
    let mut lines = root.lines();
    lines.any(|line| module_of(line) == Some(module) || is_inline(line))
}

/// Returns the root with one line more: in its alphabetical order among the first block of `mod` lines, or
/// in front of the first item.
pub(crate) fn insert_mod_line(root: &str, module: &str) -> String {
    let lines: Vec<_> = root.split_inclusive('\n').collect();
    let (index, line) = match lines.iter().position(|line| module_of(line).is_some()) {
        Some(first) => (
            place_among(&lines, first, module),
            format!("mod {module};\n"),
        ),
        None => place_after_head(&lines, module),
    };
    let (before, after) = lines.split_at(index.min(lines.len()));
    let mut text = before.concat();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text + &line + &after.concat()
}

/// Returns the index of the line in front of which the module belongs. `first` is the first `mod` line.
fn place_among(lines: &[&str], first: usize, module: &str) -> usize {
    let is_attribute = |line: &&&str| line.starts_with("#[") || line.starts_with("///");
    let above = lines.iter().take(first).rev().take_while(is_attribute);
    // The line after which the last module so far ends.
    let mut place = first.saturating_sub(above.count());
    for (line, number) in lines.iter().zip(1_usize..).skip(place) {
        match module_of(line) {
            Some(other) if other > module => break,
            Some(_) => place = number,
            None if is_attribute(&line) => {}
            None => break,
        }
    }
    place
}

fn place_after_head(lines: &[&str], module: &str) -> (usize, String) {
    let mut is_in_attribute = false;
    let is_head = |line: &&&str| {
        let line = line.trim_end();
        let starts_attribute = line.starts_with("#![");
        let is_head =
            is_in_attribute || starts_attribute || line.is_empty() || line.starts_with("//");
        is_in_attribute = (is_in_attribute || starts_attribute) && !line.ends_with(']');
        is_head && !line.starts_with("///")
    };
    let index = lines.iter().take_while(is_head).count();
    let before = lines.get(index.wrapping_sub(1));
    let is_apart = before.is_none_or(|line| line.trim_end().is_empty());
    let space = if is_apart { "" } else { "\n" };
    let end = if index == lines.len() { "" } else { "\n" };
    (index, format!("{space}mod {module};\n{end}"))
}

/// Returns the name in `mod name;`.
fn module_of(line: &str) -> Option<&str> {
    after_mod(line)?.trim_end().strip_suffix(';')
}

fn after_mod(line: &str) -> Option<&str> {
    let line = line
        .strip_prefix("pub ")
        .or(line.strip_prefix("pub(crate) "))
        .unwrap_or(line);
    line.strip_prefix("mod ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_comes_at_its_place_in_the_order() {
        let root = "//! A library.\n\nmod book;\n/// Readers.\nmod reader;\n#[cfg(test)]\nmod tests;\n\nfn main() {}\n";
        let with = |line: &str, before: &str| root.replace(before, &format!("{line}{before}"));
        for (module, before) in [
            ("a", "mod book;\n"),
            ("book_copy", "/// Readers.\n"),
            ("reader_2", "#[cfg(test)]\n"),
            ("utils", "\nfn main"),
        ] {
            let line = format!("mod {module};\n");
            assert_eq!(insert_mod_line(root, module), with(&line, before));
        }
        assert!(declares(root, "reader") && !declares(root, "read"));
        assert!(declares("pub mod book {\n}\n", "book"));
    }

    #[test]
    fn the_first_module_comes_before_the_first_item() {
        let head = "//! A library.\n#![allow(\n    dead_code\n)]\n";
        assert_eq!(
            insert_mod_line(&format!("{head}\nfn main() {{}}\n"), "book"),
            format!("{head}\nmod book;\n\nfn main() {{}}\n")
        );
        assert_eq!(
            insert_mod_line("fn main() {}", "book"),
            "mod book;\n\nfn main() {}"
        );
        assert_eq!(
            insert_mod_line("//! A library.", "book"),
            "//! A library.\n\nmod book;\n"
        );
        assert_eq!(insert_mod_line("", "book"), "mod book;\n");
    }
}
