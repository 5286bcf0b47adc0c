//! The imports between the files of a crate, and the circles that they form.
//!
//! A file imports another if one of its paths leads to an item of that file, after the re-exports on
//! the way. Two files of which one is the module around the other may use each other: a `mod.rs`
//! and its folder are one thing.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::SourceFile;

/// Files that import each other, directly or through others.
pub(crate) struct ImportCycle {
    files: Vec<usize>,
    edges: Vec<(usize, usize)>,
}

impl ImportCycle {
    pub(crate) fn describe(&self, files: &[SourceFile]) -> String {
        let edges = self
            .edges
            .iter()
            .map(|(from, to)| format!("    {} imports {}", files[*from].path, files[*to].path));
        format!(
            "  {} files:\n{}",
            self.files.len(),
            edges.collect::<Vec<_>>().join("\n")
        )
    }
}

/// A path in a file, with the name under which the file knows it.
struct ImportedPath {
    segments: Vec<String>,
    name: String,
}

/// The circles of all crates.
pub(crate) fn cycles(files: &[SourceFile]) -> Vec<ImportCycle> {
    let graph = Graph::of(files);
    let reachable: Vec<_> = (0..files.len())
        .map(|index| graph.reachable(index))
        .collect();
    let mut seen = BTreeSet::<usize>::new();
    let mut cycles = Vec::new();
    for index in 0..files.len() {
        if !reachable[index].contains(&index) || seen.contains(&index) {
            continue;
        }
        let members: Vec<_> = reachable[index]
            .iter()
            .copied()
            .filter(|other| reachable[*other].contains(&index))
            .collect();
        seen.extend(&members);
        let edges = members.iter().flat_map(|from| {
            let to = graph.edges[*from].iter().filter(|to| members.contains(to));
            to.map(|to| (*from, *to)).collect::<Vec<_>>()
        });
        let edges = edges.collect();
        cycles.push(ImportCycle {
            files: members,
            edges,
        });
    }
    cycles
}

/// The top-level modules of a crate that import each other, directly or through others: one sentence for each import.
pub(crate) fn folder_cycles(files: &[SourceFile]) -> Vec<String> {
    let graph = Graph::of(files);
    let folder = |index: usize| {
        let file = &files[index];
        let top = file.module.first()?;
        Some((file.package.as_str(), top.as_str()))
    };
    let mut imports = BTreeMap::new();
    for (from, targets) in graph.edges.iter().enumerate() {
        for to in targets {
            if let (Some(one), Some(other)) = (folder(from), folder(*to))
                && one != other
            {
                imports.entry((one, other)).or_insert((from, *to));
            }
        }
    }
    let leads_to = |start, end| {
        let mut reached = BTreeSet::new();
        let mut open = vec![start];
        while let Some(one) = open.pop() {
            let next = imports.keys().filter(|(from, _)| *from == one);
            open.extend(next.map(|(_, to)| *to).filter(|to| reached.insert(*to)));
        }
        reached.contains(&end)
    };
    let upward = imports
        .iter()
        .filter(|((from, to), _)| leads_to(*to, *from));
    upward
        .map(|(_, (from, to))| format!("  {} imports {}", files[*from].path, files[*to].path))
        .collect()
}

struct Graph {
    edges: Vec<BTreeSet<usize>>,
}

impl Graph {
    fn of(files: &[SourceFile]) -> Self {
        let modules: BTreeMap<_, _> = files
            .iter()
            .enumerate()
            .map(|(index, file)| ((file.package.as_str(), file.module.clone()), index))
            .collect();
        let paths: Vec<_> = files.iter().map(|file| paths(&file.code)).collect();
        let resolver = Resolver {
            files,
            modules,
            paths: &paths,
        };
        let edges = (0..files.len()).map(|index| resolver.imports(index));
        let edges = edges.collect();
        Self { edges }
    }

    fn reachable(&self, start: usize) -> BTreeSet<usize> {
        let mut reachable = BTreeSet::new();
        let mut open = vec![start];
        while let Some(index) = open.pop() {
            open.extend(
                self.edges[index]
                    .iter()
                    .filter(|next| reachable.insert(**next)),
            );
        }
        reachable
    }
}

struct Resolver<'a> {
    files: &'a [SourceFile],
    modules: BTreeMap<(&'a str, Vec<String>), usize>,
    paths: &'a [Vec<ImportedPath>],
}

