//! The client of openapi-python-client.

use std::fs;

use super::{
    ClientFolder, HowToPage, RECEIVER_PAGE, restarted_library::RestartedLibrary, source_folder,
};
use crate::contract::tools::require_cargo_es;
use crate::support::{page_commands::code_blocks, python_environment::programs_of};

#[tokio::test]
async fn a_client_in_python_carries_on_while_the_library_is_killed_and_restarted() {
    let source = source_folder("python");
    let requirements = fs::read_to_string(source.join("requirements.txt")).unwrap();
    let requirements: Vec<_> = requirements.lines().collect();
    let Some(programs) = programs_of("generated-client", &requirements) else {
        return;
    };
    if require_cargo_es().is_none() {
        return;
    }
    let mut library = RestartedLibrary::start();
    let work = tempfile::tempdir().unwrap();
    let folder = ClientFolder::new(work.path(), &[&programs]);
    let page = HowToPage::about("Python");
    let [_install, generate, run] = page.blocks("sh")[..] else {
        panic!("the page shows how to install, generate and run")
    };
    folder.run(generate);
    let limits = fs::read_to_string(source.join("limits.py")).unwrap();
    folder.write("limits.py", &limits);
    folder.run("python limits.py");
    let receiver = fs::read_to_string(source.join("receiver.py")).unwrap();
    folder.write("receiver.py", &receiver);
    let printed = "cargo es receiver python > ";
    let commands = code_blocks(RECEIVER_PAGE, "sh");
    let print = commands.iter().find(|block| block.starts_with(printed));
    folder.run(print.unwrap());
    folder.write("receive.py", code_blocks(RECEIVER_PAGE, "python")[1]);
    folder.run("python receiver.py");
    let example = page.blocks("python")[0].replace("http://localhost:8080", library.url());
    folder.write("main.py", &example);
    let walkthrough = fs::read_to_string(source.join("walkthrough.py")).unwrap();
    folder.write("walkthrough.py", &walkthrough);
    let mut python = folder.command("python");
    library.run_walkthrough(python.arg("walkthrough.py")).await;
    let shown = folder.run(run);
    assert_eq!(shown.trim(), page.blocks("text")[0].trim());
}
