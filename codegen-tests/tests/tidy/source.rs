//! The source files of the workspace, with comments and strings removed from a copy.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// A source file that is not a test.
pub(crate) struct SourceFile {
    /// The path in the project.
    pub(crate) path: String,
    /// The folder of the crate.
    pub(crate) package: String,
    /// The names of the module and of those around it, from the outside in.
    pub(crate) module: Vec<String>,
    /// The whole text.
    pub(crate) text: String,
    /// The text without the tests at its end, with blanks instead of comments and strings.
    pub(crate) code: String,
}

pub(crate) fn project() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap().to_owned()
}

pub(crate) fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// All files and folders below a folder, relative to the project.
pub(crate) fn paths_below(folder: &Path, found: &mut BTreeSet<String>) {
    for path in entries(folder) {
        let name = path.file_name().unwrap().to_string_lossy();
        if name.starts_with('.') || name == "target" {
            continue;
        }
        let relative = path.strip_prefix(project()).unwrap();
        found.insert(relative.to_string_lossy().into_owned());
        if path.is_dir() {
            paths_below(&path, found);
        }
    }
}

/// The folders of the crates whose code is checked.
fn packages() -> Vec<PathBuf> {
    let mut packages = entries(&project().join("es-framework/crates"));
    packages.extend(
        ["cargo-es", "es-framework", "es-macros", "library-app"].map(|name| project().join(name)),
    );
    packages.retain(|package| package.join("src").is_dir());
    packages
}

pub(crate) fn read_workspace() -> Vec<SourceFile> {
    let mut files = Vec::new();
    for package in packages() {
        let mut paths = BTreeSet::new();
        paths_below(&package.join("src"), &mut paths);
        let first = files.len();
        let sources = paths.iter().filter(|path| path.ends_with(".rs"));
        files.extend(sources.map(|path| source_file(path, &package)));
        let tests: BTreeSet<_> = files[first..].iter().flat_map(test_modules).collect();
        let is_test = |file: &SourceFile| {
            (1..=file.module.len()).any(|length| tests.contains(&file.module[..length]))
        };
        let mut index = 0;
        files.retain(|file| {
            index += 1;
            index <= first || !is_test(file)
        });
    }
    files
}

/// The path and the code of each file, tests included, but not the fixtures of macro tests.
pub(crate) fn read_code_with_tests() -> Vec<(String, String)> {
    let mut paths = BTreeSet::new();
    for folder in packages()
        .into_iter()
        .chain([project().join("codegen-tests/tests")])
    {
        paths_below(&folder, &mut paths);
    }
    let sources = paths.into_iter().filter(|path| path.ends_with(".rs"));
    sources
        .map(|path| {
            let code = blanked(&read(&project().join(&path)));
            (path, code)
        })
        .collect()
}

fn source_file(path: &str, package: &Path) -> SourceFile {
    let package = package.strip_prefix(project()).unwrap();
    let package = package.to_string_lossy().into_owned();
    let in_crate = path.strip_prefix(&package).unwrap();
    let in_crate = in_crate.trim_start_matches("/src/");
    let mut module: Vec<_> = in_crate.split('/').map(str::to_owned).collect();
    let file_name = module.pop().unwrap();
    let stem = file_name.trim_end_matches(".rs");
    if !matches!(stem, "mod" | "lib" | "main") {
        module.push(stem.to_owned());
    }
    let text = read(&project().join(path));
    let code = blanked(&text);
    let end = [
        "#[cfg(test)]\nmod tests {",
        "#[cfg(test)]\npub(crate) mod tests {",
    ];
    let end = end.iter().filter_map(|mark| code.find(mark)).min();
    let code = code[..end.unwrap_or(code.len())].to_owned();
    SourceFile {
        path: path.to_owned(),
        package,
        module,
        text,
        code,
    }
}

/// The modules that the file declares for tests alone: `#[cfg(test)] mod name;`.
fn test_modules(file: &SourceFile) -> Vec<Vec<String>> {
    let declarations = file.code.split("#[cfg(test)]").skip(1);
    let names = declarations.filter_map(|rest| {
        let item = rest.split_once(';')?.0.trim();
        let name = item.rsplit_once("mod ")?.1;
        name.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            .then(|| name.to_owned())
    });
    names
        .map(|name| file.module.iter().cloned().chain([name]).collect())
        .collect()
}

/// The code with blanks instead of comments and of what stands in strings.
fn blanked(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '"' => string_length(rest),
            'r' if starts_raw_string(rest) && !ends_in_word(&code) => raw_string_length(rest),
            '\'' => char_length(rest),
            _ => {
                code.push(first);
                rest = &rest[first.len_utf8()..];
                continue;
            }
        };
        let skipped = &rest[..length];
        code.extend(
            skipped
                .chars()
                .map(|one| if one == '\n' { '\n' } else { ' ' }),
        );
        rest = &rest[length..];
    }
    code
}

fn ends_in_word(code: &str) -> bool {
    let last = code.chars().next_back();
    last.is_some_and(|last| last.is_alphanumeric() || last == '_')
}

fn string_length(rest: &str) -> usize {
    let mut is_escaped = false;
    for (index, character) in rest.char_indices().skip(1) {
        match character {
            '"' if !is_escaped => return index + 1,
            '\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    rest.len()
}

fn starts_raw_string(rest: &str) -> bool {
    rest[1..].trim_start_matches('#').starts_with('"') && rest[1..].starts_with(['#', '"'])
}

fn raw_string_length(rest: &str) -> usize {
    let hashes = rest[1..].bytes().take_while(|byte| *byte == b'#').count();
    let end = format!("\"{}", "#".repeat(hashes));
    let begin = hashes + 2;
    rest[begin..]
        .find(&end)
        .map_or(rest.len(), |index| begin + index + end.len())
}

/// A character literal as a whole; one character of a lifetime.
fn char_length(rest: &str) -> usize {
    let mut characters = rest.char_indices().skip(1);
    let (_, first) = characters.next().unwrap_or((0, ' '));
    if first == '\\' {
        let end = rest[3.min(rest.len())..].find('\'');
        return end.map_or(1, |end| end + 4);
    }
    match characters.next() {
        Some((index, '\'')) => index + 1,
        _ => 1,
    }
}
