//! The runs of a campaign, until they are made or a signal comes.
use crate::error::Failure;
use crate::stop::Stop;
use recoup_lab::campaign::Execution;
use recoup_lab::executor::Executor;

/// Makes the runs of a campaign with `executor` until a signal comes.
pub(crate) fn campaign<T>(
    stop: &Stop,
    executor: &dyn Executor,
    run: impl FnOnce(Execution<'_>) -> recoup_lab::Result<T>,
) -> Result<T, Failure> {
    let is_cancelled = || stop.wanted().is_some();
    run(Execution { executor, is_cancelled: &is_cancelled }).map_err(|error| stop.failure(error))
}
