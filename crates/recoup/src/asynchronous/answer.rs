//! Answers that futures make. Interests leave the driver thread by one bounded channel, and answers return by another.
use crate::error::Result;
use crate::mode::Async;
use crate::serve::{Responder, ServeBuilder, Server, start};
use bytes::Bytes;
use recoup_packet::interest::Interest;
use recoup_transport::application::{AppInput, AppOutput, Application, ReturnPath};
use recoup_transport::time::Instant;
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, mpsc};
use tokio::runtime::Handle;
use tokio::sync::mpsc as channel;
use tokio::task::JoinSet;

/// Interests that are being answered at a time.
const MAX_ANSWERS: usize = 256;

/// An Interest that waits for its answer.
type Question = (Arc<Interest>, ReturnPath);
/// An answer: `None` if there is no such content.
type Answer = (Question, Option<Bytes>);

/// The producer's side in the driver thread.
struct Deferred {
    responder: Responder,
    questions: channel::Sender<Question>,
    answers: Receiver<Answer>,
    /// Interests whose answers are being made.
    open: usize,
}

impl Application for Deferred {
    fn handle(&mut self, _now: Instant, input: AppInput) {
        while let Ok(((interest, path), content)) = self.answers.try_recv() {
            self.open -= 1;
            self.responder.answer_with(&interest, path, content);
        }
        if let AppInput::Interest { interest, path } = input {
            let has_free_space = self.open < MAX_ANSWERS;
            match has_free_space && self.questions.try_send((interest, path)).is_ok() {
                true => self.open += 1,
                false => {
                    tracing::debug!("an Interest is dropped: {MAX_ANSWERS} are being answered")
                }
            }
        }
    }

    fn poll(&mut self, now: Instant) -> Option<AppOutput> {
        self.responder.poll(now)
    }

    fn deadline(&self) -> Option<Instant> {
        None
    }
}

/// Starts a server whose answers are made by `answer`, in `runtime`.
pub(super) fn serve<F>(
    builder: ServeBuilder<Async>,
    answer: impl Fn(Interest) -> F + Send + Sync + 'static,
    runtime: &Handle,
) -> Result<Server>
where
    F: Future<Output = Option<Bytes>> + Send + 'static,
{
    let (questions, asked) = channel::channel(MAX_ANSWERS);
    let (sender, answers) = mpsc::channel();
    let (responder, place) = builder.into_responder(Box::new(|_| None))?;
    let link = Arc::downgrade(&place.client.link);
    let deferred = Deferred { responder, questions, answers, open: 0 };
    let server = start(place, move |_| Ok(Box::new(deferred)))?;
    let task = server.task();
    let wake = move || {
        if let Some(link) = link.upgrade() {
            // Zero bytes: each input makes the producer look for answers.
            let input = AppInput::Consumed { bytes: 0 };
            let _ = link.post(Box::new(move |engine| engine.deliver(task, input)));
        }
    };
    runtime.spawn(dispatch(asked, sender, answer, Arc::new(wake)));
    Ok(server)
}

/// Wakes the producer.
type Wake = Arc<dyn Fn() + Send + Sync>;

/// Makes answers until the producer is gone; those that are being made then are cancelled.
async fn dispatch<F>(
    mut asked: channel::Receiver<Question>,
    answers: Sender<Answer>,
    answer: impl Fn(Interest) -> F,
    wake: Wake,
) where
    F: Future<Output = Option<Bytes>> + Send + 'static,
{
    let mut running = JoinSet::new();
    while let Some(question) = asked.recv().await {
        while running.try_join_next().is_some() {}
        let future = answer(question.0.as_ref().clone());
        let (answers, wake) = (answers.clone(), Arc::clone(&wake));
        let delivery = Delivery { question, content: None, answers, wake };
        running.spawn(async move { delivery.complete(future.await) });
    }
}

/// Delivers an answer when it is dropped. A future that panics has no content.
struct Delivery {
    question: Question,
    content: Option<Bytes>,
    answers: Sender<Answer>,
    wake: Wake,
}

impl Delivery {
    fn complete(mut self, content: Option<Bytes>) {
        self.content = content;
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        let answer = (self.question.clone(), self.content.take());
        if self.answers.send(answer).is_ok() {
            (self.wake)();
        }
    }
}
