//! The subcommands `client` and `receiver`, which print a helper in one language.

use crate::scratch_folder::{empty_folder, es, run_es};

#[test]
fn a_helper_has_at_most_200_lines() {
    let folder = empty_folder("client-helper");
    for (arguments, line) in [
        ("client typescript", "export class ServiceConnection {"),
        (
            "client python",
            "class ServiceTransport(httpx.AsyncBaseTransport):",
        ),
        (
            "receiver typescript",
            "export async function verifyWebhook(",
        ),
        ("receiver python", "def verify_webhook("),
    ] {
        let helper = es(&folder, arguments);
        assert!(helper.contains(line), "{helper}");
        assert!(helper.lines().count() <= 200, "{arguments}");
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
