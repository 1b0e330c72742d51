//! A check that must run before Rust's runtime starts.
//!
//! If stdout is closed, the runtime opens `/dev/null` instead, and a lost answer would count as
//! written. In: nothing. Out: whether stdout was open when the program started. On systems other
//! than Linux it counts as open.

use std::sync::atomic::{AtomicBool, Ordering};

static IS_STDOUT_CLOSED: AtomicBool = AtomicBool::new(false);

/// Whether the program was started without a stdout, as with `>&-`.
pub(crate) fn is_stdout_closed() -> bool {
    IS_STDOUT_CLOSED.load(Ordering::Relaxed)
}

#[cfg(target_os = "linux")]
mod linux {
    use std::sync::atomic::Ordering;

    use rustix::fs::lstat;
    use rustix::io::Errno;

    /// Runs before `main`, like all functions in this section.
    #[expect(
        unsafe_code,
        reason = "sections of a program are not checked; this one holds functions"
    )]
    #[used]
    // SAFETY: the section holds pointers to functions of this type. The function requests metadata
    // from the system twice: it uses no memory, no thread, and nothing that the runtime sets up.
    #[unsafe(link_section = ".init_array")]
    static LOOK: extern "C" fn() = look;

    extern "C" fn look() {
        let has_proc = lstat("/proc/self/fd").is_ok();
        let is_closed = has_proc && matches!(lstat("/proc/self/fd/1"), Err(Errno::NOENT));
        super::IS_STDOUT_CLOSED.store(is_closed, Ordering::Relaxed);
    }
}
