//! The deployment files name settings, flags, programs and metrics that exist.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::support::{
    Library, Process, TOKEN, book,
    compose_file::{ComposeFile, ops_folder},
    container_file::{container_settings, instructions},
    event_store_program,
    requirement::require_program,
};
use es_framework::metrics::{ALL, MetricKind};
use reqwest::StatusCode;
use serde_json::Value;
use uuid::Uuid;

fn file(name: &str) -> String {
    fs::read_to_string(ops_folder().join(name)).unwrap()
}

/// The variables that `--help` names.
fn settings(program: &Path, arguments: &[&str]) -> BTreeSet<String> {
    let output = Command::new(program).args(arguments).output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    let names = help.split("[env: ").skip(1);
    names
        .map(|rest| rest.split(['=', ']']).next().unwrap().to_owned())
        .collect()
}

pub(super) fn settings_of_the_library() -> BTreeSet<String> {
    settings(Path::new(env!("CARGO_BIN_EXE_library-app")), &["--help"])
}

/// Returns the words of a query that can be metrics or labels.
fn words(expression: &str) -> impl Iterator<Item = &str> {
    let is_part = |character: char| character.is_ascii_alphanumeric() || character == '_';
    expression.split(move |character| !is_part(character))
}

/// The names under which a metric is stored.
fn series(name: &str, kind: MetricKind) -> Vec<String> {
    match kind {
        MetricKind::Counter | MetricKind::Gauge => vec![name.to_owned()],
        MetricKind::Histogram => ["bucket", "sum", "count"]
            .map(|part| format!("{name}_{part}"))
            .to_vec(),
    }
}

/// Every query of the dashboard.
fn expressions(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::String(text) if name == "expr" || name == "definition" => {
                        found.push(text.clone());
                    }
                    other => expressions(other, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| expressions(item, found)),
        _ => {}
    }
}

#[test]
fn the_dashboard_shows_every_metric_of_the_framework_and_no_other() {
    let dashboard: Value = serde_json::from_str(&file("dashboard.json")).unwrap();
    let mut found = Vec::new();
    expressions(&dashboard, &mut found);
    assert!(found.len() > 20, "{found:?}");
    let known: BTreeSet<_> = ALL
        .iter()
        .flat_map(|metric| series(metric.name, metric.kind))
        .collect();
    let is_metric = |word: &&str| {
        ["es_", "http_", "process_"]
            .iter()
            .any(|head| word.starts_with(head))
    };
    let shown: BTreeSet<_> = found
        .iter()
        .flat_map(|one| words(one))
        .filter(is_metric)
        .collect();
    for name in &shown {
        assert!(known.contains(*name), "{name} is no metric");
    }
    for metric in ALL
        .iter()
        .filter(|metric| !metric.name.starts_with("process_"))
    {
        let is_shown = series(metric.name, metric.kind)
            .iter()
            .any(|one| shown.contains(one.as_str()));
        assert!(is_shown, "{} is not shown", metric.name);
    }
    for expression in &found {
        labels_are_known(expression);
        for (open, close) in [('(', ')'), ('{', '}'), ('[', ']')] {
            assert_eq!(
                expression.matches(open).count(),
                expression.matches(close).count()
            );
        }
    }
}

/// Each query of the dashboard groups by labels of its metric.
fn labels_are_known(expression: &str) {
    let groups = expression.split(" by (").skip(1);
    let labels = groups.flat_map(|rest| rest.split(')').next().unwrap().split(", "));
    let metric = ALL.iter().find(|metric| {
        let names = series(metric.name, metric.kind);
        words(expression).any(|word| names.iter().any(|name| name == word))
    });
    for label in labels {
        let is_known = label == "le" || metric.unwrap().labels.contains(&label);
        assert!(is_known, "{label} in {expression}");
    }
}

#[test]
fn the_panels_of_the_dashboard_do_not_overlap() {
    let dashboard: Value = serde_json::from_str(&file("dashboard.json")).unwrap();
    let mut taken = BTreeSet::new();
    let mut ids = BTreeSet::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        assert!(ids.insert(panel["id"].as_u64().unwrap()), "{panel}");
        let place = |name: &str| panel["gridPos"][name].as_u64().unwrap();
        for x in place("x")..place("x") + place("w") {
            assert!(x < 24, "{panel}");
            for y in place("y")..place("y") + place("h") {
                assert!(taken.insert((x, y)), "{panel}");
            }
        }
    }
}

fn compose() -> ComposeFile {
    ComposeFile::read("compose.yaml", &[("EVENT_STORE_API_TOKEN", TOKEN)])
}

