//! The keys that seal personal data stay apart from the data, in a container and in Git.

use crate::scratch_folder::{empty_folder, files_below, new_application};

#[test]
fn the_key_store_is_on_a_volume_and_in_no_image_and_no_commit() {
    let folder = new_application(&empty_folder("key-store"), "library", "--example library");
    let files = files_below(&folder);
    for ignore in [".dockerignore", ".gitignore"] {
        let mut lines = files[&folder.join(ignore)].lines();
        assert!(lines.any(|line| line == "/data.keys.sqlite*"), "{ignore}");
    }
    let container = &files[&folder.join("Containerfile")];
    for line in [
        "COPY --from=build --chown=10001:10001 /empty /keys",
        "VOLUME /keys",
        "    KEY_STORE_URL=sqlite:/keys/keys.sqlite \\",
    ] {
        assert!(container.lines().any(|one| one == line), "{line}");
    }
}
