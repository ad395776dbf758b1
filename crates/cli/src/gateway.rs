//! `recoup gateway`: named content for programs that speak HTTP (feature `gateway`).
mod args;
#[cfg(feature = "gateway")]
mod serve;

pub(crate) use args::GatewayArgs;
#[cfg(feature = "gateway")]
pub(crate) use serve::run;

/// Reports that this program has no gateway.
#[cfg(not(feature = "gateway"))]
pub(crate) fn run(_: &GatewayArgs) -> Result<(), crate::error::Failure> {
    let remedy = "build it with `--features gateway`, or install a package of the program";
    Err(crate::error::Failure::usage("this program was built without the gateway").advise(remedy))
}
