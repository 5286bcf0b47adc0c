//! The client of openapi-typescript and openapi-fetch in Node.

use std::fs;

use super::{
    ClientFolder, HowToPage, RECEIVER_PAGE, restarted_library::RestartedLibrary, source_folder,
};
use crate::contract::tools::require_cargo_es;
use crate::support::{node_environment::folder_with_packages, page_commands::code_blocks};

#[tokio::test]
async fn a_client_in_typescript_carries_on_while_the_library_is_killed_and_restarted() {
    let source = source_folder("typescript");
    let Some(packages) = folder_with_packages("typescript-client", &source) else {
        return;
    };
    if require_cargo_es().is_none() {
        return;
    }
    let mut library = RestartedLibrary::start();
    let work = tempfile::tempdir_in(&packages).unwrap();
    let folder = ClientFolder::new(work.path(), &[]);
    let page = HowToPage::about("TypeScript");
    let [_install, generate, compile, run] = page.blocks("sh")[..] else {
        panic!("the page shows how to install, generate, compile and run")
    };
    folder.run(generate);
    folder.write("tsconfig.json", page.blocks("json")[0]);
    let example = page.blocks("ts")[0].replace("http://localhost:8080", library.url());
    folder.write("main.ts", &example);
    let walkthrough = fs::read_to_string(source.join("walkthrough.ts")).unwrap();
    folder.write("walkthrough.ts", &walkthrough);
    let limits = fs::read_to_string(source.join("limits.ts")).unwrap();
    folder.write("limits.ts", &limits);
    let receiver = fs::read_to_string(source.join("receiver.ts")).unwrap();
    folder.write("receiver.ts", &receiver);
    let printed = "cargo es receiver typescript > ";
    let commands = code_blocks(RECEIVER_PAGE, "sh");
    let print = commands.iter().find(|block| block.starts_with(printed));
    folder.run(print.unwrap());
    folder.write("receive.ts", code_blocks(RECEIVER_PAGE, "ts")[0]);
    folder.run(compile);
    folder.run("node limits.js");
    folder.run("node receiver.js");
    let mut node = folder.command("node");
    library.run_walkthrough(node.arg("walkthrough.js")).await;
    let shown = folder.run(run);
    assert_eq!(shown.trim(), page.blocks("text")[0].trim());
}
