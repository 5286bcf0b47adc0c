//! The deployment files name settings, flags, programs and metrics that exist.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::support::{
    Library, Process, TOKEN, book, event_store_program, requirement::require_program,
};
use es_framework::metrics::{ALL, MetricKind};
use reqwest::StatusCode;
use serde_json::Value;
use uuid::Uuid;

fn file(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("ops");
    fs::read_to_string(folder.join(name)).unwrap()
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

fn settings_of_the_library() -> BTreeSet<String> {
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

fn compose() -> Value {
    serde_saphyr::from_str(&file("compose.yaml")).unwrap()
}

#[tokio::test]
async fn what_the_compose_file_starts_works_together() {
    let compose = compose();
    let (events, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let with_token = |text: &str| match text.split_once("${EVENT_STORE_API_TOKEN:?") {
        Some((before, _)) => format!("{before}{TOKEN}"),
        None => text.to_owned(),
    };
    let store = &compose["services"]["event-store"];
    let arguments = store["command"].as_array().unwrap().iter().map(|argument| {
        with_token(argument.as_str().unwrap())
            .replace("/data", events.path().to_str().unwrap())
            .replace("0.0.0.0", "127.0.0.1")
            .replace("=3000", "=0")
    });
    let mut command = Command::new(event_store_program());
    let (_store, [store_url]) = Process::start(command.args(arguments), ["listening on"]);

    let library = &compose["services"]["library"];
    let known = settings_of_the_library();
    let settings: Vec<_> = library["environment"].as_object().unwrap().iter().collect();
    let settings = settings.into_iter().map(|(name, value)| {
        assert!(known.contains(name), "{name} is no setting");
        let value = with_token(value.as_str().unwrap())
            .replace("http://event-store:3000", &store_url)
            .replace("/data", data.path().to_str().unwrap());
        (name.clone(), value)
    });
    let of_container = of_container("library-app", data.path());
    let settings: Vec<_> = of_container.into_iter().chain(settings).collect();
    let pairs = settings
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    let library = Library::with_store_and(&store_url, &pairs.collect::<Vec<_>>());
    let answer = library.purchase(&book(Uuid::new_v4())).await;
    assert_eq!(answer.status(), StatusCode::CREATED);
    assert!(data.path().join("read-models.sqlite").is_file());
}

/// Returns the settings of a container.
fn of_container(stage: &str, data: &Path) -> Vec<(String, String)> {
    let instructions = containerfile().into_iter();
    let own = instructions.skip_while(|(_, rest)| !rest.ends_with(&format!(" AS {stage}")));
    let set = own.filter(|(instruction, _)| instruction == "ENV");
    let set: Vec<_> = set.map(|(_, rest)| rest).collect();
    let pairs = set.iter().flat_map(|rest| rest.split_whitespace());
    pairs
        .map(|pair| pair.split_once('=').unwrap())
        .map(|(name, value)| {
            (
                name.to_owned(),
                value.replace("/data", data.to_str().unwrap()),
            )
        })
        .collect()
}

#[test]
fn the_compose_file_builds_what_the_container_file_has() {
    let stages: Vec<_> = containerfile()
        .into_iter()
        .filter_map(|(instruction, rest)| {
            (instruction == "FROM").then(|| rest.rsplit_once(" AS ").unwrap().1.to_owned())
        })
        .collect();
    let compose = compose();
    for (name, service) in compose["services"].as_object().unwrap() {
        let target = service["build"]["target"].as_str().unwrap().to_owned();
        assert!(stages.contains(&target), "{target}");
        let context = Path::new(env!("CARGO_MANIFEST_DIR")).join("ops");
        let context = context.join(service["build"]["context"].as_str().unwrap());
        let dockerfile = context.join(service["build"]["dockerfile"].as_str().unwrap());
        assert!(dockerfile.is_file(), "{}", dockerfile.display());
        for volume in service["volumes"].as_array().unwrap() {
            let volume = volume.as_str().unwrap().split(':').next().unwrap();
            assert!(compose["volumes"].get(volume).is_some(), "{name}: {volume}");
        }
    }
}

/// The instructions of the container file with what follows them, continued lines joined.
fn containerfile() -> Vec<(String, String)> {
    let text = file("Containerfile").replace("\\\n", " ");
    let lines = text.lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.split_once(' ').unwrap())
        .map(|(instruction, rest)| (instruction.to_owned(), rest.trim().to_owned()))
        .collect()
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
    for (instruction, rest) in containerfile() {
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
