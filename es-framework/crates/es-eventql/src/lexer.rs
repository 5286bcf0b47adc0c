//! Splits the text of a query into tokens.

use std::{iter::Peekable, str::CharIndices};

use super::{
    query_error::{QueryError, QueryErrorKind},
    token::{Token, TokenKind},
};

/// The symbols with two characters. All other symbols have one character.
const PAIRS: [&str; 4] = ["==", "!=", "<=", ">="];
const SINGLES: &str = "+-*/%<>()[]{},.:";

/// Returns the tokens of `text`. The last one has the kind [`TokenKind::End`].
pub(super) fn tokenize(text: &str) -> Result<Vec<Token>, QueryError> {
    let mut lexer = Lexer {
        text,
        characters: text.char_indices().peekable(),
        line: 1,
        column: 1,
    };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blanks()?;
        let token = lexer.token()?;
        let ended = token.kind == TokenKind::End;
        tokens.push(token);
        if ended {
            return Ok(tokens);
        }
    }
}

/// Splits a query into tokens.
struct Lexer<'a> {
    text: &'a str,
    characters: Peekable<CharIndices<'a>>,
    line: u32,
    column: u32,
}

/// The position at which a token begins.
#[derive(Clone, Copy)]
struct TokenStart {
    offset: usize,
    line: u32,
    column: u32,
}

impl Lexer<'_> {
    fn peek(&mut self) -> Option<char> {
        self.characters.peek().map(|(_, character)| *character)
    }

    fn offset(&mut self) -> usize {
        let length = self.text.len();
        self.characters.peek().map_or(length, |(offset, _)| *offset)
    }

    fn rest(&mut self) -> &str {
        let offset = self.offset();
        self.text.get(offset..).unwrap_or_default()
    }

    fn next(&mut self) -> Option<char> {
        let (_, character) = self.characters.next()?;
        if character == '\n' {
            self.line = self.line.saturating_add(1);
            self.column = 1;
        } else {
            self.column = self.column.saturating_add(1);
        }
        Some(character)
    }

    fn skip_while(&mut self, mut wanted: impl FnMut(char) -> bool) {
        while self.peek().is_some_and(&mut wanted) {
            self.next();
        }
    }

    fn start(&mut self) -> TokenStart {
        TokenStart {
            offset: self.offset(),
            line: self.line,
            column: self.column,
        }
    }

    /// Creates the token from this start to the current position.
    fn ended(&mut self, start: TokenStart, kind: TokenKind) -> Token {
        let end = self.offset();
        Token {
            line: start.line,
            column: start.column,
            text: self.text.get(start.offset..end).unwrap_or_default().into(),
            kind,
        }
    }

    fn fault(&mut self, start: TokenStart, kind: QueryErrorKind) -> QueryError {
        QueryError::at_token(kind, self.ended(start, TokenKind::Invalid))
    }

    fn skip_blanks(&mut self) -> Result<(), QueryError> {
        loop {
            self.skip_while(char::is_whitespace);
            if self.rest().starts_with("//") {
                self.skip_while(|character| character != '\n');
            } else if self.rest().starts_with("/*") {
                self.skip_block_comment()?;
            } else {
                return Ok(());
            }
        }
    }

    fn skip_block_comment(&mut self) -> Result<(), QueryError> {
        let start = self.start();
        self.next();
        self.next();
        while self.peek().is_some() {
            if self.rest().starts_with("*/") {
                self.next();
                self.next();
                return Ok(());
            }
            self.next();
        }
        Err(self.fault(start, QueryErrorKind::UnterminatedComment))
    }

    fn token(&mut self) -> Result<Token, QueryError> {
        let start = self.start();
        match self.peek() {
            None => Ok(self.ended(start, TokenKind::End)),
            Some(character) if is_name_start(character) => {
                self.skip_while(is_name_part);
                let mut token = self.ended(start, TokenKind::Identifier);
                token.kind = TokenKind::from_word(&token.text);
                Ok(token)
            }
            Some(character) if character.is_ascii_digit() => self.number(start),
            Some('"' | '\'') => self.string(start),
            Some(_) => self.symbol(start),
        }
    }

    fn number(&mut self, start: TokenStart) -> Result<Token, QueryError> {
        let is_digit = |character: char| character.is_ascii_digit();
        self.skip_while(is_digit);
        let mut rest = self.rest().chars();
        if rest.next() == Some('.') && rest.next().is_some_and(is_digit) {
            self.next();
            self.skip_while(is_digit);
        }
        if matches!(self.peek(), Some('e' | 'E')) {
            self.next();
            if matches!(self.peek(), Some('+' | '-')) {
                self.next();
            }
            self.skip_while(is_digit);
        }
        // Letters directly after a number belong to the invalid number.
        self.skip_while(is_name_part);
        let token = self.ended(start, TokenKind::Number);
        if parse_number(&token.text).is_none() {
            let text = token.text;
            return Err(self.fault(start, QueryErrorKind::InvalidNumber { text }));
        }
        Ok(token)
    }

    fn string(&mut self, start: TokenStart) -> Result<Token, QueryError> {
        let quote = self.next();
        loop {
            match self.next() {
                None => return Err(self.fault(start, QueryErrorKind::UnterminatedString)),
                Some('\\') => {
                    self.next();
                }
                character if character == quote => break,
                Some(_) => {}
            }
        }
        let token = self.ended(start, TokenKind::String);
        match unescape(&token.text) {
            Ok(_) => Ok(token),
            Err(escape) => Err(self.fault(start, QueryErrorKind::InvalidEscape { escape })),
        }
    }

    fn symbol(&mut self, start: TokenStart) -> Result<Token, QueryError> {
        let rest = self.rest();
        let is_pair = PAIRS.iter().any(|pair| rest.starts_with(pair));
        let character = self.next().unwrap_or_default();
        if is_pair {
            self.next();
        } else if !SINGLES.contains(character) {
            return Err(self.fault(start, QueryErrorKind::UnexpectedCharacter { character }));
        }
        Ok(self.ended(start, TokenKind::Symbol))
    }
}

