//! Checks regular expressions: Rust and JavaScript have to interpret them in the same way. Also
//! creates the patterns of other rules.

use regex_syntax::ast::{
    AssertionKind, Ast, ClassPerlKind, ClassSetItem, ClassUnicodeKind, GroupKind, HexLiteralKind,
    LiteralKind, Span, Visitor, parse::Parser, visit,
};
use syn::LitStr;

use crate::codegen::errors::Errors;

/// Records an error for an invalid pattern.
pub(super) fn check_pattern(pattern: &LitStr, errors: &mut Errors) -> bool {
    let message = match foreign(&pattern.value()) {
        Ok(None) => return true,
        Ok(Some(message)) | Err(message) => message,
    };
    errors.record(pattern, message);
    false
}

/// Describes the first syntax that JavaScript interprets differently or does not support. JSON schemas
/// follow JavaScript.
fn foreign(pattern: &str) -> Result<Option<String>, String> {
    let none = |error: &dyn std::fmt::Display| {
        let error = error.to_string();
        let last = error.lines().last().unwrap_or_default();
        let last = last.strip_prefix("error: ").unwrap_or(last);
        format!("this is no pattern: {last}")
    };
    let ast = Parser::new().parse(pattern).map_err(|error| none(&error))?;
    // The pattern may be valid but too large to compile.
    regex::Regex::new(pattern).map_err(|error| none(&error))?;
    let found = visit(&ast, ForeignSyntaxFinder(None)).unwrap_or_default();
    Ok(found.map(|(span, instead)| {
        let part = pattern.get(span.start.offset..span.end.offset);
        let part = part.unwrap_or(pattern);
        format!("`{part}` means something else, or nothing, to other readers of the JSON schema: {instead}")
    }))
}

