//! The names of types and files, and the first words of comments.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::SourceFile;

/// Irregular participles and verbs.
const PARTICIPLES: &[&str] = &[
    "Begun", "Broken", "Built", "Chosen", "Done", "Drawn", "Found", "Given", "Gone", "Held",
    "Hidden", "Kept", "Known", "Left", "Lost", "Made", "Met", "Seen", "Sent", "Shown", "Sought",
    "Taken", "Told", "Written",
];

/// Nouns that look like participles.
const NOUNS: &[&str] = &[
    "Binding", "Dunning", "Embed", "Feed", "Finding", "Grouping", "Lending", "Posting", "Seed",
    "Setting", "Shipping", "String",
];

/// Files that play the same role in several folders.
const ROLES: &[&str] = &[
    "ast.rs",
    "attr.rs",
    "check.rs",
    "expand.rs",
    "lib.rs",
    "mod.rs",
    "support.rs",
    "tests.rs",
    // One file for each HTTP API, for each read model engine and for each macro.
    "openapi.rs",
    "postgres.rs",
    "sqlite.rs",
];

const QUESTION_WORDS: &[&str] = &["What", "Whether", "Where", "How", "Who", "Why"];

/// The names of the types that a file defines, without associated types.
pub(crate) fn types(code: &str) -> Vec<&str> {
    let names = code.lines().filter_map(|line| {
        let is_top_level = !line.starts_with(' ');
        let mut item = line.trim_start();
        if let Some(rest) = item.strip_prefix("pub") {
            item = match rest.strip_prefix('(') {
                Some(rest) => rest.split_once(')')?.1,
                None => rest,
            };
            item = item.trim_start();
        }
        let (keyword, rest) = item.split_once(' ')?;
        let is_type = matches!(keyword, "struct" | "enum" | "trait" | "union")
            || keyword == "type" && is_top_level;
        let end = rest.find(|one: char| !one.is_alphanumeric() && one != '_');
        let name = &rest[..end.unwrap_or(rest.len())];
        (is_type && name.starts_with(char::is_uppercase)).then_some(name)
    });
    names.collect()
}

fn is_participle(name: &str) -> bool {
    let is_one_word = name.chars().filter(|one| one.is_uppercase()).count() == 1;
    let looks_like_one = name.ends_with("ed") || name.ends_with("ing");
    is_one_word && (looks_like_one || PARTICIPLES.contains(&name)) && !NOUNS.contains(&name)
}

/// The types of some code whose name is a bare participle.
pub(crate) fn participle_types(path: &str, code: &str) -> Vec<String> {
    let names = types(code).into_iter();
    let participles = names.filter(|name| is_participle(name));
    participles
        .map(|name| format!("  {path}: {name}"))
        .collect()
}

/// A type name and the files that define a type of that name.
pub(crate) struct RepeatedType {
    name: String,
    files: Vec<usize>,
}

impl RepeatedType {
    pub(crate) fn describe(&self, files: &[SourceFile]) -> String {
        let paths = self.files.iter().map(|index| files[*index].path.as_str());
        format!("  {}: {}", self.name, paths.collect::<Vec<_>>().join(", "))
    }
}

pub(crate) fn repeated_types(files: &[SourceFile]) -> Vec<RepeatedType> {
    let mut by_name = BTreeMap::<&str, Vec<usize>>::new();
    for (index, file) in files.iter().enumerate() {
        for name in types(&file.code) {
            by_name.entry(name).or_default().push(index);
        }
    }
    let repeated = by_name.into_iter().filter(|(_, files)| files.len() > 2);
    repeated
        .map(|(name, files)| RepeatedType {
            name: name.to_owned(),
            files,
        })
        .collect()
}

/// The first lines of comments that open with a question word.
pub(crate) fn question_comments(file: &SourceFile) -> Vec<String> {
    let mut found = Vec::new();
    let mut before = "";
    for (line, number) in file.text.lines().zip(1..) {
        let line = line.trim_start();
        let marker = ["///", "//!", "//"]
            .into_iter()
            .find(|marker| line.starts_with(marker))
            .unwrap_or_default();
        let words = line[marker.len()..].split_whitespace();
        let first = words.clone().next().unwrap_or_default();
        if !marker.is_empty() && marker != before && QUESTION_WORDS.contains(&first) {
            found.push(format!("  {}:{number}: {line}", file.path));
        }
        before = marker;
    }
    found
}

/// File names that several files of one crate have without playing the same role: they have a role
/// if [`ROLES`] lists their name, or if their folders are siblings.
pub(crate) fn repeated_file_names(files: &[SourceFile]) -> Vec<String> {
    let mut by_name = BTreeMap::<(&str, &str), Vec<&SourceFile>>::new();
    for file in files {
        let name = file.path.rsplit('/').next().unwrap_or_default();
        let key = (file.package.as_str(), name);
        by_name.entry(key).or_default().push(file);
    }
    let around = |file: &SourceFile| {
        let folders: Vec<_> = file.path.split('/').collect();
        folders[..folders.len() - 2].join("/")
    };
    let mut repeated = Vec::new();
    for ((_, name), same) in by_name {
        let parents: BTreeSet<_> = same.iter().map(|file| around(file)).collect();
        let is_role = ROLES.contains(&name) || parents.len() == 1;
        if same.len() > 1 && !is_role {
            let paths: Vec<_> = same.iter().map(|file| file.path.as_str()).collect();
            repeated.push(format!("  {}", paths.join(", ")));
        }
    }
    repeated
}