impl Resolver<'_> {
    fn imports(&self, index: usize) -> BTreeSet<usize> {
        let paths = self.paths[index].iter();
        let targets = paths.filter_map(|path| self.resolve(index, &path.segments, 0));
        let is_apart = |other: &usize| {
            let (one, other) = (&self.files[index].module, &self.files[*other].module);
            !one.starts_with(other) && !other.starts_with(one)
        };
        targets.filter(is_apart).collect()
    }

    /// The file that defines the item to which a path leads.
    fn resolve(&self, from: usize, segments: &[String], depth: usize) -> Option<usize> {
        let file = &self.files[from];
        let mut module = file.module.clone();
        let mut segments = segments;
        match segments.first()?.as_str() {
            "crate" => {
                module.clear();
                segments = &segments[1..];
            }
            "self" => segments = &segments[1..],
            "super" => {
                while segments.first().is_some_and(|first| first == "super") {
                    module.pop()?;
                    segments = &segments[1..];
                }
            }
            first => {
                let child = module.iter().cloned().chain([first.to_owned()]).collect();
                self.modules.get(&(file.package.as_str(), child))?;
            }
        }
        let mut at = *self.modules.get(&(file.package.as_str(), module.clone()))?;
        for (position, segment) in segments.iter().enumerate() {
            module.push(segment.clone());
            if let Some(child) = self.modules.get(&(file.package.as_str(), module.clone())) {
                at = *child;
                continue;
            }
            let reexport = self.paths[at].iter().find(|path| {
                path.name == *segment && path.segments.last() != Some(&"self".to_owned())
            });
            return match reexport {
                Some(reexport) if depth < 8 && at != from => {
                    let rest = segments[position + 1..].iter();
                    let whole: Vec<_> = reexport.segments.iter().chain(rest).cloned().collect();
                    self.resolve(at, &whole, depth + 1).or(Some(at))
                }
                _ => Some(at),
            };
        }
        Some(at)
    }
}

/// The paths of a file: those of its `use` items, and those that start with `crate` or `super`.
fn paths(code: &str) -> Vec<ImportedPath> {
    let tokens = tokens(code);
    let mut paths = Vec::new();
    let mut index = 0;
    while index < tokens.len() {
        let is_after = |word: &str| index > 0 && tokens[index - 1] == word;
        match tokens[index] {
            "pub" if tokens.get(index + 1) == Some(&"(") => {
                index += tokens[index..]
                    .iter()
                    .position(|token| *token == ")")
                    .unwrap_or(1);
            }
            "use" if tokens.get(index + 1) != Some(&"<") => {
                let end = tokens[index..].iter().position(|token| *token == ";");
                let end = index + end.unwrap_or(1);
                let is_test = tokens[..index].ends_with(&["#", "[", "cfg", "(", "test", ")", "]"]);
                if !is_test {
                    use_tree(&mut tokens[index + 1..end].iter().copied(), &[], &mut paths);
                }
                index = end;
            }
            "crate" | "super" if !is_after("$") && !is_after("(") && !is_after("in") => {
                let mut segments = vec![tokens[index].to_owned()];
                while tokens.get(index + 1) == Some(&"::")
                    && let Some(next) = tokens.get(index + 2)
                    && is_word(next)
                {
                    segments.push((*next).to_owned());
                    index += 2;
                }
                if segments.len() > 1 {
                    let name = String::new();
                    paths.push(ImportedPath { segments, name });
                }
            }
            _ => {}
        }
        index += 1;
    }
    paths
}

/// Reads `a::{b, c::d as e}` up to its closing brace.
fn use_tree<'a>(
    tokens: &mut impl Iterator<Item = &'a str>,
    prefix: &[String],
    paths: &mut Vec<ImportedPath>,
) {
    let mut segments = prefix.to_vec();
    let mut name = None;
    let mut is_alias = false;
    loop {
        let token = tokens.next();
        match token {
            Some("{") => {
                use_tree(tokens, &segments, paths);
                segments = prefix.to_vec();
                name = None;
            }
            Some("," | "}") | None => {
                if let Some(name) = name.take() {
                    paths.push(ImportedPath { segments, name });
                }
                segments = prefix.to_vec();
                if token != Some(",") {
                    return;
                }
                is_alias = false;
            }
            Some("as") => is_alias = true,
            Some("self") if !segments.is_empty() => name = segments.last().cloned(),
            Some(word) if is_word(word) => {
                name = Some(word.to_owned());
                if !is_alias {
                    segments.push(word.to_owned());
                }
            }
            Some(_) => {}
        }
    }
}

fn is_word(token: &str) -> bool {
    token.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

fn tokens(code: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_part = |character: char| character.is_alphanumeric() || character == '_';
        let length = if is_part(first) {
            rest.find(|character| !is_part(character))
                .unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        tokens.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    tokens
}
