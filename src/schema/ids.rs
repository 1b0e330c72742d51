//! Numbers of rows, and the bucket of a job.

/// Returns the bucket of `job_id` among `bucket_count`: splitmix64's finaliser, modulo.
///
/// Written into the manifest as `splitmix64`. Consecutive ids spread evenly; the same id is in
/// the same bucket in every table and on every machine.
#[inline]
#[expect(
    clippy::cast_sign_loss,
    clippy::cast_possible_truncation,
    reason = "bits are mixed, and the remainder is below a u32"
)]
pub fn bucket_of(job_id: i64, bucket_count: u32) -> u32 {
    let mut bits = job_id as u64;
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^= bits >> 31;
    (bits % u64::from(bucket_count)) as u32
}

/// Bits of a `row_id` for the line; the part number is in the bits above.
pub const ROW_ID_LINE_BITS: u32 = 40;

/// The most parts of a table, so that a `row_id` is never negative.
pub const PARTS_MAX: u32 = 1 << (63 - ROW_ID_LINE_BITS);

/// Returns the `row_id` of a line (from 1) of a part.
#[inline]
#[expect(clippy::cast_possible_wrap, reason = "a part has fewer than 2^40 lines")]
pub fn row_id(part: u32, line: u64) -> i64 {
    (i64::from(part) << ROW_ID_LINE_BITS) | line as i64
}
