//! What must hold for any bytes: one check for each parser of text from outside.
//!
//! In: any bytes. Out: nothing, or a panic with the check that failed. The program in `fuzz/` calls
//! these checks with generated inputs. The tests below call them with the stored corpus and with
//! random bytes. This module is compiled only for these two uses.

use crate::schema::Source;

pub mod texts;
pub mod traces;

/// A check.
pub struct Target {
    /// The name of the check and of its corpus in `fuzz/`.
    pub name: String,
    check: Check,
}

/// A check of a text; it panics if the text breaks a promise.
type CheckOfText = fn(&[u8]);

#[derive(Clone, Copy)]
enum Check {
    Of(CheckOfText),
    /// A log of this kind of trace.
    Log(Source),
}

/// The checks of texts, and of traces that are read in several ways.
const CHECKS: [(&str, CheckOfText); 11] = [
    ("csv", traces::csv),
    ("json", traces::json),
    ("joined", traces::joined),
    ("mapped", traces::mapped),
    ("notation", texts::notation),
    ("thresholds", texts::thresholds),
    ("formula", texts::formula),
    ("template", texts::template),
    ("config", texts::config),
    ("manifest", texts::manifest),
    ("form", form),
];

/// Every check: the listed ones, and one for each kind of log.
pub fn targets() -> Vec<Target> {
    let listed =
        CHECKS.map(|(name, check)| Target { name: name.to_owned(), check: Check::Of(check) });
    let is_listed = |source: &Source| source.is_google() || *source == Source::Mapped;
    let logs = Source::ALL
        .into_iter()
        .filter(|source| !is_listed(source))
        .map(|source| Target { name: source.name().replace('-', "_"), check: Check::Log(source) });
    listed.into_iter().chain(logs).collect()
}

impl Target {
    /// Checks an input.
    pub fn check(&self, input: &[u8]) {
        match self.check {
            Check::Of(check) => check(input),
            Check::Log(source) => traces::log(source, input),
        }
    }
}

/// Checks queries and forms of the portal.
#[cfg(feature = "serve")]
pub fn form(input: &[u8]) {
    crate::serve::fuzzed::form(input);
}

/// A program without the portal reads no forms.
#[cfg(not(feature = "serve"))]
pub const fn form(_: &[u8]) {}

/// Splits off the first byte, which selects a variant of a check.
fn choice(input: &[u8]) -> (usize, &[u8]) {
    input.split_first().map_or((0, input), |(&first, rest)| (usize::from(first), rest))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::process::Command;
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use super::*;

    /// The inputs of a target.
    type Corpus = Vec<Vec<u8>>;

    /// Every check and its inputs.
    static CORPORA: LazyLock<Vec<(Target, Corpus)>> = LazyLock::new(|| {
        let of = |target: Target| {
            let path = repository().join(format!("fuzz/corpus/{}.txt", target.name));
            let text = fs::read_to_string(path).unwrap();
            let input = |line: &str| unpacked(line.split_once('\t').unwrap().1);
            (target, text.lines().map(input).collect())
        };
        targets().into_iter().map(of).collect()
    });

    fn repository() -> &'static Path {
        Path::new(env!("CARGO_MANIFEST_DIR"))
    }

    /// The bytes of an input, from the text that `fuzz/pack` wrote for it.
    fn unpacked(input: &str) -> Vec<u8> {
        let mut pieces = input.split("\\x");
        let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_vec();
        for piece in pieces {
            let (byte, rest) = piece.split_at(2);
            bytes.push(u8::from_str_radix(byte, 16).unwrap());
            bytes.extend(rest.bytes());
        }
        bytes
    }

    /// The corpus has the inputs that reached new code paths, and every input that ever failed.
    #[test]
    fn the_corpus_holds() {
        for (target, inputs) in &*CORPORA {
            assert!(5 <= inputs.len(), "{}: inputs to begin with", target.name);
            for input in inputs {
                target.check(input);
            }
        }
    }

    #[test]
    fn every_target_has_a_corpus_and_every_corpus_a_target() {
        let mut expected: Vec<String> =
            targets().iter().map(|target| format!("{}.txt", target.name)).collect();
        expected.sort();
        let mut found: Vec<String> = fs::read_dir(repository().join("fuzz/corpus"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        found.sort();
        assert_eq!(found, expected);
    }

    /// Promise: packing loses no byte, both when the script unpacks and when these tests do.
    #[test]
    fn packed_inputs_come_out_as_they_went_in() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let all: Vec<u8> = (0..=u8::MAX).collect();
        let inputs: [(&str, &[u8]); 5] = [
            ("all", &all),
            ("empty", b""),
            ("escapes", br"\x41 \n \\ %s \"),
            ("blanks", b"  a\tb\r\n\0  "),
            ("long", &[0xff; 5000]),
        ];
        fs::create_dir(path("in")).unwrap();
        for (name, input) in inputs {
            fs::write(path("in").join(name), input).unwrap();
        }
        let pack = |args: &[&Path]| {
            let run = Command::new(repository().join("fuzz/pack")).args(args).output().unwrap();
            assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
            String::from_utf8(run.stdout).unwrap()
        };
        let text = pack(&[&path("in")]);
        assert!(text.bytes().all(|byte| byte.is_ascii_graphic() || b" \t\n".contains(&byte)));
        fs::write(path("packed"), &text).unwrap();
        pack(&[Path::new("--unpack"), &path("packed"), &path("out")]);
        for (name, input) in inputs {
            assert_eq!(fs::read(path("out").join(name)).unwrap(), input, "{name}");
            let line =
                text.lines().find_map(|line| line.strip_prefix(&format!("{name}\t"))).unwrap();
            assert_eq!(unpacked(line), input, "{name}");
        }
    }

    /// Replaces, removes or adds bytes at random positions.
    fn damaged(bytes: &[u8], edits: &[(usize, u8, u8)]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        for &(at, byte, kind) in edits {
            let at = at % (bytes.len() + 1);
            match kind % 3 {
                0 => bytes.insert(at, byte),
                _ if at == bytes.len() => {}
                1 => bytes[at] = byte,
                _ => drop(bytes.remove(at)),
            }
        }
        bytes
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn bytes_of_every_kind_hold(
            noise in proptest::collection::vec(any::<u8>(), 0..200),
            edits in proptest::collection::vec((any::<usize>(), any::<u8>(), any::<u8>()), 1..6),
            seed in any::<usize>(),
        ) {
            for (target, inputs) in &*CORPORA {
                target.check(&noise);
                target.check(&damaged(&inputs[seed % inputs.len()], &edits));
            }
        }
    }
}
