//! Converts dictionaries and lists as Python prints them to JSON.
//!
//! In: `{'cpus': 0.02, 'memory': None}`, `[{'name': 'a', 'relation': 1}]`, or a `NumPy` array,
//! whose items are separated by blanks and line ends: `[0.1 0.2\n 0.3]`. Out: the same as JSON, or
//! `None` if the text is neither. Text inside quotes does not change.

/// Appends a literal as JSON; `None` if it is not one, in which case a part may have been written.
pub(super) fn to_json(text: &[u8], to: &mut Vec<u8>) -> Option<()> {
    let text = text.strip_prefix(b"array(").and_then(|it| it.strip_suffix(b")")).unwrap_or(text);
    let mut rest = text;
    // Whether a value has ended, so that another one needs a comma before it.
    let mut is_after_value = false;
    while let Some((&byte, behind)) = rest.split_first() {
        match byte {
            b' ' | b'\n' | b'\r' | b'\t' => rest = behind,
            b'{' | b'[' | b'(' => {
                comma(is_after_value, to);
                to.push(if byte == b'{' { b'{' } else { b'[' });
                (is_after_value, rest) = (false, behind);
            }
            b'}' | b']' | b')' => {
                // A tuple of one item ends with a comma.
                if to.last() == Some(&b',') {
                    to.pop();
                }
                to.push(if byte == b'}' { b'}' } else { b']' });
                (is_after_value, rest) = (true, behind);
            }
            b':' | b',' => {
                to.push(byte);
                (is_after_value, rest) = (false, behind);
            }
            b'\'' | b'"' => {
                comma(is_after_value, to);
                rest = quoted(byte, behind, to)?;
                is_after_value = true;
            }
            _ => {
                comma(is_after_value, to);
                let is_end = |byte: &u8| b" \n\r\t,:]})".contains(byte);
                let length = rest.iter().position(is_end).unwrap_or(rest.len());
                word(&rest[..length], to)?;
                (is_after_value, rest) = (true, &rest[length..]);
            }
        }
    }
    Some(())
}

fn comma(is_after_value: bool, to: &mut Vec<u8>) {
    if is_after_value {
        to.push(b',');
    }
}

/// Writes a text up to its closing quote, and returns the rest.
fn quoted<'a>(quote: u8, text: &'a [u8], to: &mut Vec<u8>) -> Option<&'a [u8]> {
    let (mut inside, mut at) = (Vec::new(), 0);
    loop {
        let byte = *text.get(at)?;
        if byte == quote {
            break;
        }
        // A backslash escapes a quote or another backslash.
        at += usize::from(byte == b'\\');
        inside.push(*text.get(at)?);
        at += 1;
    }
    let inside = String::from_utf8(inside).ok()?;
    to.extend_from_slice(serde_json::Value::from(inside).to_string().as_bytes());
    Some(&text[at + 1..])
}

/// Writes a number, or the JSON for `None`, `nan`, `True` or `False`.
fn word(text: &[u8], to: &mut Vec<u8>) -> Option<()> {
    let json = match text {
        b"None" | b"nan" => "null".to_owned(),
        b"True" => "true".to_owned(),
        b"False" => "false".to_owned(),
        // NumPy writes `1.` for 1.
        _ => {
            let text = std::str::from_utf8(text).ok()?;
            match text.parse::<i64>() {
                Ok(whole) => whole.to_string(),
                Err(_) => serde_json::Number::from_f64(text.parse().ok()?)?.to_string(),
            }
        }
    };
    to.extend_from_slice(json.as_bytes());
    Some(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn json(text: &str) -> Option<String> {
        let mut json = Vec::new();
        to_json(text.as_bytes(), &mut json)?;
        let text = String::from_utf8(json).unwrap();
        serde_json::from_str::<serde_json::Value>(&text).ok()?;
        Some(text)
    }

    #[test]
    fn what_python_prints_is_read() {
        let check = |python: &str, expected: &str| {
            assert_eq!(json(python).as_deref(), Some(expected), "{python}");
        };
        check("{'cpus': 0.0206, 'memory': None}", r#"{"cpus":0.0206,"memory":null}"#);
        check("[]", "[]");
        check("[0.1 2e-05\n 0.  1]", "[0.1,0.00002,0.0,1]");
        check("array([0.5, nan])", "[0.5,null]");
        check("(1,)", "[1]");
        check(
            r#"[{'name': "o'n", 'relation': 1, 'value': 'a\'b'} {'name': 'c'}]"#,
            r#"[{"name":"o'n","relation":1,"value":"a'b"},{"name":"c"}]"#,
        );
    }

    #[test]
    fn what_it_does_not_print_is_refused() {
        for odd in ["{'a': }", "['a", "[abc]", "{'a' 1 2}", "[1]]", "[inf]"] {
            assert_eq!(json(odd), None, "{odd}");
        }
    }

    proptest! {
        #[test]
        fn lists_come_back(values in prop::collection::vec(any::<f32>().prop_filter("finite", |it| it.is_finite()), 0..30), is_numpy: bool) {
            let words: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
            let text = format!("[{}]", words.join(if is_numpy { "\n " } else { ", " }));
            let read: Vec<f32> = serde_json::from_str(&json(&text).unwrap()).unwrap();
            prop_assert_eq!(read, values);
        }

        #[test]
        fn no_text_is_too_odd(text: Vec<u8>) {
            let _ = to_json(&text, &mut Vec::new());
        }
    }
}
