//! Checks that `docs/src/reference/expansion.md` equals the snapshots in `codegen-tests/expansion`.
//! On the page, `<!-- expansion: command/purchase -->` begins a section with the source and the
//! expanded code, and `<!-- end -->` ends it. The page shortens paths. A
//! comment stands in place of a part that another section shows.

use std::{collections::BTreeSet, env, fs, iter::Peekable, path::PathBuf};

use proc_macro2::{Group, Ident, Spacing, TokenStream, TokenTree, token_stream::IntoIter};
use syn::{Expr, File, Item, ItemConst, Stmt};

const BEGIN: &str = "<!-- expansion: ";
const END: &str = "<!-- end -->";
/// The only section that shows the JSON implementations.
const JSON_IS_SHOWN_WITH: &str = "value/loan";

fn project(path: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "..", path].iter().collect()
}

fn read(path: &str) -> String {
    let file = project(path);
    fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// Returns the section for an expansion.
fn part(name: &str) -> String {
    let written = read(&format!("codegen-tests/expansion/{name}.rs"));
    let snapshot = read(&format!("codegen-tests/expansion/{name}.snap"));
    let expanded = snapshot.splitn(3, "---\n").last().unwrap();
    let expanded: TokenStream = expanded.parse().unwrap();
    let file: File = syn::parse2(shortened(expanded)).unwrap();
    let items = file.items.into_iter().map(|item| shown(item, name));
    let items = items.collect::<Vec<_>>().join("\n");
    format!(
        "\n```rust,ignore\n{}\n```\n\nbecomes\n\n```rust,ignore\n{}\n```\n",
        written.trim(),
        items.trim()
    )
}

fn shown(item: Item, name: &str) -> String {
    match item {
        Item::Fn(function) => format!("// The function `{}` as it is.\n", function.sig.ident),
        Item::Impl(block) if block.trait_.is_none() && block.attrs.is_empty() => {
            "// The block as it is.\n".to_owned()
        }
        Item::Const(json) if is_json(&json) && name != JSON_IS_SHOWN_WITH => {
            "// Serialize, Deserialize and JsonSchema.\n".to_owned()
        }
        item => {
            let file = File {
                shebang: None,
                frontmatter: None,
                attrs: vec![],
                items: vec![item],
            };
            // prettyplease leaves unknown macro calls in the compiler's format.
            let text = prettyplease::unparse(&file);
            let lines = text
                .lines()
                .filter(|line| line.trim() != "#[automatically_derived]");
            let text = lines.flat_map(|line| [line, "\n"]).collect::<String>();
            text.replace("! < ", "!<")
                .replace(" > ::", ">::")
                .replace(":: < ", "::<")
                .replace(" > (", ">(")
        }
    }
}

/// Returns true for the block with the JSON implementations.
fn is_json(item: &ItemConst) -> bool {
    let Expr::Block(block) = &*item.expr else {
        return false;
    };
    let name = |statement: &Stmt| match statement {
        Stmt::Item(Item::Struct(item)) => Some(item.ident.to_string()),
        Stmt::Item(Item::Enum(item)) => Some(item.ident.to_string()),
        _ => None,
    };
    block
        .block
        .stmts
        .iter()
        .any(|one| name(one).is_some_and(|name| name == "__Wire"))
}

/// Shortens absolute paths: `::core::option::Option::Some` to `Some`,
/// `::es_framework::command::rules::text` to `rules::text`.
fn shortened(code: TokenStream) -> TokenStream {
    let mut tokens = code.into_iter().peekable();
    let mut out: Vec<TokenTree> = vec![];
    while let Some(token) = tokens.next() {
        let is_path = is_colon(&token);
        let is_absolute = is_path && !goes_on(&out);
        match token {
            TokenTree::Group(group) => {
                let inside = shortened(group.stream());
                out.push(Group::new(group.delimiter(), inside).into());
            }
            _ if is_absolute => {
                tokens.next();
                let is_used = matches!(out.last(), Some(TokenTree::Ident(last)) if last == "use");
                out.extend(end(segments(&mut tokens), is_used));
            }
            token if is_path => {
                out.push(token);
                out.extend(tokens.next());
            }
            token => out.push(token),
        }
    }
    out.into_iter().collect()
}

fn is_colon(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == ':' && punct.spacing() == Spacing::Joint)
}

/// Returns true if `::` continues a path. After a keyword, an arrow or `impl<'a>` it begins one.
fn goes_on(before: &[TokenTree]) -> bool {
    let begins_arrow = |token: Option<&TokenTree>| matches!(token, Some(TokenTree::Punct(punct)) if punct.spacing() == Spacing::Joint && "-=".contains(punct.as_char()));
    match before {
        [.., TokenTree::Ident(ident)] => {
            ident == "Self" || syn::parse_str::<Ident>(&ident.to_string()).is_ok()
        }
        [.., TokenTree::Ident(keyword), _, _, _, TokenTree::Punct(_)] if keyword == "impl" => false,
        [before @ .., TokenTree::Punct(punct)] => {
            punct.as_char() == '>' && !begins_arrow(before.last())
        }
        _ => false,
    }
}

