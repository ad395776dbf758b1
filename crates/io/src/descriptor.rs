//! File descriptors of the process: how many it may have, and whether few are left.
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Descriptors that are kept for local applications, files and the status page.
const SPARE: usize = 32;

/// Raises the soft limit of open descriptors to the hard one, which is all that a process may do by itself.
///
/// # Errors
/// If the system rejects the limit.
pub fn raise_limit() -> io::Result<()> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current == maximum {
        return Ok(());
    }
    Ok(setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })?)
}

/// Descriptors that may be open at the same time.
pub(crate) fn limit() -> usize {
    let limit = getrlimit(Resource::Nofile).current;
    limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX)
}

/// Whether fewer than [`SPARE`] of `limit` descriptors are free, or an eighth of them; `any` is one that is open.
///
/// The system gives out the lowest free number, so the number of a new descriptor is the number in
/// use.
pub(crate) fn are_short(limit: usize, any: BorrowedFd<'_>) -> bool {
    rustix::io::dup(any).map_or(true, |next| is_spare(limit, next.as_raw_fd() as usize))
}

fn is_spare(limit: usize, number: usize) -> bool {
    number >= limit.saturating_sub(SPARE.min(limit / 8))
}

/// Whether a descriptor could not be opened because no more may be, in this process or in all.
pub(crate) fn are_exhausted(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let errno = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(errno, Some(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn descriptors_are_short_below_the_spare_ones() {
        let any = std::io::stdin();
        assert!(!are_short(usize::MAX, any.as_fd()));
        assert!(are_short(0, any.as_fd()));
        let spare = |limit| (0..limit).filter(|number| is_spare(limit, *number)).count();
        assert_eq!([16, 256, 1_024, 20_000].map(spare), [2, 32, 32, 32]);
    }

    #[test]
    fn only_a_lack_of_descriptors_counts() {
        let is = |errno: rustix::io::Errno| are_exhausted(&errno.into());
        assert!(is(rustix::io::Errno::MFILE) && is(rustix::io::Errno::NFILE));
        assert!(!is(rustix::io::Errno::AGAIN) && !is(rustix::io::Errno::CONNABORTED));
    }
}
