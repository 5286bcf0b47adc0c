//! The file from which containers of the library are built.

use std::{fs, path::Path};

use super::compose_file::ops_folder;

/// Returns the settings of a container whose data is in this folder.
pub(crate) fn container_settings(stage: &str, data: &Path) -> Vec<(String, String)> {
    let own = instructions().into_iter();
    let own = own.skip_while(|(_, rest)| !rest.ends_with(&format!(" AS {stage}")));
    let set = own.filter(|(instruction, _)| instruction == "ENV");
    let set: Vec<_> = set.map(|(_, rest)| rest).collect();
    let pairs = set.iter().flat_map(|rest| rest.split_whitespace());
    pairs
        .map(|pair| pair.split_once('=').unwrap())
        .map(|(name, value)| {
            let data = data.to_str().unwrap();
            let value = match value {
                keys if keys.contains("/keys/") => keys.replace("/keys/", &format!("{data}-keys/")),
                value => value.replace("/data", data),
            };
            (name.to_owned(), value)
        })
        .collect()
}

/// The instructions of the container file with what follows them, continued lines joined.
pub(crate) fn instructions() -> Vec<(String, String)> {
    let text = fs::read_to_string(ops_folder().join("Containerfile")).unwrap();
    let text = text.replace("\\\n", " ");
    let lines = text.lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.split_once(' ').unwrap())
        .map(|(instruction, rest)| (instruction.to_owned(), rest.trim().to_owned()))
        .collect()
}