/// Returns the segments of a path, up to one with generic parameters.
fn segments(tokens: &mut Peekable<IntoIter>) -> Vec<Ident> {
    let mut segments = vec![];
    while let Some(TokenTree::Ident(ident)) =
        tokens.next_if(|token| matches!(token, TokenTree::Ident(_)))
    {
        segments.push(ident);
        let mut ahead = tokens.clone();
        let goes_on = ahead.next().as_ref().is_some_and(is_colon)
            && ahead.next().is_some()
            && matches!(ahead.next(), Some(TokenTree::Ident(_)));
        if !goes_on {
            break;
        }
        tokens.nth(1);
    }
    segments
}

/// Returns the end of a path: from its type on, or the last two segments, or the last segment.
fn end(segments: Vec<Ident>, is_used: bool) -> TokenStream {
    let names: Vec<_> = segments.iter().map(Ident::to_string).collect();
    let is_type = |name: &String| name.starts_with(|first: char| first.is_ascii_uppercase());
    let from_type = if is_used {
        None
    } else {
        names.iter().position(is_type).map(|at| &names[at..])
    };
    let [before @ .., last] = &names[..] else {
        unreachable!("a path has a segment");
    };
    let last = std::slice::from_ref(last);
    let is_of_std = matches!(&names[0][..], "core" | "std");
    let rest = match (from_type, before) {
        (Some([prelude, ..]), _) if prelude == "Option" || prelude == "Result" => last,
        (Some(rest), _) => rest,
        (None, [.., module]) if !is_of_std && module != "__private" => {
            return [module, &last[0]]
                .map(String::as_str)
                .join("::")
                .parse()
                .unwrap();
        }
        (None, _) => last,
    };
    rest.join("::").parse().unwrap()
}

/// Returns the generated page and the names of its expansions.
fn regenerated(page: &str) -> (String, BTreeSet<String>) {
    let mut parts = page.split(BEGIN);
    let mut text = parts.next().unwrap().to_owned();
    let mut names = BTreeSet::new();
    for part in parts {
        let (name, rest) = part.split_once(" -->").unwrap();
        let (_, rest) = rest.split_once(END).expect("a mark without its end");
        text.push_str(&format!(
            "{BEGIN}{name} -->\n{}\n{END}{rest}",
            self::part(name)
        ));
        names.insert(name.split('/').next().unwrap().to_owned());
    }
    (text, names)
}

#[test]
fn the_page_of_expansions_shows_every_macro_as_it_is() {
    let path = "docs/src/reference/expansion.md";
    let page = read(path);
    let (right, shown) = regenerated(&page);
    if env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        fs::write(project(path), &right).unwrap();
    } else {
        let first = page
            .lines()
            .zip(right.lines())
            .find(|(is, shall)| is != shall);
        assert!(
            page == right,
            "{path} is out of date: run `INSTA_UPDATE=always cargo test -p es-macros --lib page`; it first differs at {first:?}"
        );
    }
    let folders = fs::read_dir(project("codegen-tests/expansion")).unwrap();
    let all: BTreeSet<_> = folders
        .map(|folder| folder.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(
        shown, all,
        "a macro is missing from {path}, or not one any more"
    );
}

#[test]
fn paths_are_cut_down_to_their_ends() {
    for (long, short) in [
        ("::core::option::Option::Some(1)", "Some(1)"),
        ("::core::result::Result<(), E>", "Result<(),E>"),
        ("::es_framework::command::rules::text(a)", "rules::text(a)"),
        ("-> ::core::result::Result<A>", "->Result<A>"),
        ("_ => ::core::option::Option::None", "_=>None"),
        ("impl<'de> ::a::b::D<'de> for A", "impl<'de>D<'de>forA"),
        (
            "return ::core::result::Result::Ok(Self::new())",
            "returnOk(Self::new())",
        ),
        (
            "<A as ::es_framework::event::Event>::TYPE",
            "<AasEvent>::TYPE",
        ),
        (
            "::es_framework::declaration!()",
            "es_framework::declaration!()",
        ),
        ("::std::vec![::core::env!(1)]", "vec![env!(1)]"),
        ("a::<::es_framework::__private::b>()", "a::<b>()"),
    ] {
        let code = shortened(long.parse().unwrap());
        assert_eq!(code.to_string().replace(' ', ""), short, "{long}");
    }
}
