//! Amounts of resources as batch systems and container platforms write them.
//!
//! In: a text with a suffix, or a list such as `cpu=8,mem=22400M,gres/gpu:a100=2`. Out: numbers;
//! `None` for other texts.

use super::fields::whole;
use crate::sources::fields::careful_f64;

/// A count as columns of amounts store it.
pub(in crate::sources) fn float(count: impl Into<i64>) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "nothing has 2^24 processors, GPUs or GiB")]
    let count = count.into() as f32;
    count
}

/// An amount as columns store it.
pub(in crate::sources) fn narrow(amount: f64) -> f32 {
    #[expect(clippy::cast_possible_truncation, reason = "an amount")]
    let amount = amount as f32;
    amount
}

/// An amount with a suffix B, or K, M, G, T or P (powers of 1024), in bytes; `default` is the
/// suffix of a plain number.
pub(in crate::sources) fn amount(text: &[u8], default: u8) -> Option<f64> {
    let (digits, suffix) = match text.split_last() {
        Some((last, digits)) if last.is_ascii_alphabetic() => (digits, *last),
        _ => (text, default),
    };
    let power = match suffix.to_ascii_uppercase() {
        b'B' => 0,
        b'K' => 1,
        b'M' => 2,
        b'G' => 3,
        b'T' => 4,
        b'P' => 5,
        _ => return None,
    };
    let value = careful_f64(digits).filter(|value| 0.0 <= *value)?;
    let bytes = value * 1024_f64.powi(power);
    bytes.is_finite().then_some(bytes)
}

/// The suffixes of quantities in Kubernetes, with their factors.
const SUFFIXES: [(&str, f64); 15] = [
    ("Ki", 1024.0),
    ("Mi", 1_048_576.0),
    ("Gi", 1_073_741_824.0),
    ("Ti", 1_099_511_627_776.0),
    ("Pi", 1_125_899_906_842_624.0),
    ("Ei", 1_152_921_504_606_846_976.0),
    ("n", 1e-9),
    ("u", 1e-6),
    ("m", 1e-3),
    ("k", 1e3),
    ("M", 1e6),
    ("G", 1e9),
    ("T", 1e12),
    ("P", 1e15),
    ("E", 1e18),
];

/// An amount such as `500m`, `2`, `1e3`, `512Mi` or `4G`, in units.
pub(in crate::sources) fn quantity(text: &str) -> Option<f64> {
    let found = SUFFIXES
        .iter()
        .find_map(|(suffix, factor)| text.strip_suffix(suffix).map(|digits| (digits, *factor)));
    let (digits, factor) = found.unwrap_or((text, 1.0));
    let amount = careful_f64(digits.as_bytes())? * factor;
    (0.0 <= amount && amount.is_finite()).then_some(amount)
}

/// The amount of one resource in a list such as `cpu=8,mem=22400M,node=1`.
pub(in crate::sources) fn in_list<'a>(list: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    list.split(|&byte| byte == b',').find_map(|entry| {
        let (key, value) = entry.split_at(memchr::memchr(b'=', entry)?);
        (key.trim_ascii() == name).then(|| value[1..].trim_ascii())
    })
}

/// The number of GPUs in a list, and their first model. Entries with models add up to the entry
/// without one, which is used if there is one.
pub(in crate::sources) fn gpus_in_list(list: &[u8]) -> Option<(i64, Option<&[u8]>)> {
    let (mut plain, mut typed, mut model) = (None, None, None);
    for entry in list.split(|&byte| byte == b',') {
        // `gres/gpu=2`, `gres/gpu:a100=2`, `gpu:a100:2` or `gpu:2`.
        let plain_entry = |begin: &[u8]| entry.strip_prefix(begin)?.strip_prefix(b"gpu");
        let rest = [&b"gres/"[..], b"gres:", b""].into_iter().find_map(plain_entry);
        let Some(rest) = rest else { continue };
        let at = memchr::memrchr2(b'=', b':', rest).unwrap_or(0);
        let (kind, count) = rest.split_at(at);
        let Some(count) = count.get(1..).and_then(whole) else { continue };
        match kind {
            [] => plain = Some(count),
            [b':', name @ ..] => {
                typed = Some(i64::saturating_add(typed.unwrap_or(0), count));
                model = model.or(Some(name));
            }
            _ => {}
        }
    }
    plain.or(typed).map(|count| (count, model))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn amounts_have_the_suffixes_of_their_system() {
        for (text, expected) in [
            ("2", Some(2.0)),
            ("1e3", Some(1000.0)),
            ("500m", Some(0.5)),
            ("4G", Some(4e9)),
            ("512Mi", Some(536_870_912.0)),
            ("-1", None),
            ("Mi", None),
            ("2Qi", None),
        ] {
            assert_eq!(quantity(text), expected, "{text}");
        }
        for (text, expected) in
            [("2", Some(2_097_152.0)), ("2k", Some(2048.0)), ("3B", Some(3.0)), ("-1M", None)]
        {
            assert_eq!(amount(text.as_bytes(), b'M'), expected, "{text}");
        }
    }

    #[test]
    fn lists_name_resources_and_gpus() {
        let list = b"billing=8,cpu=8, mem=22400M,gres/gpu:a100=2,gres/gpu=3";
        assert_eq!(in_list(list, b"mem"), Some(&b"22400M"[..]));
        assert_eq!(in_list(list, b"node"), None);
        assert_eq!(gpus_in_list(list), Some((3, Some(&b"a100"[..]))));
        assert_eq!(gpus_in_list(b"gpu:a100:2,gpu:v100:1"), Some((3, Some(&b"a100"[..]))));
        assert_eq!(gpus_in_list(b"gpu:2"), Some((2, None)));
        assert_eq!(gpus_in_list(b"cpu=4,gres/gpumem=7"), None);
    }

    proptest! {
        #[test]
        fn no_text_makes_the_readers_panic(text in "[-0-9:.,=a-zA-Z/ ]{0,40}") {
            let _ = amount(text.as_bytes(), b'M');
            let _ = quantity(&text);
            let _ = in_list(text.as_bytes(), b"cpu");
            let _ = gpus_in_list(text.as_bytes());
        }
    }
}
