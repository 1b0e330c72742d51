//! Short labels for long names: headings of columns and titles of plots.
//!
//! In: names of any length. Out: a label for each, in the same order. A long name loses letters in
//! the middle. Two different names never get the same label.

/// A label for each name, with about `most` letters at most.
pub(crate) fn labels(names: &[String], most: usize) -> Vec<String> {
    let mut all: Vec<String> = Vec::with_capacity(names.len());
    for (place, name) in names.iter().enumerate() {
        let earlier = names[..place].iter().position(|known| known == name);
        let label = if let Some(same) = earlier {
            all[same].clone()
        } else {
            let short = shortened(name, most);
            let numbered = (2..).map(|number| format!("{short} ({number})"));
            let is_free = |label: &String| !all.contains(label) && !is_other(names, label, name);
            let mut choices = std::iter::once(short.clone()).chain(numbered);
            choices.find(is_free).unwrap_or(short)
        };
        all.push(label);
    }
    all
}

/// Whether a label is the whole name of something else.
fn is_other(names: &[String], label: &str, name: &str) -> bool {
    label != name && names.iter().any(|known| known == label)
}

/// The name if it has at most `most` letters, otherwise its beginning and its end.
fn shortened(name: &str, most: usize) -> String {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= most.max(3) {
        return name.to_owned();
    }
    let kept = most.max(3) - 1;
    let (head, tail) = (kept.div_ceil(2), kept / 2);
    let tail = letters[letters.len() - tail..].iter();
    let head: String = letters[..head].iter().collect();
    format!("{}…{}", head.trim_end(), tail.collect::<String>().trim_start())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn long_names_lose_their_middle_and_stay_apart() {
        let long = |middle: &str| format!("share of {middle} that this user used in the last week");
        let names = ["cv".to_owned(), long("the cores"), long("the disks"), long("the cores")];
        assert_eq!(
            labels(&names, 20),
            ["cv", "share of t…last week", "share of t…last week (2)", "share of t…last week"]
        );
        assert_eq!(labels(&names, 100), names);
        let odd = ["日本語のとても長い名前".to_owned(), "ab".to_owned()];
        assert_eq!(labels(&odd, 5), ["日本…名前", "ab"]);
    }

    proptest! {
        /// Promise: two names have the same label only if they are equal, and labels are short.
        #[test]
        fn different_names_have_different_labels(
            names in prop::collection::vec("[ab…] ?[ab]{0,9}( \\([23]\\))?", 0..12),
            most in 3_usize..8,
        ) {
            let labels = labels(&names, most);
            for (one, label) in names.iter().zip(&labels) {
                prop_assert!(label.chars().count() <= most + " (12)".len());
                for (other, same) in names.iter().zip(&labels) {
                    prop_assert_eq!(one == other, label == same, "{} {}", one, other);
                }
            }
        }
    }
}
