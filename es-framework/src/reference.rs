//! Tests that compare pages in `docs` with the code: settings, problems and folders.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use axum::http::StatusCode;
use clap::{Arg, Command, CommandFactory as _};

use crate::config::SettingsArguments;

fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn page(name: &str) -> String {
    fs::read_to_string(project("../docs/src").join(name)).unwrap()
}

/// Returns the cells of each table row on a page.
fn rows(page: &str) -> Vec<Vec<String>> {
    let rows = page.lines().filter(|line| line.starts_with('|'));
    rows.map(|row| {
        let cells = row.trim_matches('|').split(" | ");
        cells.map(|cell| cell.trim().to_owned()).collect()
    })
    .collect()
}

/// Returns the texts in backticks.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

fn check_setting(arg: &Arg, page: &str, rows: &[Vec<String>]) {
    let flag = format!("`--{}`", arg.get_long().unwrap());
    let found: Vec<_> = rows
        .iter()
        .filter(|row| row.get(1) == Some(&flag))
        .collect();
    let [row] = found.as_slice() else {
        panic!("docs/src/{page} has {} rows for {flag}", found.len());
    };
    let env = arg.get_env().unwrap().to_str().unwrap();
    assert_eq!(row[0], format!("`{env}`"), "the variable of {flag}");
    let defaults: Vec<_> = arg.get_default_values().iter().collect();
    if let [default] = defaults.as_slice() {
        let default = default.to_str().unwrap();
        assert_eq!(row[2], format!("`{default}`"), "the default of {flag}");
    }
}

/// Checks the settings of a command and returns their number.
fn check_settings(command: &Command, name: &str) -> usize {
    let rows = rows(&page(name));
    let settings = command.get_arguments().filter(|arg| {
        let is_setting = arg.get_long().is_some() && arg.get_env().is_some();
        is_setting && !arg.is_hide_set()
    });
    settings.map(|arg| check_setting(arg, name, &rows)).count()
}

#[test]
fn the_reference_has_a_row_for_every_setting() {
    assert!(check_settings(&SettingsArguments::command(), "reference/settings.md") > 10);
}

#[test]
#[cfg(feature = "server")]
fn the_reference_has_a_row_for_every_setting_of_the_event_store() {
    let command = crate::server::cli::clap_command();
    let run = command.find_subcommand("run").unwrap();
    assert!(check_settings(run, "reference/event-store.md") > 5);
}

#[test]
fn the_reference_has_no_setting_that_is_gone() {
    let page = page("reference/settings.md");
    let own = page.split("\n## ").next().unwrap();
    let command = SettingsArguments::command();
    let flags: BTreeSet<_> = command.get_arguments().filter_map(Arg::get_long).collect();
    for row in rows(own) {
        for flag in row.get(1).iter().flat_map(|cell| code(cell)) {
            let flag = flag.trim_start_matches("--");
            assert!(flags.contains(flag), "there is no setting --{flag}");
        }
    }
}

/// Collects the names and statuses of problems in a source file: `new(StatusCode::CONFLICT,
/// "contended", …)`.
fn problems_in(source: &str, found: &mut BTreeSet<(u16, String)>) {
    let pieces: Vec<_> = source.split("StatusCode::").collect();
    for (before, rest) in pieces.iter().zip(pieces.iter().skip(1)) {
        let Some((status, rest)) = rest.split_once(',') else {
            continue;
        };
        let name = rest.trim_start().strip_prefix('"');
        let name = name.and_then(|rest| rest.split_once('"'));
        if let (true, Some(status), Some((name, _))) =
            (before.trim_end().ends_with("new("), number(status), name)
        {
            found.insert((status, name.to_owned()));
        }
    }
}

/// Returns the status number of a constant such as `CONFLICT`.
fn number(constant: &str) -> Option<u16> {
    let is_it = |status: &StatusCode| {
        let reason = status.canonical_reason().unwrap_or_default();
        reason.to_uppercase().replace([' ', '-'], "_") == constant
    };
    let statuses = (100..600).filter_map(|number| StatusCode::from_u16(number).ok());
    Some(statuses.into_iter().find(is_it)?.as_u16())
}

fn problems_of(folder: &Path, found: &mut BTreeSet<(u16, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_test = path
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with("test"));
        if path.is_dir() && !is_test {
            problems_of(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") && !is_test {
            let source = fs::read_to_string(path).unwrap();
            let source = source.split("#[cfg(test)]\nmod ").next().unwrap();
            problems_in(source, found);
        }
    }
}

#[test]
fn the_reference_has_every_problem_with_its_status_and_no_other() {
    let mut problems = BTreeSet::new();
    problems_of(&project("crates/es-http/src"), &mut problems);
    assert!(problems.len() > 15, "only {problems:?} were found");
    let page = page("reference/http.md");
    let table = page.split("\n## Problems").nth(1).unwrap();
    let table = table.split("\n## ").next().unwrap();
    let told: BTreeSet<_> = rows(table)
        .iter()
        .filter_map(|row| Some((row[0].parse::<u16>().ok()?, row[1].clone())))
        .flat_map(|(status, names)| {
            let names: Vec<_> = code(&names).map(|name| (status, name.to_owned())).collect();
            names
        })
        .collect();
    assert_eq!(told, problems);
}

#[test]
fn the_architecture_names_every_folder() {
    let page = page("architecture.md");
    let named: BTreeSet<_> = rows(&page)
        .iter()
        .flat_map(|row| {
            code(&row[0])
                .map(|name| name.rsplit('/').next().unwrap_or_default().to_owned())
                .collect::<Vec<_>>()
        })
        .collect();
    for folder in ["src", "crates"] {
        for entry in fs::read_dir(project(folder)).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            if entry.file_type().unwrap().is_dir() {
                assert!(
                    named.contains(&name),
                    "docs/src/architecture.md does not tell what es-framework/{folder}/{name} is for"
                );
            }
        }
    }
}