fn is_name_start(character: char) -> bool {
    character == '_' || character.is_alphabetic()
}

fn is_name_part(character: char) -> bool {
    character == '_' || character.is_alphanumeric()
}

/// Returns true if `text` can follow a dot.
pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(is_name_start) && text.chars().all(is_name_part)
}

/// A number literal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum NumberLiteral {
    Int(i64),
    Float(f64),
}

pub(super) fn parse_number(text: &str) -> Option<NumberLiteral> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.parse().ok().map(NumberLiteral::Int);
    }
    let float: f64 = text.parse().ok()?;
    float.is_finite().then_some(NumberLiteral::Float(float))
}

/// Returns the text between the quotes. Fails with the invalid escape sequence.
pub(super) fn unescape(quoted: &str) -> Result<String, Box<str>> {
    let mut inside = quoted.chars();
    inside.next();
    inside.next_back();
    let mut text = String::with_capacity(quoted.len());
    while let Some(character) = inside.next() {
        if character != '\\' {
            text.push(character);
            continue;
        }
        let escape = inside.next().unwrap_or_default();
        text.push(match escape {
            '"' | '\'' | '\\' | '/' => escape,
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'u' => unicode(&mut inside).ok_or("\\u")?,
            other => return Err(format!("\\{other}").into()),
        });
    }
    Ok(text)
}

/// Parses four hexadecimal digits, or two groups of four for a surrogate pair, as JSON does.
fn unicode(inside: &mut std::str::Chars<'_>) -> Option<char> {
    let first = unit(inside)?;
    if (0xd800..0xdc00).contains(&first) {
        if (inside.next()?, inside.next()?) != ('\\', 'u') {
            return None;
        }
        let pair = [first, unit(inside)?];
        return char::decode_utf16(pair).next()?.ok();
    }
    char::from_u32(first.into())
}

/// Parses four hexadecimal digits as a UTF-16 code unit.
fn unit(inside: &mut std::str::Chars<'_>) -> Option<u16> {
    let digits: String = inside.by_ref().take(4).collect();
    let hex = digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    hex.then(|| u16::from_str_radix(&digits, 16).ok()).flatten()
}
