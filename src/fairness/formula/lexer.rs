//! Splits the text of a formula into tokens with their positions.

use crate::notation::Mistake;

/// A token and its position in bytes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The kind of a token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Number(f64),
    Name(String),
    Text(String),
    /// One of `+ - * / ^ ( ) , = == != < <= > >=`.
    Sign(&'static str),
    /// A line end outside of parentheses, or `;`.
    Stop,
    /// The end of the text.
    End,
}

/// Longer signs first, so that `<=` is not read as `<` and `=`.
const SIGNS: [&str; 14] =
    ["==", "!=", "<=", ">=", "+", "-", "*", "/", "^", "(", ")", ",", "=", "<"];

/// Splits a text into tokens.
pub(super) fn tokens(source: &str) -> Result<Vec<Token>, Mistake> {
    let mut tokens = Vec::new();
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(letter) = source[at..].chars().next() {
        let start = at;
        at += letter.len_utf8();
        let kind = match letter {
            '\n' if depth == 0 => Kind::Stop,
            ';' => Kind::Stop,
            _ if letter.is_whitespace() => continue,
            '#' => {
                at = source[start..].find('\n').map_or(source.len(), |length| start + length);
                continue;
            }
            '"' => {
                let Some(length) = source[at..].find(['"', '\n']) else {
                    return Err(Mistake::at(source, start, source.len(), "the text is not closed"));
                };
                let text = source[at..at + length].to_owned();
                at += length + 1;
                if source[..at].ends_with('\n') {
                    return Err(Mistake::at(source, start, at, "the text is not closed"));
                }
                Kind::Text(text)
            }
            '0'..='9' | '.' => {
                at = number_end(source, start);
                let text = &source[start..at];
                let number = text.parse().ok().filter(|number: &f64| number.is_finite());
                let problem = || format!("`{text}` is not a number");
                Kind::Number(number.ok_or_else(|| Mistake::at(source, start, at, problem()))?)
            }
            _ if letter.is_alphabetic() || letter == '_' => {
                let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
                at = source[start..]
                    .find(|letter| !is_part(letter))
                    .map_or(source.len(), |length| start + length);
                Kind::Name(source[start..at].to_owned())
            }
            _ => {
                let sign =
                    SIGNS.into_iter().chain([">"]).find(|sign| source[start..].starts_with(sign));
                let Some(sign) = sign else {
                    let problem = format!("`{letter}` is not allowed here");
                    return Err(Mistake::at(source, start, at, problem));
                };
                at = start + sign.len();
                match sign {
                    "(" => depth += 1,
                    ")" => depth = depth.saturating_sub(1),
                    _ => {}
                }
                Kind::Sign(sign)
            }
        };
        tokens.push(Token { kind, start, end: at });
    }
    tokens.push(Token { kind: Kind::End, start: source.len(), end: source.len() });
    Ok(tokens)
}

/// The end of a number that begins at `start`: digits, a point, and an exponent.
fn number_end(source: &str, start: usize) -> usize {
    let bytes = source.as_bytes();
    let mut at = start;
    while at < bytes.len() {
        let is_exponent = matches!(bytes[at], b'e' | b'E');
        let is_sign = matches!(bytes[at], b'+' | b'-') && matches!(bytes[at - 1], b'e' | b'E');
        if !(bytes[at].is_ascii_alphanumeric() || bytes[at] == b'.' || is_exponent || is_sign) {
            break;
        }
        at += 1;
    }
    at
}
