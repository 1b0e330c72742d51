//! The `jobfate` program; everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    jobfate::cli::main()
}
