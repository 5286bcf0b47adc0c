//! The subcommand `client`, which prints the helper in one language.

use crate::scratch_folder::{empty_folder, es, run_es};

#[test]
fn a_helper_has_at_most_200_lines() {
    let folder = empty_folder("client-helper");
    for (language, line) in [
        ("typescript", "export class ServiceConnection {"),
        (
            "python",
            "class ServiceTransport(httpx.AsyncBaseTransport):",
        ),
    ] {
        let helper = es(&folder, &format!("client {language}"));
        assert!(helper.contains(line), "{helper}");
        assert!(helper.lines().count() <= 200, "{language}");
    }
}

#[test]
fn a_language_without_a_helper_is_refused_with_the_names_of_the_others() {
    let output = run_es(&empty_folder("client-language"), "client cobol");
    let text = String::from_utf8(output.stderr).unwrap();
    let sentence = "[possible values: typescript, python]";
    assert!(
        !output.status.success() && text.contains(sentence),
        "{text}"
    );
}
