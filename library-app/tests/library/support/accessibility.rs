//! axe-core (https://github.com/dequelabs/axe-core), which finds barriers for people with disabilities.

use std::{fs, path::Path, process::Command};

use super::{
    browser::Browser,
    python_environment::printed,
    requirement::{require, require_program},
};

const PACKAGE: &str = "axe-core@4.14.1";

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
        if !require_program("npm", "npm") {
            return None;
        }
        require(PACKAGE, installed_script()).map(Self)
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
        let script = format!("{}\nconst options = {options};\n{VIOLATIONS}", self.0);
        let violations = browser.run(&script).await;
        let violations = violations
            .as_array()
            .unwrap_or_else(|| panic!("{page}: {violations}"));
        assert!(violations.is_empty(), "{page}: {violations:#?}");
    }
}

/// Returns the script from a folder that is kept for the next run.
fn installed_script() -> Result<String, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(PACKAGE);
    let script = folder.join("node_modules/axe-core/axe.min.js");
    if !script.exists() {
        let mut npm = Command::new("npm");
        npm.args(["install", "--ignore-scripts", "--no-audit", "--no-fund"]);
        npm.arg("--prefix").arg(&folder).arg(PACKAGE);
        let output = npm.output().map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Err(format!(
                "let npm reach a package index: {}",
                printed(&output)
            ));
        }
    }
    fs::read_to_string(script).map_err(|error| error.to_string())
}