/// Finds the first part of a pattern that JavaScript interprets differently.
struct ForeignSyntaxFinder(Option<(Span, &'static str)>);

impl ForeignSyntaxFinder {
    fn note(&mut self, span: Span, instead: Option<&'static str>) {
        if let Some(instead) = instead {
            self.0.get_or_insert((span, instead));
        }
    }

    fn note_perl(&mut self, span: Span, kind: &ClassPerlKind) {
        let instead = match kind {
            ClassPerlKind::Digit => Some("write `0-9` in brackets"),
            ClassPerlKind::Word => Some("write `0-9A-Za-z_` in brackets"),
            ClassPerlKind::Space => None,
        };
        self.note(span, instead);
    }

    fn note_unicode(&mut self, span: Span, kind: &ClassUnicodeKind) {
        let is_short = matches!(kind, ClassUnicodeKind::OneLetter(_));
        self.note(
            span,
            is_short.then_some("write it with braces, as in `\\p{L}`"),
        );
    }

    fn note_literal(&mut self, span: Span, kind: &LiteralKind) {
        let is_foreign = match kind {
            LiteralKind::HexBrace(kind) => *kind != HexLiteralKind::UnicodeShort,
            LiteralKind::HexFixed(kind) => *kind == HexLiteralKind::UnicodeLong,
            LiteralKind::Special(kind) => *kind == regex_syntax::ast::SpecialLiteralKind::Bell,
            _ => false,
        };
        let instead = "write the character itself, or `\\u` and four digits";
        self.note(span, is_foreign.then_some(instead));
    }
}

impl Visitor for ForeignSyntaxFinder {
    type Output = Option<(Span, &'static str)>;
    type Err = ();

    fn finish(self) -> Result<Self::Output, ()> {
        Ok(self.0)
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), ()> {
        const WITHOUT_FLAGS: &str = "write the pattern without flags, as in `[Aa]`";
        match ast {
            Ast::Flags(flags) => self.note(flags.span, Some(WITHOUT_FLAGS)),
            Ast::Group(group) => match &group.kind {
                GroupKind::CaptureName {
                    starts_with_p: true,
                    ..
                } => self.note(group.span, Some("a group needs no name here")),
                GroupKind::NonCapturing(flags) if !flags.items.is_empty() => {
                    self.note(flags.span, Some(WITHOUT_FLAGS));
                }
                _ => {}
            },
            Ast::Assertion(assertion) => match assertion.kind {
                AssertionKind::StartLine | AssertionKind::EndLine => {}
                _ => self.note(assertion.span, Some("only `^` and `$` stand for places")),
            },
            Ast::ClassPerl(class) => self.note_perl(class.span, &class.kind),
            Ast::ClassUnicode(class) => self.note_unicode(class.span, &class.kind),
            Ast::Literal(literal) => self.note_literal(literal.span, &literal.kind),
            _ => {}
        }
        Ok(())
    }

    fn visit_class_set_item_pre(&mut self, item: &ClassSetItem) -> Result<(), ()> {
        match item {
            ClassSetItem::Perl(class) => self.note_perl(class.span, &class.kind),
            ClassSetItem::Unicode(class) => self.note_unicode(class.span, &class.kind),
            ClassSetItem::Literal(literal) => self.note_literal(literal.span, &literal.kind),
            ClassSetItem::Ascii(class) => {
                self.note(class.span, Some("write the characters, as in `a-z`"));
            }
            ClassSetItem::Bracketed(class) => {
                self.note(class.span, Some("brackets do not stand in brackets"));
            }
            _ => {}
        }
        Ok(())
    }

    fn visit_class_set_binary_op_pre(
        &mut self,
        operation: &regex_syntax::ast::ClassSetBinaryOp,
    ) -> Result<(), ()> {
        self.note(operation.span, Some("write one set of characters"));
        Ok(())
    }
}

/// The characters that no text may contain, as a part of a pattern.
const CONTROL: &str = r"\u0000-\u001f\u007f-\u009f";

/// Returns the pattern of single-line texts that are not blank.
pub(super) fn text_pattern() -> String {
    format!(r"^[^{CONTROL}]*[^\s{CONTROL}][^{CONTROL}]*$")
}

/// Returns the pattern of URLs.
pub(super) fn url_pattern() -> String {
    format!(r"^https?://[^\s{CONTROL}]+$")
}

/// Returns the pattern of texts that consist of these characters. Excludes blank texts on request.
pub(super) fn characters_pattern(allowed: &str, says_something: bool) -> String {
    let all = class(allowed.chars());
    let visible = class(allowed.chars().filter(|one| !one.is_whitespace()));
    if says_something && all != visible {
        format!("^[{all}]*[{visible}][{all}]*$")
    } else {
        format!("^[{all}]*$")
    }
}

fn class(characters: impl Iterator<Item = char>) -> String {
    let mut class = String::new();
    for character in characters {
        if matches!(character, '\\' | ']' | '[' | '^' | '-') {
            class.push('\\');
        }
        class.push(character);
    }
    class
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_become_a_pattern() {
        assert_eq!(characters_pattern("0-9]", true), r"^[0\-9\]]*$");
        assert_eq!(characters_pattern("0 ", true), "^[0 ]*[0][0 ]*$");
        assert_eq!(characters_pattern("0 ", false), "^[0 ]*$");
    }

    #[test]
    fn patterns_of_rules_are_patterns() {
        for pattern in [
            text_pattern(),
            url_pattern(),
            characters_pattern(r"a\-]^[ ", true),
        ] {
            assert_eq!(foreign(&pattern), Ok(None), "{pattern}");
        }
    }

    #[test]
    fn what_javascript_reads_alike_is_taken() {
        for pattern in [
            "^97[89]-[0-9]{9}[0-9X]$",
            r"^\p{L}[\p{L} '\-]*$",
            r"^(?:a|b)+?\s\.\u00e9$",
        ] {
            assert_eq!(foreign(pattern), Ok(None), "{pattern}");
        }
    }

    #[test]
    fn what_javascript_reads_otherwise_is_refused() {
        for (pattern, part) in [
            (r"^\d+$", r"\d"),
            (r"^[\w.]+$", r"\w"),
            (r"\bword\b", r"\b"),
            ("(?i)abc", "(?i)"),
            ("(?i:abc)", "i"),
            (r"\Aabc\z", r"\A"),
            ("[[:alpha:]]", "[:alpha:]"),
            ("[a-z&&[^b]]", "a-z&&[^b]"),
            ("[a[bc]]", "[bc]"),
            (r"\pL", r"\pL"),
            (r"\x{41}", r"\x{41}"),
            (r"\U00000041", r"\U00000041"),
            ("(?P<year>[0-9]+)", "(?P<year>[0-9]+)"),
        ] {
            let found = foreign(pattern).unwrap().unwrap();
            assert!(found.starts_with(&format!("`{part}` means")), "{found}");
        }
    }

    #[test]
    fn what_is_no_pattern_says_why() {
        for (pattern, why) in [
            ("(", "unclosed group"),
            (
                "(?=a)",
                "look-around, including look-ahead and look-behind, is not supported",
            ),
            (
                r"[\p{L}]{1000}{1000}",
                "Compiled regex exceeds size limit of 10485760 bytes.",
            ),
        ] {
            let found = foreign(pattern).unwrap_err();
            assert_eq!(found, format!("this is no pattern: {why}"));
        }
    }
}