#[tokio::test]
async fn what_the_compose_file_starts_works_together() {
    let compose = compose();
    let (events, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let arguments = compose.texts(&compose.service("event-store")["command"]);
    let arguments = arguments.iter().map(|argument| {
        argument
            .replace("/data", events.path().to_str().unwrap())
            .replace("0.0.0.0", "127.0.0.1")
            .replace("=3000", "=0")
    });
    let mut command = Command::new(event_store_program());
    let (_store, [store_url]) = Process::start(command.args(arguments), ["listening on"]);

    let known = settings_of_the_library();
    let settings = compose.environment("library").into_iter();
    let settings = settings.map(|(name, value)| {
        assert!(known.contains(&name), "{name} is no setting");
        let value = value
            .replace("http://event-store:3000", &store_url)
            .replace("/data", data.path().to_str().unwrap());
        (name, value)
    });
    let of_container = container_settings("library-app", data.path());
    let settings: Vec<_> = of_container.into_iter().chain(settings).collect();
    let pairs = settings
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    let library = Library::with_store_and(&store_url, &pairs.collect::<Vec<_>>());
    let answer = library.purchase(&book(Uuid::new_v4())).await;
    assert_eq!(answer.status(), StatusCode::CREATED);
    assert!(data.path().join("read-models.sqlite").is_file());
}

#[test]
fn the_compose_files_use_what_is_there() {
    let stages: Vec<_> = instructions()
        .into_iter()
        .filter_map(|(instruction, rest)| {
            (instruction == "FROM").then(|| rest.rsplit_once(" AS ").unwrap().1.to_owned())
        })
        .collect();
    for path in ["compose.yaml", "several-machines/compose.yaml"] {
        let ComposeFile {
            document, folder, ..
        } = ComposeFile::read(path, &[]);
        for (name, service) in document["services"].as_object().unwrap() {
            if let Some(build) = service.get("build") {
                let target = build["target"].as_str().unwrap().to_owned();
                assert!(stages.contains(&target), "{target}");
                let context = folder.join(build["context"].as_str().unwrap());
                let dockerfile = context.join(build["dockerfile"].as_str().unwrap());
                assert!(dockerfile.is_file(), "{}", dockerfile.display());
            }
            for volume in service["volumes"].as_array().into_iter().flatten() {
                let volume = volume.as_str().unwrap().split(':').next().unwrap();
                let is_there = match volume.strip_prefix("./") {
                    Some(file) => folder.join(file).is_file(),
                    None => document["volumes"].get(volume).is_some(),
                };
                assert!(is_there, "{name}: {volume}");
            }
        }
    }
}

#[test]
fn the_container_file_names_what_is_there() {
    const KNOWN: [&str; 9] = [
        "FROM",
        "RUN",
        "WORKDIR",
        "COPY",
        "USER",
        "VOLUME",
        "ENV",
        "EXPOSE",
        "ENTRYPOINT",
    ];
    let mut known = settings_of_the_library();
    known.extend(settings(event_store_program(), &["verify", "--help"]));
    let built: BTreeSet<_> = ["library-app", "event-store"].into();
    for (instruction, rest) in instructions() {
        assert!(KNOWN.contains(&instruction.as_str()), "{instruction}");
        if instruction == "ENV" {
            for pair in rest.split_whitespace() {
                let (name, _) = pair.split_once('=').unwrap();
                assert!(known.contains(name), "{name} is no setting");
            }
        }
        if let Some((_, program)) = rest.split_once("target/release/") {
            let program = program.split(' ').next().unwrap();
            assert!(built.contains(program), "{program}");
        }
        if instruction == "ENTRYPOINT" {
            let program: Vec<String> = serde_json::from_str(&rest).unwrap();
            assert!(built.contains(program[0].as_str()), "{program:?}");
        }
    }
}

#[test]
fn the_unit_of_systemd_is_one() {
    let unit = file("library.service");
    let known = settings_of_the_library();
    for line in unit.lines() {
        if let Some((_, setting)) = line.split_once("Environment=") {
            let (name, _) = setting.split_once('=').unwrap();
            assert!(known.contains(name), "{name} is no setting");
        }
    }
    if !require_program("systemd-analyze", "systemd") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let copy: PathBuf = folder.path().join("library.service");
    let program = env!("CARGO_BIN_EXE_library-app");
    assert!(unit.contains("ExecStart=/usr/local/bin/library-app\n"));
    fs::write(&copy, unit.replace("/usr/local/bin/library-app", program)).unwrap();
    let verify = Command::new("systemd-analyze")
        .args(["verify", "--man=no"])
        .arg(&copy)
        .output()
        .unwrap();
    // An unknown key causes a message and no failure.
    let said = String::from_utf8_lossy(&verify.stderr);
    let said: Vec<_> = said
        .lines()
        .filter(|line| line.contains("library.service"))
        .collect();
    assert!(verify.status.success() && said.is_empty(), "{said:?}");
}
