//! What the process was given by whoever started it, and the standard library does not tell.
//!
//! - Whether standard output was closed (`>&-`). The standard library opens `/dev/null` in its place before `main`, so that
//!   all that is written there would be lost without a word. This looks before that.
//! - Whether hangups are ignored, as `nohup` asks for: a handler of ours must not undo that.

#[cfg(unix)]
mod unix {
    #![allow(unsafe_code, reason = "three calls of the C library, on numbers alone")]

    use std::sync::atomic::{AtomicBool, Ordering};

    static CLOSED: AtomicBool = AtomicBool::new(false);

    extern "C" fn look() {
        // SAFETY: asks for flags of a file descriptor, and fails if there is none.
        if unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) } == -1 {
            CLOSED.store(true, Ordering::Relaxed);
        }
    }

    // SAFETY: the linker's list of functions that are called before `main`; this one needs nothing that is set up later.
    #[used]
    #[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
    #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
    static LOOK: extern "C" fn() = look;

    pub(crate) fn stdout_is_closed() -> bool {
        CLOSED.load(Ordering::Relaxed)
    }

    pub(crate) fn hangups_are_ignored() -> bool {
        // SAFETY: asks how a signal is handled, into a structure of that type.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            libc::sigaction(libc::SIGHUP, std::ptr::null(), &raw mut action) == 0
                && action.sa_sigaction == libc::SIG_IGN
        }
    }

    pub(crate) fn ignore_hangups() {
        // SAFETY: sets a signal to be ignored.
        unsafe { libc::signal(libc::SIGHUP, libc::SIG_IGN) };
    }
}

#[cfg(not(unix))]
mod elsewhere {
    pub(crate) fn stdout_is_closed() -> bool {
        false
    }

    pub(crate) fn hangups_are_ignored() -> bool {
        false
    }

    pub(crate) fn ignore_hangups() {}
}

#[cfg(not(unix))]
pub(crate) use elsewhere::{hangups_are_ignored, ignore_hangups, stdout_is_closed};
#[cfg(unix)]
pub(crate) use unix::{hangups_are_ignored, ignore_hangups, stdout_is_closed};
