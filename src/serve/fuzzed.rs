//! Checks of what must hold for any bytes of a query or form that reaches the portal.
//!
//! In: any bytes. Out: nothing, or a panic with the check that failed. Compiled only for tests and for
//! the targets of `fuzz/`.

use std::sync::LazyLock;

use clap::{Args, Command};

use super::ask::{Asks, Wrong};
use super::fairness::{built_in, canonical, own};
use super::form::{Pairs, VALUE_MAX, decoded, encoded};
use crate::answers::predict::PredictPlan;
use crate::answers::sweep::plan::SweepPlan;

/// Commands with flags of every kind.
static ASKS: LazyLock<Asks> = LazyLock::new(|| {
    let commands = [
        PredictPlan::augment_args(Command::new("predict")),
        SweepPlan::augment_args(Command::new("sweep")),
    ];
    Asks::new(Command::new("jobfate").subcommands(commands))
});

/// Checks that a refusal has a message.
fn says_what(wrong: &Wrong) {
    assert!(!wrong.said.trim().is_empty(), "{wrong:?}");
}

/// Checks a query or the body of a form: as pairs, as flags of a command, as a custom index.
pub(crate) fn form(input: &[u8]) {
    let (which, rest) = input.split_first().map_or((0, input), |(first, rest)| (*first, rest));
    let Ok(text) = std::str::from_utf8(rest) else { return };
    if which % 5 == 4 {
        let safe = encoded(text);
        assert!(safe.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.~%".contains(&byte)));
        assert_eq!(decoded(&safe).as_deref(), Some(text));
        return;
    }
    let pairs = match Pairs::read(text) {
        Ok(pairs) => pairs,
        Err(said) => return assert!(!said.is_empty()),
    };
    assert!(pairs.filled().all(|(_, value)| value.len() <= VALUE_MAX));
    let again = Pairs::read(&pairs.query()).expect("what was written is read");
    assert!(again.filled().eq(pairs.filled()));
    match which % 5 {
        0 => words("predict", &pairs),
        1 => words("sweep", &pairs),
        2 => index(&pairs),
        _ => {
            let kept = canonical(&pairs);
            assert_eq!(canonical(&kept), kept);
            match built_in(&pairs) {
                Ok(texts) => assert_eq!(texts.len(), pairs.all("use").count()),
                Err(wrong) => wrong.iter().for_each(says_what),
            }
        }
    }
}

/// Checks that every word is an offered flag of the command.
fn words(command: &str, pairs: &Pairs) {
    match ASKS.words(command, pairs.filled()) {
        Err(wrong) => says_what(&wrong),
        Ok(words) => {
            let known = ASKS.parameters(command);
            for word in &words {
                let name = word.strip_prefix("--").expect("a flag");
                let name = name.split_once('=').map_or(name, |(name, _)| name);
                assert!(known.iter().any(|one| one.name == name), "{word}");
                assert!(!word.contains('\0'));
            }
            assert!(words.len() <= pairs.filled().count());
        }
    }
}

/// Checks that a custom index gives a known flag, and a text that is not empty.
fn index(pairs: &Pairs) {
    let programs = [("ours".to_owned(), "/bin/true".to_owned())];
    match own::read(&programs, pairs) {
        Err(wrong) => {
            assert!(!wrong.is_empty());
            wrong.iter().for_each(says_what);
        }
        Ok(own::Custom::Program(word)) => {
            assert!(word.starts_with("--index-program=") && word.ends_with("=/bin/true"));
        }
        Ok(own::Custom::Text(text)) => {
            let is_formula = text.flag.starts_with("--formula=") && text.flag.ends_with('=');
            assert!(is_formula || text.flag == "--index-file=", "{}", text.flag);
            assert!(!text.content.trim().is_empty());
        }
    }
}
