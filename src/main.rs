//! The `jobfate` program: its command line. All computation is in the library.

use std::process::ExitCode;

mod cli;
#[cfg(test)]
mod python;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cli::main()
}
