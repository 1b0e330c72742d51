//! Design decisions: the choice, the reason, and what was rejected.
//!
//! In: nothing. Out: nothing; this module is a page to read.
//!
//! **CPU time is added up in whole numbers.** [`crate::units::CpuTime`] holds 2^-64
//! CPU-microseconds in 128 bits. A rate is an `f32`, and a length is a whole number of
//! microseconds. So every sum is exact. It is the same for any number of threads, order of parts
//! and number of buckets. Rejected: compensated `f64` sums, which are close but not equal, and not
//! faster.
//!
//! **One file per segment, bucket by bucket.** Rows are spread over buckets by job, so that
//! questions about jobs are answered bucket by bucket in bounded memory. Consecutive parts of at
//! most 32 MiB, or one larger part, are a segment and share a file: 64 parts of usage in 128
//! buckets make 64 files, and not 17,000 files of 10,000 rows. The division depends only on the raw
//! folder, so an ingest that was killed and run again writes the same bytes.
//!
//! ```text
//!  PAR1 │ PAR1 bucket 0 footer PAR1 │ PAR1 bucket 1 footer PAR1 │ ... │ footer of all │ PAR1
//!       └ a stretch: a whole Parquet stream of one or more row groups
//! ```
//!
//! A file is a sequence of Parquet streams, one stretch for each bucket and run, and a footer that
//! lists the row groups of all. Other programs read only that footer; a column `bucket`, constant
//! in each row group, lets them skip other buckets by its statistics. jobfate finds a bucket by the
//! position and length of its stretches, which the manifest records with rows and CRC-32. It reads
//! a small footer and the requested columns, in a few ranged reads each, and nothing that grows
//! with the file. `verify` compares the two kinds of footers. Rejected: one footer with a row group
//! per bucket. It holds 2,700 column chunks in a lake of 128 buckets, and would be parsed again for
//! every bucket, or kept in memory for every file. Rejected: larger row groups made of the pages of
//! several runs, because their dictionaries differ. Rejected: a sort on disk, because it writes
//! everything twice.
//!
//! A thread holds the rows of a run (0.8 to 1.0 million) in columns by bucket and writes them
//! bucket by bucket, so memory is bounded even for large parts. Within a bucket of a file, rows are
//! ordered by time: a run that starts before the last row of its bucket starts another file
//! (`part-A-B-1.parquet`), and so does the seventeenth run.
//!
//! **A journal next to the manifest.** A segment is recorded by a line with a checksum in
//! `manifest.journal`, synced. The end of the run, or the start of the next, stores the whole
//! manifest by renaming and removes the journal. Readers read the journal first and then the
//! manifest, so that they miss no part if the journal is merged in between. Writing the manifest
//! for every segment took quadratic time.
//!
//! **Encodings.** Whole numbers as `DELTA_BINARY_PACKED`, quantities as `BYTE_STREAM_SPLIT`, names
//! with a dictionary, all under LZ4. Dictionaries of quantities cost a hash per value and save
//! little: a column of the usage table has more distinct values than a dictionary page holds.
//!
//! **One lake for every kind of trace.** A format adds a [`crate::schema::Source`], its columns,
//! and a parser from text to rows; all later steps use the same tables. Columns that only some logs
//! have come after the common ones, and exist only in lakes of those logs. So lakes of the Google
//! trace did not change when other formats were added. A file that fills several tables is read
//! once for each: that keeps a part of a table the unit of storing, resuming and sharding, and logs
//! are small. A log of several files that share jobs or machines is read twice more before that.
//!
//! **A value that a log does not record is assumed only if there would otherwise be no event.**
//! Every assumption is counted (remarks). The two large logs that we tested have no waits and no
//! statuses; without a start and an end no question could be answered. Assumed events can be
//! recognised: the columns with the log's own values (`wait_us`, `status`) are empty.
//!
//! **Results share a folder, a report has its own.** The folder of `--out` may hold results of
//! several commands and files of the user. So files are moved into place one by one, and a list of
//! them is written first. If a run is killed, the next run completes the move. Until then,
//! checksums reveal the mix. A report is a unit: it is written to a new folder, which replaces the
//! earlier one in one step. Neither overwrites files that this program did not write. Rejected:
//! replacing the whole folder of results, which would move a lake and the user's files with it.
//!
//! **The portal uses maud, the report writes its own HTML.** Pages of the portal repeat what users
//! enter, and maud escapes every value automatically. Only the feature `serve` depends on it. The
//! report is part of every build, including the library without the program. Its sentences, tables
//! and figures are written as text by `report/html.rs`, which escapes all names from traces.
//!
//! **An analysis is identified by a checksum** of its complete `analysis.toml` and of its inputs.
//! Completed steps stay completed when the options of another step change; their JSON then gets the
//! new checksum, and their numbers stay the same. A report shows results of one checksum.
//!
//! **Facts are SQL; studies are Rust.** Each fact is defined by a file of `queries/`. The studies
//! fold over the same rows in Rust ([`crate::facts::tasks`], [`crate::studies::fold`]) in one pass
//! for all thresholds and rules. No query can do that. Tests compare the two, fact by fact.
//!
//! **One pass for the studies that read most.** In an analysis, `account`, `sweep` and `fairness`
//! fold each bucket one after another while its jobs, tasks and usage are in memory, so that
//! `analyze` reads usage once for all three. The jobs that get a page are known only after the
//! sweep, so the usage of their buckets is read once more. Detectors are not included: they process
//! the groups of one bucket on all cores, while the others process one bucket per core.
//!
//! **One scene for all detectors.** A detector gets the same information about its group from
//! recorded history ([`crate::replay::detect`]) and from a simulated cluster
//! ([`crate::replay::engine`]). So the same implementation is scored and used. Data that several
//! detectors need (order statistics of finished tasks) is kept once for all.
//!
//! **Sequences in SQL are joined by position.** The engines have three different aggregates that
//! join strings in a given order; sixteen conditional maxima, and three more steps for long
//! sequences, are plain SQL in all of them.
