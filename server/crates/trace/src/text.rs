//! JSON tokens to text.

use std::borrow::Cow;

/// The text of a raw JSON token: a string's content, a number's or boolean's digits; `None` for `null` and containers.
pub(crate) fn of(token: &str) -> Option<Cow<'_, str>> {
    match token.as_bytes().first()? {
        b'"' => Some(unescape(token.get(1..token.len() - 1)?)),
        b'n' | b'{' | b'[' => None,
        _ => Some(Cow::Borrowed(token)),
    }
}

/// The text of a raw JSON token if it is a string.
pub(crate) fn of_string(token: &str) -> Option<Cow<'_, str>> {
    token.starts_with('"').then(|| of(token)).flatten()
}

/// Undoes JSON's escapes. Lone surrogates become U+FFFD; an escape JSON does not know stays as it is.
fn unescape(content: &str) -> Cow<'_, str> {
    let Some(first) = memchr::memchr(b'\\', content.as_bytes()) else { return Cow::Borrowed(content) };
    let mut out = String::with_capacity(content.len());
    out.push_str(&content[..first]);
    let mut rest = &content[first..];
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let Some(kind) = rest.chars().next() else {
            out.push('\\');
            break;
        };
        rest = &rest[kind.len_utf8()..];
        match kind {
            '"' | '\\' | '/' => out.push(kind),
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{c}'),
            'n' => out.push('\n'),
            'r' => out.push('\r'),
            't' => out.push('\t'),
            'u' => rest = code_point(rest, &mut out),
            other => {
                out.push('\\');
                out.push(other);
            }
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Reads the four digits after `\u`, and a low surrogate's `\uXXXX` behind a high one; gives what follows.
fn code_point<'a>(rest: &'a str, out: &mut String) -> &'a str {
    let Some(unit) = hex4(rest) else {
        out.push_str("\\u");
        return rest;
    };
    let after = &rest[4..];
    if (0xD800..0xDC00).contains(&unit)
        && let Some(low) =
            after.strip_prefix("\\u").and_then(hex4).filter(|low| (0xDC00..0xE000).contains(low))
    {
        let code = 0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
        out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        return &after[6..];
    }
    out.push(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER));
    after
}

fn hex4(text: &str) -> Option<u32> {
    let digits = text.get(..4).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()))?;
    u32::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undoes_escapes() {
        assert_eq!(of(r#""a\n\u00e9\ud83d\ude00""#).as_deref(), Some("a\né😀"));
        assert_eq!(of(r#""lone \ud83d!""#).as_deref(), Some("lone \u{FFFD}!"));
        assert_eq!(of(r#""C:\\proj""#).as_deref(), Some(r"C:\proj"));
    }

    #[test]
    fn numbers_are_their_digits_and_null_is_none() {
        assert_eq!(of("18446744073709551615").as_deref(), Some("18446744073709551615"));
        assert_eq!(of("null"), None);
        assert_eq!(of_string("12"), None);
    }
}
