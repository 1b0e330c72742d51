//! `jobfate completions` and `jobfate man`: completions of a shell, and manual pages.

use std::path::{Path, PathBuf};
use std::{fs, io};

use clap::Args;
use clap_complete::Shell;
use clap_mangen::Man;

use super::console;
use jobfate::faults::{Context, Result, Usage};

/// Print completions for a shell
///
/// Each shell looks for them in a different place; the examples show the usual ones.
#[derive(Args, Debug)]
#[command(
    after_long_help = "Examples:\n  jobfate completions bash > ~/.local/share/bash-completion/completions/jobfate\n  jobfate completions zsh > ~/.zfunc/_jobfate\n  jobfate completions fish > ~/.config/fish/completions/jobfate.fish"
)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}

pub(crate) fn completions(args: &CompletionsArgs) -> Result<()> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut super::command(), "jobfate", &mut text);
    Ok(console::data_bytes(&text)?)
}

/// Write the manual pages
///
/// Prints the page of jobfate itself; with --out, writes that page and one for each command into a
/// folder.
#[derive(Args, Debug)]
#[command(
    after_long_help = "Examples:\n  jobfate man > jobfate.1\n  jobfate man --out ~/.local/share/man/man1"
)]
pub(crate) struct ManArgs {
    /// Folder for the pages of all commands
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

pub(crate) fn man(args: &ManArgs) -> Result<()> {
    let command = super::command();
    let Some(folder) = &args.out else {
        let mut text = Vec::new();
        Man::new(command).render(&mut text)?;
        return Ok(console::data_bytes(&text)?);
    };
    let failed = || format!("could not write into `{}`", folder.display());
    fs::create_dir_all(folder).with_context(failed)?;
    if let Some(path) = page_of_another(folder).with_context(failed)? {
        let text = format!("`{}` is not a manual page of jobfate: move it away", path.display());
        return Err(Usage(text).into());
    }
    let pages = clap_mangen::generate_to(command, folder);
    pages.with_context(failed)?;
    console::note(format!("wrote {}", folder.join("jobfate.1").display()));
    Ok(())
}

/// Finds a file that has the name of a manual page but was not written by this program. The folder
/// may hold pages of other programs.
fn page_of_another(folder: &Path) -> io::Result<Option<PathBuf>> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !name.starts_with("jobfate") || !name.ends_with(".1") {
            continue;
        }
        let is_file = fs::symlink_metadata(&path)?.is_file();
        let is_page = is_file && String::from_utf8_lossy(&fs::read(&path)?).contains(".TH jobfate");
        if !is_page {
            return Ok(Some(path));
        }
    }
    Ok(None)
}
