//! Secrets: drawn from the system, compared in constant time.

use std::fs::File;
use std::io::Read;

use sha2::{Digest, Sha256};

use crate::faults::{Context, Result};
use crate::sources::hex;

/// Random bytes of the system.
pub(super) fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    File::open("/dev/urandom")
        .and_then(|mut source| source.read_exact(&mut bytes))
        .context("the system gives no random numbers (`/dev/urandom`)")?;
    Ok(bytes)
}

/// A token that cannot be guessed.
///
/// # Errors
/// The system gives no random numbers.
pub fn new_token() -> Result<String> {
    Ok(hex(&random::<16>()?))
}

/// A text that only the holder of `secret` can compute from `about`, for one purpose.
pub(super) fn mark(secret: &[u8; 32], purpose: &str, about: &str) -> String {
    let mut hash = Sha256::new();
    // The secret is hashed first and last, so the mark of one text does not give the mark of a
    // longer or shorter one.
    for part in [secret.as_slice(), purpose.as_bytes(), &[0], about.as_bytes(), secret.as_slice()] {
        hash.update(part);
    }
    hex(&hash.finalize())
}

/// Whether two texts are the same; the time it takes does not depend on where they differ.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    let sums = Sha256::digest(one).into_iter().zip(Sha256::digest(other));
    sums.fold(0, |differs, (one, other)| differs | (one ^ other)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_depend_on_secret_purpose_and_text() {
        let made = |secret: u8, purpose, about| mark(&[secret; 32], purpose, about);
        let all = [
            made(1, "a", "b"),
            made(2, "a", "b"),
            made(1, "b", "b"),
            made(1, "a", "c"),
            made(1, "ab", ""),
        ];
        for (idx, one) in all.iter().enumerate() {
            for (other_idx, other) in all.iter().enumerate() {
                assert_eq!(is_same(one, other), idx == other_idx);
            }
        }
        assert_ne!(new_token().unwrap(), new_token().unwrap());
    }
}
