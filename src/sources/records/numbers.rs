//! Numbers of things that a log knows by name.
//!
//! In: a name. Out: a number, the same for the same name everywhere. Ids that are made from names
//! are negative, and indices of tasks are at least [`NAMED_FROM`], so that
//! [`mask`](crate::sources::mask) finds them.

/// The first index of a task that is made from its name.
pub(in crate::sources) const NAMED_FROM: i32 = 1 << 20;

/// How many such indices there are.
const NAMED_COUNT: u64 = (1 << 31) - (1 << 20);

/// A number for a name: negative, and the same for the same name everywhere (FNV-1a, 62 bits).
pub(in crate::sources) fn number_of_name(name: &[u8]) -> i64 {
    -1 - i64::try_from(hash(name) >> 2).expect("62 bits")
}

/// An index for a task that has a name but no number.
pub(in crate::sources) fn index_of_name(name: &[u8]) -> i32 {
    named_index(hash(name))
}

/// The index of a task that is made from these bits.
pub(in crate::sources) fn named_index(bits: u64) -> i32 {
    NAMED_FROM + i32::try_from(bits % NAMED_COUNT).expect("less than 2^31 - 2^20")
}

/// FNV-1a, with its bits mixed once more.
pub(in crate::sources) fn hash(name: &[u8]) -> u64 {
    let mut bits = 0xCBF2_9CE4_8422_2325_u64;
    for &byte in name {
        bits = (bits ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
    }
    bits ^= bits >> 32;
    bits = bits.wrapping_mul(0xD6E8_FEB8_6659_FD93);
    bits ^ (bits >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_of_names_are_above_all_numbers() {
        for bits in [0, 1, NAMED_COUNT - 1, NAMED_COUNT, u64::MAX] {
            assert!(NAMED_FROM <= named_index(bits), "{bits}");
        }
        assert_eq!(named_index(NAMED_COUNT - 1), i32::MAX);
        assert_ne!(index_of_name(b"fit-a"), index_of_name(b"fit-b"));
    }
}
