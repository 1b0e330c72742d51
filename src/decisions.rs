//! Why things are as they are: the choice, the reason, and what was rejected.
//!
//! In: nothing. Out: nothing; this module is a page to read.
//!
//! **CPU time is added up in whole numbers.** [`crate::units::CpuTime`] holds 2^-64 CPU-microseconds in
//! 128 bits. A rate is an `f32` and a length a whole number of microseconds, so every sum is exact
//! and the same for any number of threads, order of parts and number of buckets. Rejected:
//! compensated `f64` sums, which are close but not equal, and no quicker.
//!
//! **One file per segment, bucket by bucket.** Rows are spread over buckets by job, so that whatever
//! is keyed by job is answered bucket by bucket in bounded memory. Consecutive parts of at most
//! 32 MiB, or one larger part, are a segment and share a file: 64 parts of usage of 128 buckets
//! were 17,000 files of 10,000 rows, and are 64. The cut depends on the raw folder alone, so an
//! ingest that was killed and run again writes the same bytes.
//!
//! ```text
//!  PAR1 │ PAR1 bucket 0 footer PAR1 │ PAR1 bucket 1 footer PAR1 │ ... │ footer of all │ PAR1
//!       └ a stretch: a whole Parquet stream of one or more row groups
//! ```
//!
//! A file is Parquet streams one after the other, a stretch for each bucket and run, and a footer
//! that lists the row groups of all. Other programs read that footer and never notice; a column
//! `bucket`, constant in each row group, lets them skip the others by its statistics. We read a
//! bucket by the place and length of its stretches, which the manifest records with rows and
//! CRC-32: a small footer and the asked-for columns, in a few ranged reads each, and nothing that
//! grows with the file. `verify` compares the two kinds of footers. Rejected: one footer with the
//! buckets by row group, which holds 2,700 column chunks in a lake of 128 buckets and is parsed for
//! every bucket anew or kept in memory for every file; larger row groups made of the pages of
//! several runs, which no dictionary survives; a sort by spilling, which writes everything twice.
//!
//! A thread holds the rows of a run (0.8 to 1.0 million) in columns by bucket and writes them bucket
//! by bucket, so memory is bounded however large a part is. Within a bucket of a file rows are in
//! the order of time: a run that begins before the last row of its bucket begins another file
//! (`part-A-B-1.parquet`), and so does the seventeenth run.
//!
//! **A journal beside the manifest.** A segment is recorded by a line with its own checksum in
//! `manifest.journal`, synced; the end of the run, or the start of the next, stores the whole
//! manifest by renaming and removes the journal. Readers take the journal first and then the
//! manifest, so that no fold in between hides a part. Writing the manifest for every segment cost
//! the square of their number.
//!
//! **Encodings.** Whole numbers as `DELTA_BINARY_PACKED`, quantities as `BYTE_STREAM_SPLIT`, names
//! with a dictionary, all under LZ4. Dictionaries of quantities cost a hash per value and save
//! little: a column of the usage table has more distinct values than a dictionary page holds.
//!
//! **One lake for every kind of trace.** A format brings a [`crate::schema::Source`], its columns, and a
//! parser of text to rows; everything after that asks the same tables. Columns that only some logs
//! have follow the common ones and stand only in lakes of those logs, so that a lake of the Google
//! trace is what it was before there were others. A file that fills several tables is read once
//! for each: that keeps a part of a table the unit of storing, resuming and sharding, and logs are
//! small.
//!
//! **What a log leaves open is assumed only where there would be no event at all**, and counted
//! (remarks). Neither large log at hand has a single wait or status; without a start and an end
//! there would be nothing to ask. What is made up by the rule stays recognisable: the columns that
//! hold the log's own words (`wait_us`, `status`) are empty there.
//!
//! **Results share a folder, a report has its own.** The folder of `--out` may hold results of
//! several commands and files of the user. So files get their places one by one, and a list of them
//! is written first: the next run finishes what a kill has cut short, and checksums reveal the mix
//! until then. A report is one thing: it is written beside and takes the place of the earlier one
//! in one step. Neither overwrites what this program has not written there. Rejected: replacing the
//! whole folder of results, which would move a lake and the user's files with it.
//!
//! **An analysis is known by a checksum** of its resolved `analysis.toml` and of what it reads.
//! Steps that are done stay done when another step's options change; their JSON then gets the new
//! checksum, and no digit of their numbers changes. A report shows results of one checksum.
//!
//! **Facts are SQL, studies fold.** Each fact is defined by a file of `queries/`. The studies fold
//! over the same rows in Rust ([`crate::facts::tasks`], [`crate::studies::fold`]) in one pass for all thresholds
//! and rules, which no query can; tests compare the two, fact by fact.
//!
//! **One scene for all detectors.** A detector is told the same of its group whether history is walked
//! ([`crate::replay::detect`]) or a cluster is simulated ([`crate::replay::engine`]), so that one implementation is
//! both scored and put to work. What several would keep for themselves (order statistics of finished
//! tasks) is kept once beside them.
//!
//! **Sequences in SQL are put together by position.** The engines spell the aggregate that joins
//! strings in a stated order in three ways; sixteen conditional maxima and three more steps for
//! long sequences are plain SQL in all of them.
