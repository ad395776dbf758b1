//! A client of a forwarder's management protocol, one request at a time.
use super::args::CtlArgs;
use crate::error::{Exit, Failure};
use crate::stop::Stop;
use recoup::Client;
use recoup::uplink::Uplink;
use recoup_forwarder::face::Recovery;
use recoup_packet::name::Name;
use recoup_transport::management::{
    ControlParameters, FaceEvent, Managed, ManagementError, Question, Record, Scope, Verb,
    decode_records,
};
use std::task::Poll;
use std::time::Duration;

/// Interval between two looks at signals.
const LOOK: Duration = Duration::from_millis(100);

/// Connection to a forwarder.
pub(super) struct Forwarder {
    client: Client,
    stop: Stop,
    sign: String,
}

impl Forwarder {
    /// The forwarder of the command line, or of this machine.
    pub(super) fn find(args: &CtlArgs) -> Result<Self, Failure> {
        let uplink = Uplink::find(args.face.as_ref())?;
        if uplink.is_direct {
            return Err(Uplink::no_forwarder().into());
        }
        let stop = Stop::polled()?;
        let client = Client::builder().uplink(uplink).recovery(Recovery::Off).connect()?;
        Ok(Self { client, stop, sign: args.sign.clone() })
    }

    /// Sends a command and returns its parameters.
    pub(super) fn command(
        &mut self,
        verb: Verb,
        parameters: ControlParameters,
    ) -> Result<ControlParameters, Failure> {
        self.try_command(verb, parameters)?.map_err(|error| rejected(verb, &error))
    }

    /// Sends a command and returns its parameters or the error.
    pub(super) fn try_command(
        &mut self,
        verb: Verb,
        parameters: ControlParameters,
    ) -> Result<Result<ControlParameters, ManagementError>, Failure> {
        let scope = Scope::Localhost;
        let question = Question::Command { scope, verb, parameters: Box::new(parameters) };
        Ok(match self.ask(question)? {
            Ok(Managed::Done(done)) => Ok(*done),
            Ok(_) => Ok(ControlParameters::default()),
            Err(error) => Err(error),
        })
    }

    /// Records of a dataset.
    pub(super) fn dataset<R: Record>(&mut self, name: &str) -> Result<Vec<R>, Failure> {
        let name = name.parse::<Name>().unwrap_or_default();
        self.dataset_by(name)
    }

    /// Records of a dataset.
    pub(super) fn dataset_by<R: Record>(&mut self, name: Name) -> Result<Vec<R>, Failure> {
        let content = match self.ask(Question::Dataset(name.clone()))? {
            Ok(Managed::Dataset(content)) => content,
            Ok(_) => Vec::new(),
            Err(error) => return Err(unanswered(&name, &error)),
        };
        decode_records(&content).map_err(|error| unanswered(&name, &error.into()))
    }

    fn ask(&mut self, question: Question) -> Result<Result<Managed, ManagementError>, Failure> {
        let mut answer = None;
        self.listen(question, &mut |managed| {
            answer = Some(managed);
            Ok(true)
        })?;
        let silence = ManagementError::NoAnswer { attempts: 0 };
        Ok(answer.unwrap_or(Err(silence)))
    }

    /// Passes on events until the user stops the command.
    pub(super) fn watch(
        &mut self,
        handle: &mut dyn FnMut(FaceEvent) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let name: Name = "/localhost/nfd/faces/events".parse().unwrap_or_default();
        self.listen(Question::Events(name.clone()), &mut |managed| match managed {
            Ok(Managed::Event(event)) => handle(event).map(|()| false),
            Ok(_) => Ok(false),
            Err(error) => Err(unanswered(&name, &error)),
        })
    }

    /// Passes answers to `take` until it returns false.
    fn listen(
        &mut self,
        question: Question,
        take: &mut dyn FnMut(Result<Managed, ManagementError>) -> Result<bool, Failure>,
    ) -> Result<(), Failure> {
        let mut answers = self.client.inquire(question, &self.sign)?;
        loop {
            let is_enough = match answers.next_within(LOOK) {
                Poll::Ready(Some(answer)) => take(answer?)?,
                Poll::Ready(None) => true,
                Poll::Pending => false,
            };
            if is_enough {
                return Ok(());
            }
            self.stop.wanted().map_or(Ok(()), Err)?;
        }
    }
}

pub(super) fn rejected(verb: Verb, error: &ManagementError) -> Failure {
    let (module, word) = verb.words();
    let failure = Failure::new(exit(error), format!("{module} {word}: {error}"));
    match advice(error) {
        Some(advice) => failure.advise(advice),
        None => failure,
    }
}

/// The remedy for a rejected command, if its message has none.
fn advice(error: &ManagementError) -> Option<&'static str> {
    match error {
        ManagementError::Rejected { code: 403, .. } => {
            Some("if it wants commands signed by a key that it trusts, name one with --sign")
        }
        ManagementError::Rejected { code: 501, .. } => {
            Some("it may not be a forwarder with NFD's management")
        }
        _ => None,
    }
}

fn unanswered(name: &Name, error: &ManagementError) -> Failure {
    Failure::new(exit(error), format!("{name}: {error}"))
}

fn exit(error: &ManagementError) -> Exit {
    match error {
        ManagementError::Rejected { code: 404 | 410, .. } => Exit::NotFound,
        ManagementError::Rejected { code: 400 | 406 | 414, .. } => Exit::Usage,
        ManagementError::Rejected { .. } | ManagementError::Malformed(_) => Exit::Other,
        ManagementError::NoAnswer { .. } => Exit::TimedOut,
        ManagementError::Nack(_) => Exit::Unreachable,
    }
}
