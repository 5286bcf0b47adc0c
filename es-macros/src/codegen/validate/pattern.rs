//! Checks regular expressions: Rust and JavaScript have to interpret them in the same way. Also
//! creates the patterns of other rules.

use regex_syntax::ast::{
    AssertionKind, Ast, ClassPerlKind, ClassSetItem, ClassUnicodeKind, GroupKind, HexLiteralKind,
    Literal, LiteralKind, Repetition, Span, SpecialLiteralKind, Visitor, parse::Parser, visit,
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
    let finder = ForeignSyntaxFinder {
        pattern,
        found: None,
    };
    let found = visit(&ast, finder).unwrap_or_default();
    Ok(found.map(|(span, instead)| {
        let part = pattern.get(span.start.offset..span.end.offset);
        let part = part.unwrap_or(pattern);
        format!("`{part}` means something else, or nothing, to other readers of the JSON schema: {instead}")
    }))
}

/// The classes of characters that JavaScript knows under the same names: general categories and properties.
const CLASSES: &str = "L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp C Cc Cf \
    Co Cn Letter Uppercase_Letter Lowercase_Letter Titlecase_Letter Modifier_Letter Other_Letter Mark Nonspacing_Mark \
    Spacing_Mark Enclosing_Mark Number Decimal_Number Letter_Number Other_Number Punctuation Connector_Punctuation \
    Dash_Punctuation Open_Punctuation Close_Punctuation Initial_Punctuation Final_Punctuation Other_Punctuation Symbol \
    Math_Symbol Currency_Symbol Modifier_Symbol Other_Symbol Separator Space_Separator Line_Separator \
    Paragraph_Separator Other Control Format Private_Use Unassigned Any ASCII Alphabetic Uppercase Lowercase White_Space \
    Emoji Emoji_Presentation Emoji_Modifier Emoji_Modifier_Base Emoji_Component Extended_Pictographic Math Ideographic \
    Dash Hex_Digit ASCII_Hex_Digit ID_Start ID_Continue XID_Start XID_Continue Default_Ignorable_Code_Point \
    Quotation_Mark Diacritic Extender Cased Case_Ignorable";

/// Returns true for `Lu`, `Script=Greek` and other names of classes that JavaScript knows.
fn is_known_class(name: &str) -> bool {
    let is_name = |name: &str| CLASSES.split_whitespace().any(|known| known == name);
    match name.split_once('=') {
        None => is_name(name),
        Some(("Script" | "sc" | "Script_Extensions" | "scx", script)) => {
            let is_capitalized = |word: &str| {
                let mut letters = word.chars();
                letters
                    .next()
                    .is_some_and(|first| first.is_ascii_uppercase())
                    && letters.all(|letter| letter.is_ascii_lowercase())
            };
            script.split('_').all(is_capitalized)
        }
        Some(_) => false,
    }
}

/// Finds the first part of a pattern that JavaScript interprets differently.
struct ForeignSyntaxFinder<'a> {
    pattern: &'a str,
    found: Option<(Span, &'static str)>,
}

