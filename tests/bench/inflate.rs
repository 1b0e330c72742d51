//! The lower bound of the ingest benchmark: inflates every part of a folder and discards the text.
//!
//! It uses the library, the block size and the number of threads of `jobfate ingest`; it hashes
//! once, and does not parse or write. Usage: `inflate TRACE_DIR THREADS`.
#![expect(clippy::print_stdout, reason = "this is a program of its own")]

use std::path::Path;

use jobfate::sources::TraceFolder;
use jobfate::sources::part::inflate_part;
use rayon::prelude::*;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let folder = TraceFolder::open(Path::new(&args[1]), None).expect("the folder holds a trace");
    let threads = args[2].parse().expect("a number of threads");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread pool");
    let parts: Vec<_> = folder.parts.values().flatten().collect();
    let bytes: u64 = pool.install(|| {
        parts
            .par_iter()
            .with_max_len(1)
            .map(|part| inflate_part(part).expect("the part can be read"))
            .sum()
    });
    println!("{bytes} bytes of text");
}
