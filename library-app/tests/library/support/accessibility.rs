//! axe-core (https://github.com/dequelabs/axe-core), which finds barriers for people with disabilities.

use std::{fs, path::Path};

use super::{browser::Browser, node_environment::folder_with_packages};

/// The folder with the locked version.
const PACKAGE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/library/support/axe-core"
);

/// Ends animations, which mix colours for a moment.
const FINISH_ANIMATIONS: &str =
    "document.getAnimations().forEach(animation => animation.finish());";

/// Returns the violations of the page that the browser shows.
const VIOLATIONS: &str =
    "return axe.run(options).then(({ violations }) => violations.flatMap(({ id, help, nodes }) =>
    nodes.map(node => `${id}: ${help}: ${node.html}: ${node.failureSummary}`)))";

/// The script of axe-core.
pub(crate) struct AxeCore(String);

impl AxeCore {
    /// Installs the script, or returns `None` where that is not possible.
    #[track_caller]
    pub(crate) fn install() -> Option<Self> {
        let folder = folder_with_packages("axe-core", Path::new(PACKAGE))?;
        let script = fs::read_to_string(folder.join("node_modules/axe-core/axe.min.js"));
        Some(Self(script.unwrap()))
    }

    /// Fails if the page has a barrier.
    pub(crate) async fn check(&self, browser: &Browser, page: &str) {
        self.check_rules(browser, page, "{ resultTypes: ['violations'] }")
            .await;
    }

    /// Fails if the page has text that is hard to tell from its background.
    pub(crate) async fn check_contrast(&self, browser: &Browser, page: &str) {
        self.check_rules(browser, page, "{ runOnly: ['color-contrast'] }")
            .await;
    }

    async fn check_rules(&self, browser: &Browser, page: &str, options: &str) {
        let axe = &self.0;
        let script =
            format!("{axe}\nconst options = {options};\n{FINISH_ANIMATIONS}\n{VIOLATIONS}");
        let violations = browser.run(&script).await;
        let violations = violations
            .as_array()
            .unwrap_or_else(|| panic!("{page}: {violations}"));
        assert!(violations.is_empty(), "{page}: {violations:#?}");
    }
}