impl ForeignSyntaxFinder<'_> {
    fn part(&self, span: Span) -> &str {
        let part = self.pattern.get(span.start.offset..span.end.offset);
        part.unwrap_or_default()
    }

    fn note(&mut self, span: Span, instead: Option<&'static str>) {
        if let Some(instead) = instead {
            self.found.get_or_insert((span, instead));
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
        let written = self.part(span).trim_start_matches(['\\', 'p', 'P']);
        let name = written
            .strip_prefix('{')
            .and_then(|name| name.strip_suffix('}'));
        let instead = if matches!(kind, ClassUnicodeKind::OneLetter(_)) {
            Some("write it with braces, as in `\\p{L}`")
        } else if !name.is_some_and(is_known_class) {
            Some(
                "write a category or a script as Unicode spells it, as in `\\p{Lu}` or `\\p{Script=Greek}`",
            )
        } else {
            None
        };
        self.note(span, instead);
    }

    /// JavaScript knows fewer characters with a backslash before them, and requires it before a closing bracket.
    fn note_literal(&mut self, literal: &Literal, is_in_brackets: bool) {
        let Literal {
            span,
            kind,
            c: character,
        } = literal;
        let is_mark =
            r"^$\.*+?()[]{}|/".contains(*character) || (is_in_brackets && *character == '-');
        let instead = match kind {
            LiteralKind::HexBrace(HexLiteralKind::UnicodeShort)
            | LiteralKind::HexFixed(HexLiteralKind::X | HexLiteralKind::UnicodeShort) => None,
            LiteralKind::HexBrace(_)
            | LiteralKind::HexFixed(_)
            | LiteralKind::Special(SpecialLiteralKind::Bell) => {
                Some("write the character itself, or `\\u` and four digits")
            }
            LiteralKind::Meta | LiteralKind::Superfluous if !is_mark => {
                Some("write it without `\\`")
            }
            LiteralKind::Verbatim
                if *character == ']' || (*character == '}' && !is_in_brackets) =>
            {
                Some("write `\\` before it")
            }
            _ => None,
        };
        self.note(*span, instead);
    }

    fn note_repetition(&mut self, repetition: &Repetition) {
        let has_space = self.part(repetition.op.span).contains(char::is_whitespace);
        let instead = has_space.then_some("write the numbers alone, as in `{0,9}`");
        self.note(repetition.op.span, instead);
        let is_repeated = matches!(*repetition.ast, Ast::Repetition(_) | Ast::Assertion(_));
        let instead = is_repeated.then_some("repeat a part once, or write it in parentheses");
        self.note(repetition.span, instead);
    }
}

impl Visitor for ForeignSyntaxFinder<'_> {
    type Output = Option<(Span, &'static str)>;
    type Err = ();

    fn finish(self) -> Result<Self::Output, ()> {
        Ok(self.found)
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), ()> {
        const WITHOUT_FLAGS: &str = "write the pattern without flags, as in `[Aa]`";
        match ast {
            Ast::Flags(flags) => self.note(flags.span, Some(WITHOUT_FLAGS)),
            Ast::Group(group) => match &group.kind {
                GroupKind::CaptureName {
                    starts_with_p,
                    name,
                } if *starts_with_p || name.name.contains(['.', '[', ']']) => {
                    self.note(group.span, Some("a group needs no name here"));
                }
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
            Ast::Literal(literal) => self.note_literal(literal, false),
            Ast::Repetition(repetition) => self.note_repetition(repetition),
            _ => {}
        }
        Ok(())
    }

    fn visit_class_set_item_pre(&mut self, item: &ClassSetItem) -> Result<(), ()> {
        match item {
            ClassSetItem::Perl(class) => self.note_perl(class.span, &class.kind),
            ClassSetItem::Unicode(class) => self.note_unicode(class.span, &class.kind),
            ClassSetItem::Literal(literal) => self.note_literal(literal, true),
            ClassSetItem::Range(range) => {
                self.note_literal(&range.start, true);
                self.note_literal(&range.end, true);
            }
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
            r"^(?:a+)+(?<année>b{2,})(?:^)*\/[a\-][-a&{}()][\^\]\\]\t",
            r"\p{Lu}\P{Letter}\p{Script=Greek}\p{scx=Old_Italic}\p{Emoji}\u{1F600}\x41",
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
            ("(?<a.b>x)", "(?<a.b>x)"),
            ("^a++$", "a++"),
            ("a{2}{3}", "a{2}{3}"),
            ("^*", "^*"),
            ("a{2, 3}", "{2, 3}"),
            (r"\p{Greek}", r"\p{Greek}"),
            (r"\p{lu}", r"\p{lu}"),
            (r"[\p{Script=GREEK}]", r"\p{Script=GREEK}"),
            (r"\p{script=Greek}", r"\p{script=Greek}"),
            (r"a\-b", r"\-"),
            (r"[\#]", r"\#"),
            (r"[\&-a]", r"\&"),
            (r"a]", "]"),
            (r"a}", "}"),
            (r"[]a]", "]"),
        ] {
            let found = foreign(pattern).unwrap().unwrap();
            assert!(found.starts_with(&format!("`{part}` means")), "{found}");
        }
    }

    #[test]
    fn each_class_of_characters_is_one_in_rust() {
        for name in CLASSES.split_whitespace() {
            assert_eq!(foreign(&format!(r"\p{{{name}}}")), Ok(None), "{name}");
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
