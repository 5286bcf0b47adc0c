//! The client of OpenAPI Generator for Java, which has no helper.

use std::{env, fs, io, path::Path, process::Command};

use super::{ClientFolder, HowToPage, said, source_folder};
use crate::{
    contract::tools::require_cargo_es,
    support::{
        Library,
        python_environment::printed,
        requirement::{require, require_program},
    },
};

/// Settings for programs that run for seconds only: Java's quick compiler and its simple garbage collector.
const SHORT_RUN: &str = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC";

#[test]
fn a_client_in_java_completes_the_walkthrough() {
    let is_installed =
        require_program("javac", "openjdk-17-jdk-headless") && require_program("mvn", "maven");
    if !is_installed {
        return;
    }
    if require_cargo_es().is_none() {
        return;
    }
    let page = HowToPage::about("Java");
    let [fetch, generate, fetch_jars, compile, run] = page.blocks("sh")[..] else {
        panic!("the page shows how to fetch, generate, compile and run")
    };
    let packages = Packages::prepare(&[fetch, fetch_jars].concat());
    if require("java-client", packages.add(fetch)).is_none() {
        return;
    }
    let generated = packages.run(generate);
    assert!(!generated.contains("ERROR"), "{generated}");
    if require("java-client", packages.add(fetch_jars)).is_none() {
        return;
    }
    packages.mark_complete();

    let data = tempfile::tempdir().unwrap();
    let library = Library::embedded(data.path());
    let folder = &packages.folder;
    let example = page.blocks("java")[0].replace("http://localhost:8080", &library.url);
    folder.write("Main.java", &example);
    let walkthrough = fs::read_to_string(source_folder("java").join("Walkthrough.java")).unwrap();
    folder.write("Walkthrough.java", &walkthrough);
    packages.run(compile);
    let mut java = folder.command("java");
    java.args(["-cp", "classes:jars/*", "Walkthrough", &library.url]);
    said("Walkthrough", &java.output().unwrap());
    let shown = folder.run(run);
    assert_eq!(shown.trim(), page.blocks("text")[0].trim());
}

/// A folder with the generator and the libraries of its client, which are kept for the next run.
struct Packages {
    folder: ClientFolder,
    /// The commands that fetch them.
    commands: String,
    is_complete: bool,
}

impl Packages {
    /// Removes what an earlier run has generated, and packages that other commands have fetched.
    fn prepare(commands: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("java-client");
        let complete = fs::read_to_string(path.join("complete"));
        let is_complete = complete.is_ok_and(|fetched| fetched == commands);
        let outdated: &[_] = if is_complete {
            &["client", "classes"]
        } else {
            &[""]
        };
        for name in outdated {
            match fs::remove_dir_all(path.join(name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => panic!("{error}"),
                _ => {}
            }
        }
        fs::create_dir_all(&path).unwrap();
        Self {
            folder: ClientFolder::new(&path, &[]),
            commands: commands.to_owned(),
            is_complete,
        }
    }

    /// Runs a command that fetches packages, unless they are there. The error is the remedy.
    fn add(&self, block: &str) -> Result<(), String> {
        if self.is_complete {
            return Ok(());
        }
        let repository = Path::new(env!("CARGO_TARGET_TMPDIR")).join("maven");
        let inherited = env::var("MAVEN_OPTS").unwrap_or_default();
        let options = format!(
            "{inherited} {SHORT_RUN} -Dmaven.repo.local={} -Daether.connector.connectTimeout=20000 -Daether.connector.requestTimeout=60000",
            repository.display()
        );
        let output = self.shell(block).env("MAVEN_OPTS", options).output();
        let output = output.map_err(|error| error.to_string())?;
        if output.status.success() {
            return Ok(());
        }
        let text = printed(&output);
        let errors: Vec<_> = text.lines().filter(|line| line.contains("ERROR")).collect();
        let first = errors.first().copied().unwrap_or_default();
        Err(format!("let Maven reach its central repository: {first}"))
    }

    fn mark_complete(&self) {
        self.folder.write("complete", &self.commands);
    }

    /// Runs a block of the page that starts a short program.
    fn run(&self, block: &str) -> String {
        let mut shell = self.shell(block);
        let output = shell.env("JAVA_TOOL_OPTIONS", SHORT_RUN).output().unwrap();
        said(block, &output)
    }

    fn shell(&self, block: &str) -> Command {
        let mut shell = self.folder.command("sh");
        shell.args(["-ec", block]);
        shell
    }
}
