//! What must hold whatever the bytes are, one check per thing that reads text from outside.
//!
//! In: any bytes. Out: nothing, or a panic with what did not hold. The targets of `fuzz/` call
//! these checks with inputs that a fuzzer grows; the tests below call them with the kept corpus
//! and with drawn bytes, so that they are run wherever the tests are. Compiled for either alone.

pub mod texts;
pub mod traces;

/// A check and the name of its target and corpus in `fuzz/`.
pub type Target = (&'static str, fn(&[u8]));

/// Every check.
pub const TARGETS: [Target; 11] = [
    ("csv", traces::csv),
    ("json", traces::json),
    ("swf", traces::swf),
    ("gwf", traces::gwf),
    ("rumen", traces::rumen),
    ("notation", texts::notation),
    ("thresholds", texts::thresholds),
    ("formula", texts::formula),
    ("template", texts::template),
    ("config", texts::config),
    ("manifest", texts::manifest),
];

/// Takes the first byte, which chooses between variants of a check.
fn choice(input: &[u8]) -> (usize, &[u8]) {
    input.split_first().map_or((0, input), |(&first, rest)| (usize::from(first), rest))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use proptest::prelude::*;

    use super::*;

    fn corpus(name: &str) -> Vec<PathBuf> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(name);
        let mut files: Vec<PathBuf> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files
    }

    /// The corpus holds what found new ways through the code, and every input that ever failed.
    #[test]
    fn the_corpus_holds() {
        for (name, check) in TARGETS {
            let files = corpus(name);
            assert!(5 <= files.len(), "{name}: inputs to begin with");
            for path in files {
                let bytes = fs::read(&path).unwrap();
                check(&bytes);
            }
        }
    }

    /// Replaces, removes or adds bytes at drawn places.
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
            for (name, check) in TARGETS {
                check(&noise);
                let files = corpus(name);
                let bytes = fs::read(&files[seed % files.len()]).unwrap();
                check(&damaged(&bytes, &edits));
            }
        }
    }
}
