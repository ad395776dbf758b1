//! `recoup arena`: transports judged on the same cases, in simulation or on sockets.
//!
//! [`choice`] finds cases and transports, [`gather`] makes the runs that are missing and scores all runs. A
//! [`report::Report`] becomes a [`table`] or a document.
mod args;
mod choice;
mod gather;
mod list;
mod report;
mod sockets;
mod table;

pub(crate) use args::ArenaArgs;

use crate::error::Failure;
use crate::output::{self, Stream};
use crate::terminal::path_line;
use gather::Gathering;
use recoup_transport::transport::Transport;
use report::Report;

/// Runs the command.
pub(crate) fn run(args: &ArenaArgs) -> Result<(), Failure> {
    let chosen = choice::cases(args)?;
    if args.list {
        return list::print(&chosen, args.json);
    }
    let default = Transport::default();
    let transports = choice::transports(args, &default)?;
    let chosen = sockets::possible(chosen, args)?;
    let gathering = Gathering { args, transports: &transports, chosen: &chosen };
    let gathered = gathering.run()?;
    let report = Report {
        args,
        default: &default,
        transports: &transports,
        chosen: &chosen,
        gathered: &gathered,
    };
    if args.json {
        return output::json(&report.document(), Stream::Out);
    }
    if !args.quiet {
        output::print(table::text(&report).as_bytes())?;
        let (all, made) = gathered.runs;
        output::eprint(&format!("{made} of {all} runs were made now, in {}", path_line(&args.out)));
    }
    Ok(())
}
