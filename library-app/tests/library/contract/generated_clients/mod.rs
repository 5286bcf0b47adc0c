//! Clients that established generators make from the OpenAPI document. Each runs the commands of its how-to
//! page, and a walk-through. Where `cargo es client` prints a helper, the library is killed and started
//! again in the walk-through.

mod java;
mod python;
mod restarted_library;
mod rust;
mod typescript;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use crate::support::{page_commands::code_blocks, python_environment::printed};

/// The page about receivers, whose functions with the helpers are run, too.
const RECEIVER_PAGE: &str = include_str!("../../../../../docs/src/how-to/receive-public-events.md");

/// The folder of a walk-through.
fn source_folder(language: &str) -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/library/contract");
    tests.join("generated_clients").join(language)
}

/// The blocks of the how-to page that are about one language.
struct HowToPage {
    section: String,
}

impl HowToPage {
    fn about(language: &str) -> Self {
        let page = include_str!("../../../../../docs/src/how-to/write-a-client.md");
        let (_, section) = page.split_once(&format!("\n## {language}\n")).unwrap();
        let section = section.split("\n## ").next().unwrap().to_owned();
        Self { section }
    }

    /// The text of the blocks in this language, in order.
    fn blocks(&self, language: &str) -> Vec<&str> {
        code_blocks(&self.section, language)
    }
}

/// The folder in which the commands of a page run, with the folders of the programs that they call. The library
/// and `cargo-es` stand in one folder.
struct ClientFolder {
    path: PathBuf,
    programs: Vec<PathBuf>,
}

impl ClientFolder {
    fn new(path: &Path, programs: &[&Path]) -> Self {
        let library = Path::new(env!("CARGO_BIN_EXE_library-app"));
        let mut programs: Vec<_> = programs.iter().map(|path| path.to_path_buf()).collect();
        programs.push(library.parent().unwrap().to_owned());
        let path = path.to_owned();
        Self { path, programs }
    }

    fn write(&self, file: &str, text: &str) {
        fs::write(self.path.join(file), text).unwrap();
    }

    /// A command that finds the programs, and neither a proxy nor a service of its environment.
    fn command(&self, program: &str) -> Command {
        let inherited = env::var_os("PATH").unwrap_or_default();
        let inherited = env::split_paths(&inherited);
        let path = env::join_paths(self.programs.iter().cloned().chain(inherited)).unwrap();
        let mut command = Command::new(program);
        command.current_dir(&self.path).env("PATH", path);
        command
            .env("NO_PROXY", "*")
            .env("PYTHONDONTWRITEBYTECODE", "1");
        command
    }

    /// Runs a block of a page.
    fn run(&self, block: &str) -> String {
        let output = self.command("sh").args(["-ec", block]).output().unwrap();
        said(block, &output)
    }
}

/// Asserts the success of a program, and returns its output.
fn said(program: &str, output: &Output) -> String {
    let text = printed(output);
    assert!(output.status.success(), "{program}\n{text}");
    text
}
