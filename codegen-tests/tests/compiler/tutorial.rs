//! Follows the tutorial literally: its files compile, its tests pass, its commands work.

use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use crate::requirement::require_program;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn page() -> String {
    fs::read_to_string(root().join("docs/src/tutorial.md")).unwrap()
}

/// Returns the code blocks of a language, each with the text before it.
fn blocks<'a>(page: &'a str, language: &str) -> Vec<(&'a str, &'a str)> {
    let open = format!("```{language}\n");
    let pieces: Vec<_> = page.split(open.as_str()).collect();
    let block = |rest: &'a str| rest.split("```").next().unwrap();
    pieces
        .iter()
        .zip(pieces.iter().skip(1))
        .map(|(before, rest)| (*before, block(rest)))
        .collect()
}

/// The target directory of the workspace, so that cargo builds shared dependencies once.
fn target_directory() -> &'static Path {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
    scratch.parent().unwrap_or(scratch)
}

/// Writes the files of the tutorial.
fn follow(page: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tutorial");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("src")).unwrap();
    let framework = root().canonicalize().unwrap().join("es-framework");
    let manifest = blocks(page, "toml")[0].1.replace(
        "\"../es-framework\"",
        &format!("\"{}\"", framework.display()),
    );
    // With the profile and the lock file of the workspace, cargo reuses its build.
    let workspace = fs::read_to_string(root().join("codegen-tests/outside/Cargo.toml")).unwrap();
    let profile = &workspace[workspace.find("[workspace]").unwrap()..];
    let head = "[package]\nname = \"library\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n";
    fs::write(
        folder.join("Cargo.toml"),
        format!("{head}{manifest}\n{profile}"),
    )
    .unwrap();
    fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    let mut names = BTreeSet::new();
    for (before, code) in blocks(page, "rust,ignore") {
        let name = before.trim_end().rsplit('`').nth(1).unwrap();
        assert!(name.starts_with("src/"), "which file is this? {code}");
        fs::write(folder.join(name), code).unwrap();
        names.insert(name.to_owned());
    }
    assert!(names.len() > 6, "{names:?}");
    folder
}

fn cargo(folder: &Path, command: &str) {
    let output = crate::cargo::cargo()
        .args([command, "--quiet", "--offline"])
        .env("CARGO_TARGET_DIR", target_directory())
        .current_dir(folder)
        .output()
        .unwrap();
    let complaints = String::from_utf8_lossy(&output.stderr);
    let said = String::from_utf8_lossy(&output.stdout);
    let is_fine = output.status.success() && !complaints.contains("warning");
    assert!(is_fine, "{said}\n{complaints}");
}

struct TutorialService {
    child: Child,
    url: String,
}

impl Drop for TutorialService {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn start(folder: &Path) -> TutorialService {
    let mut child = Command::new(target_directory().join("debug/library"))
        .env("HTTP_PORT", "0")
        .env("EVENT_STORE_PORT", "0")
        .env_remove("RUST_LOG")
        .current_dir(folder)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mark = "library-service listens on ";
    let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
    let url = log
        .find_map(|line| {
            line.unwrap()
                .split_once(mark)
                .map(|(_, url)| url.to_owned())
        })
        .unwrap();
    // A full pipe would block the process.
    std::thread::spawn(move || log.for_each(drop));
    TutorialService { child, url }
}

fn run(service: &TutorialService, block: &str) -> String {
    let block = block.replace("http://localhost:8080", &service.url);
    let output = Command::new("sh").args(["-ec", &block]).output().unwrap();
    assert!(output.status.success(), "{block}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_tutorial_leads_where_it_says() {
    let page = page();
    let folder = follow(&page);
    cargo(&folder, "test");
    cargo(&folder, "build");
    if !require_program("curl", "curl") {
        return;
    }
    let service = start(&folder);
    let commands: Vec<_> = blocks(&page, "sh")
        .into_iter()
        .map(|(_, block)| block)
        .filter(|block| block.starts_with("curl"))
        .collect();
    let [create, borrow, browse] = commands[..] else {
        panic!("the tutorial has three blocks with commands of curl");
    };
    let json: Vec<_> = blocks(&page, "json")
        .into_iter()
        .map(|(_, block)| block.trim())
        .collect();
    let created = run(&service, create);
    assert!(created.contains("201 Created") && created.contains("event-position: 0"));
    let lent = run(&service, borrow);
    assert_eq!(lent.split(':').next(), json[0].split(':').next());
    assert_eq!(run(&service, borrow), json[1]);
    let browsed = run(&service, browse);
    assert!(browsed.starts_with(json[2]), "{browsed}");
    assert!(browsed.contains("204 No Content"), "{browsed}");
}
