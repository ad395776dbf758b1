//! Commands to the forwarder of a client, and its datasets.
use crate::arrivals::Arrivals;
use crate::client::Client;
use crate::engine::Task;
use crate::error::{Error, Result};
use crate::trust;
use recoup_transport::application::Report;
use recoup_transport::management::{Inquiry, InquiryConfig, Managed, ManagementError, Question};
use recoup_transport::time::Instant;
use std::sync::mpsc::Sender;

/// An answer of a forwarder.
pub type Answer = std::result::Result<Managed, ManagementError>;

impl Client {
    /// Sends the forwarder at the face toward producers a question; `sign` names the key of a command. A command and a dataset
    /// have one answer. Events have no end.
    ///
    /// # Errors
    /// A key cannot be read, or the forwarder cannot be reached.
    pub fn inquire(&self, question: Question, sign: &str) -> Result<Arrivals<Answer>> {
        let (signer, rng) = (trust::signer(sign)?, self.rng()?);
        self.reach()?;
        Arrivals::begin(self, move |engine, task, answers| {
            let time_of_day = engine.session.driver.time_of_day();
            let inquiry = Inquiry::new(InquiryConfig { question, signer, time_of_day, rng });
            let owner = Asking { answers: Some(answers) };
            engine.start(task, Box::new(inquiry), Vec::new(), Box::new(owner));
        })
    }
}

/// The owner of a question.
struct Asking {
    answers: Option<Sender<Result<Answer>>>,
}

impl Task for Asking {
    fn report(&mut self, _now: Instant, report: Report) {
        if let (Report::Managed(managed), Some(answers)) = (report, &self.answers) {
            // Without a receiver, the operation is about to be cancelled.
            let _ = answers.send(Ok(managed.map(|it| *it).map_err(|it| *it)));
        }
    }

    fn has_ended(&self) -> bool {
        self.answers.is_none()
    }

    fn fail(&mut self, error: &Error) {
        if let Some(answers) = self.answers.take() {
            let _ = answers.send(Err(error.clone()));
        }
    }

    fn is_consumer(&self) -> bool {
        true
    }
}
