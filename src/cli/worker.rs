//! This process as a worker of the portal.
//!
//! In: the variable that the portal sets, and stdin, which closes when the portal ends. Out: lines
//! on stderr. A worker never runs longer than its portal, and never takes more memory than allowed.

use std::io::{self, Read};
use std::thread;
use std::time::Duration;

use sysinfo::{ProcessRefreshKind, ProcessesToUpdate, System};

use super::console;
use jobfate::fairness::program;
use jobfate::faults::Code;
use jobfate::serve::MEMORY;

/// Time between two checks of a worker.
const LOOK: Duration = Duration::from_millis(100);

/// Starts the watch if this process was started by a portal.
pub(super) fn watch() {
    let Some(limit) = std::env::var(MEMORY).ok().and_then(|text| text.parse::<u64>().ok()) else {
        return;
    };
    // If no thread can be started, the command itself reports it.
    let _ = thread::Builder::new().spawn(follow_stdin);
    let _ = thread::Builder::new().spawn(move || look(limit));
}

/// Ends this process when the portal has ended.
fn follow_stdin() {
    let mut byte = [0];
    while io::stdin().read(&mut byte).is_ok_and(|count| 0 < count) {}
    end(Code::Interrupted);
}

fn look(limit: u64) {
    let (own, mut system) = (sysinfo::get_current_pid(), System::new());
    loop {
        thread::sleep(LOOK);
        let Ok(pid) = own else { continue };
        let about = ProcessRefreshKind::nothing().with_memory();
        system.refresh_processes_specifics(ProcessesToUpdate::Some(&[pid]), false, about);
        let taken = system.process(pid).map_or(0, sysinfo::Process::memory);
        if limit < taken {
            let megabytes = limit >> 20;
            console::problem(format!(
                "error: the question takes more than {megabytes} MiB of memory, the limit of this \
                portal"
            ));
            console::problem("hint: ask for less, such as fewer days or longer intervals");
            end(Code::Environment);
        }
    }
}

fn end(code: Code) {
    program::stop_all();
    #[expect(clippy::exit, reason = "the portal forgets what a worker leaves")]
    std::process::exit(code as i32);
}
