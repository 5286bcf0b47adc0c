//! The `mod` line of a new file, in the file of the crate's root.

/// Returns whether the root declares a module of this name.
pub(crate) fn declares(root: &str, module: &str) -> bool {
    root.lines().any(|line| module_of(line) == Some(module))
}

/// Returns the root with one line more, in its alphabetical order among the other `mod` lines, or `None` if there is no
/// other one.
pub(crate) fn insert_mod_line(root: &str, module: &str) -> Option<String> {
    let lines: Vec<_> = root.split_inclusive('\n').collect();
    let is_mod = |line: &&str| line.trim_end().ends_with(';') && module_of(line).is_some();
    let is_attribute = |line: &&&str| line.starts_with("#[") || line.starts_with("///");
    let last = lines.iter().rposition(is_mod)?;
    let is_later = |line: &&str| is_mod(line) && module_of(line) > Some(module);
    let place = lines.iter().position(is_later).map(|later| {
        let above = lines.iter().take(later).rev().take_while(is_attribute);
        later - above.count()
    });
    let (before, after) = lines.split_at(place.unwrap_or(last + 1));
    Some(format!(
        "{}mod {module};\n{}",
        before.concat(),
        after.concat()
    ))
}

/// Returns the name in `mod name;` or `mod name {`.
fn module_of(line: &str) -> Option<&str> {
    let line = ["pub ", "pub(crate) "]
        .iter()
        .find_map(|visibility| line.strip_prefix(visibility))
        .unwrap_or(line);
    line.strip_prefix("mod ")?.split([';', ' ']).next()
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
            assert_eq!(insert_mod_line(root, module), Some(with(&line, before)));
        }
        assert!(declares(root, "reader") && !declares(root, "read"));
        assert!(declares("pub mod book {\n}\n", "book"));
    }

    #[test]
    fn a_root_without_modules_stays() {
        assert_eq!(
            insert_mod_line("//! A library.\n\nfn main() {}\n", "book"),
            None
        );
        assert_eq!(insert_mod_line("mod reader {}\n", "book"), None);
    }
}
