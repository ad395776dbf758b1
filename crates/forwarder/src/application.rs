//! The applications of a node.
use crate::face::AppId;
use recoup_packet::data::Data;
use recoup_packet::name::Name;
use recoup_transport::application::{AppInput, AppOutput, Application};
use recoup_transport::time::Instant;

/// An application and its prefixes.
struct Attached {
    application: Box<dyn Application>,
    prefixes: Vec<Name>,
    flow_nonce: Option<u64>,
}

/// Applications by number; freed numbers are reused.
#[derive(Default)]
pub(crate) struct Applications {
    places: Vec<Option<Attached>>,
    /// Free indices of `places`.
    free: Vec<usize>,
    /// Index of the next application to poll.
    turn: usize,
}

impl Applications {
    pub(crate) fn attach(
        &mut self,
        application: Box<dyn Application>,
        prefixes: Vec<Name>,
    ) -> AppId {
        let flow_nonce = application.flow_nonce();
        let attached = Some(Attached { application, prefixes, flow_nonce });
        let place = self.free.pop().unwrap_or(self.places.len());
        match self.places.get_mut(place) {
            Some(free) => *free = attached,
            None => self.places.push(attached),
        }
        AppId(place as u32)
    }

    /// Removes an application; returns its prefixes, unless it is gone already.
    pub(crate) fn detach(&mut self, app: AppId) -> Option<Vec<Name>> {
        let place = app.0 as usize;
        let attached = self.places.get_mut(place)?.take()?;
        self.free.push(place);
        Some(attached.prefixes)
    }

    /// The application with the lowest number, from `from` on, that still waits for Data.
    pub(crate) fn awaiting(&self, from: AppId, data: &Data) -> Option<AppId> {
        let places = self.places.iter().enumerate().skip(from.0 as usize);
        let mut attached = places.filter_map(|(place, it)| Some((place, it.as_ref()?)));
        attached.find(|(_, it)| it.application.awaits(data)).map(|(place, _)| AppId(place as u32))
    }

    /// Flow nonce of the application's Interests.
    pub(crate) fn flow_nonce(&self, app: AppId) -> Option<u64> {
        self.places.get(app.0 as usize)?.as_ref()?.flow_nonce
    }

    /// Delivers an input to one application; `false` if it is gone.
    pub(crate) fn deliver(&mut self, now: Instant, app: AppId, input: AppInput) -> bool {
        let Some(Some(attached)) = self.places.get_mut(app.0 as usize) else {
            return false;
        };
        attached.application.handle(now, input);
        true
    }

    /// Delivers an input to all applications.
    pub(crate) fn deliver_to_all(&mut self, now: Instant, input: &AppInput) {
        for attached in self.places.iter_mut().flatten() {
            attached.application.handle(now, input.clone());
        }
    }

    /// Whether no application is attached, as in most nodes of a network.
    #[inline]
    fn is_empty(&self) -> bool {
        self.free.len() == self.places.len()
    }

    /// The next output of any application, in round-robin order.
    #[inline]
    pub(crate) fn poll(&mut self, now: Instant) -> Option<(AppId, AppOutput)> {
        if self.is_empty() { None } else { self.poll_each(now) }
    }

    #[inline(never)]
    fn poll_each(&mut self, now: Instant) -> Option<(AppId, AppOutput)> {
        for _ in 0..self.places.len() {
            let place = self.turn;
            let output = match self.places.get_mut(place)? {
                Some(attached) => attached.application.poll(now),
                None => None,
            };
            if let Some(output) = output {
                return Some((AppId(place as u32), output));
            }
            self.turn = if place + 1 < self.places.len() { place + 1 } else { 0 };
        }
        None
    }

    #[inline]
    pub(crate) fn deadline(&self) -> Option<Instant> {
        if self.is_empty() { None } else { self.first_deadline() }
    }

    #[inline(never)]
    fn first_deadline(&self) -> Option<Instant> {
        self.places.iter().flatten().filter_map(|attached| attached.application.deadline()).min()
    }
}
