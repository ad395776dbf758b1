//! The gateway process: runtime, client, end.
use super::GatewayArgs;
use crate::error::{Exit, Failure};
use crate::output;
use crate::stop::Stop;
use recoup::asynchronous::Client;
use recoup::reason;
use recoup_gateway::Hosts;
use serde::Serialize;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpListener;

/// Threads that answer requests. The sockets of the network have a thread of their own.
const THREADS: usize = 2;
/// Interval between two looks at signals.
const LOOK: Duration = Duration::from_millis(100);

/// Runs the command.
pub(crate) fn run(args: &GatewayArgs) -> Result<(), Failure> {
    let stop = Stop::polled()?;
    let mut options = args.options.clone();
    args.trust.settle(&mut options);
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(THREADS).enable_all().build().map_err(|error| {
        Failure::new(Exit::Other, format!("cannot start threads: {}", reason(&error)))
    })?;
    runtime.block_on(async {
        let mut builder = Client::builder().options(options).recovery(args.recovery);
        if let Some(face) = &args.face {
            builder = builder.face(face.to_string());
        }
        let client = builder.connect().await?;
        let listener = TcpListener::bind(args.listen).await;
        let listener = listener.map_err(|error| cannot_listen(args.listen, &error))?;
        let address = listener.local_addr().map_err(|error| cannot_listen(args.listen, &error))?;
        if args.json {
            output::json_line(&Listening { event: "listening", url: format!("http://{address}") })?;
        } else if !args.quiet {
            output::eprint(&format!("named content at http://{address}/ndn/NAME; Ctrl-C ends it"));
        }
        let hosts: Hosts = args.host.iter().cloned().collect();
        let router = recoup_gateway::router(client, hosts);
        recoup_gateway::serve(listener, router, wanted(&stop)).await;
        Ok(())
    })
}

/// The document of a gateway that has begun.
#[derive(Serialize)]
struct Listening {
    event: &'static str,
    url: String,
}

/// Resolves at the first signal.
async fn wanted(stop: &Stop) {
    while stop.wanted().is_none() {
        tokio::time::sleep(LOOK).await;
    }
}

fn cannot_listen(address: SocketAddr, error: &io::Error) -> Failure {
    let text = format!("cannot listen at {address}: {}", reason(error));
    Failure::new(Exit::Local, text).advise("choose another port with --listen, or end its program")
}
