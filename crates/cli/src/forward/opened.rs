//! Faces and listeners of the configuration, and their update at a reload.
//!
//! An unchanged face or listener is not touched: its queue and its connections stay.
use super::Opening;
use super::config::{FaceConfig, ForwardConfig, Listen};
use super::traced::Traced;
use crate::error::{Failure, face_failure};
use recoup::session::is_taken;
use recoup_forwarder::management::Notice;
use recoup_forwarder::node::{Input, Machine, RouteChange};
use recoup_io::driver::{Driver, ListenerHandle};
use recoup_io::face::{FaceError, FaceId, FaceUri};
use recoup_packet::name::Name;
use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;

/// Open faces and listeners.
#[derive(Debug, Default)]
pub(super) struct Opened {
    listeners: Vec<(FaceUri, Vec<ListenerHandle>)>,
    /// By name.
    faces: BTreeMap<String, (String, FaceId)>,
    /// Routes and what they cost.
    routes: BTreeMap<(Name, FaceId), u64>,
    strategies: BTreeMap<Name, String>,
    /// Log lines about the last update.
    notices: Vec<String>,
}

impl Opened {
    /// Addresses of the listeners.
    pub(super) fn places(&self) -> Vec<String> {
        let handles = self.listeners.iter().flat_map(|(_, handles)| handles);
        handles.map(|handle| handle.uri.to_string()).collect()
    }

    /// Log lines about the last update.
    pub(super) fn take_notices(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notices)
    }

    /// The number of a configured face that is open.
    pub(super) fn face(&self, name: &str) -> Option<FaceId> {
        self.faces.get(name).map(|(_, face)| *face)
    }

    /// Opens and closes faces as configured, and updates the node. Returns the failures; everything else of the
    /// configuration is applied nevertheless.
    pub(super) fn follow(
        &mut self,
        config: &ForwardConfig,
        driver: &mut Driver,
        forwarder: &mut Traced,
        opening: Opening,
    ) -> Vec<Failure> {
        let mut failures = self.listen(config, driver);
        let faces = self.connect(config, driver, forwarder, &mut failures);
        self.route(config, &faces, driver, forwarder);
        self.choose(config, driver, forwarder, opening);
        let channels = Notice::Channels(self.places());
        forwarder.handle(driver.now(), channels.into());
        failures
    }

    fn listen(&mut self, config: &ForwardConfig, driver: &mut Driver) -> Vec<Failure> {
        let mut wanted: Vec<&Listen> = config.listen.iter().collect();
        self.listeners.retain(|(uri, handles)| {
            let place = wanted.iter().position(|it| it.uri == *uri);
            let limits = place.map(|place| wanted.remove(place).limits);
            for handle in handles {
                match limits {
                    Some(limits) => driver.set_listener_limits(handle.id, limits),
                    None => driver.close_listener(handle.id),
                }
            }
            limits.is_some()
        });
        let mut failures = Vec::new();
        for Listen { uri, limits } in wanted {
            match listen_everywhere(uri, driver) {
                Ok(handles) => {
                    for handle in &handles {
                        driver.set_listener_limits(handle.id, *limits);
                        let wait = |why| format!("{uri} is not open yet: {why}; it is tried again");
                        self.notices.extend(handle.waits.as_ref().map(wait));
                    }
                    self.listeners.push((uri.clone(), handles));
                }
                Err(error) => failures.push(listen_failure(&error)),
            }
        }
        failures
    }

    /// The configured faces in their order; those that could not be opened are `None`.
    fn connect(
        &mut self,
        config: &ForwardConfig,
        driver: &mut Driver,
        forwarder: &mut Traced,
        failures: &mut Vec<Failure>,
    ) -> Vec<Option<FaceId>> {
        let wanted: BTreeSet<String> = config.faces.iter().map(FaceConfig::text).collect();
        self.faces.retain(|_, (text, face)| {
            let stays = wanted.contains(text);
            if !stays {
                driver.close(*face);
            }
            stays
        });
        let mut faces = Vec::new();
        for wanted in &config.faces {
            if let Some((_, face)) = self.faces.get(&wanted.name) {
                faces.push(Some(*face));
                continue;
            }
            let uri = &wanted.uri;
            let opened = match (uri, wanted.local) {
                _ if uri.is_medium() => driver.keep_medium(uri, wanted.medium.clone()),
                (FaceUri::Udp(to), Some(local)) => driver.keep_from(local, to),
                _ => driver.keep(uri),
            };
            let face = match opened {
                Ok(face) => face,
                Err(error) => {
                    failures.push(face_failure(&error));
                    faces.push(None);
                    continue;
                }
            };
            driver.set_recovery(face, wanted.recovery);
            driver.set_limits(face, wanted.limits);
            if let Some(mtu) = wanted.mtu {
                driver.set_mtu(face, mtu);
            }
            if let Some(scheduling) = wanted.scheduling() {
                let scheduling = Box::new(scheduling);
                forwarder.handle(driver.now(), Input::Schedule { face, scheduling });
            }
            self.faces.insert(wanted.name.clone(), (wanted.text(), face));
            faces.push(Some(face));
        }
        faces
    }

    fn route(
        &mut self,
        config: &ForwardConfig,
        faces: &[Option<FaceId>],
        driver: &Driver,
        forwarder: &mut Traced,
    ) {
        let wanted: BTreeMap<(Name, FaceId), u64> = config
            .routes
            .iter()
            .filter_map(|route| {
                Some(((route.prefix.clone(), (*faces.get(route.face)?)?), route.cost))
            })
            .collect();
        let mut change = |prefix: &Name, face: FaceId, cost| {
            let change = RouteChange { prefix: prefix.clone(), face, cost };
            forwarder.handle(driver.now(), Input::Route(change));
        };
        for (prefix, face) in self.routes.keys().filter(|route| !wanted.contains_key(route)) {
            change(prefix, *face, None);
        }
        let other = wanted.iter().filter(|(route, cost)| self.routes.get(route) != Some(cost));
        for ((prefix, face), cost) in other {
            change(prefix, *face, Some(*cost));
        }
        self.routes = wanted;
    }

    /// At first the node was made with its strategies.
    fn choose(
        &mut self,
        config: &ForwardConfig,
        driver: &Driver,
        forwarder: &mut Traced,
        opening: Opening,
    ) {
        let wanted = config.strategies();
        if opening == Opening::Again {
            let gone = self.strategies.keys().filter(|prefix| !wanted.contains_key(prefix));
            let gone = gone.map(|prefix| (prefix.clone(), None));
            let other =
                wanted.iter().filter(|(prefix, text)| self.strategies.get(prefix) != Some(text));
            let other = other.map(|(prefix, text)| (prefix.clone(), Some(text.clone())));
            for (prefix, text) in gone.chain(other).collect::<Vec<_>>() {
                forwarder.handle(driver.now(), Notice::Strategy { prefix, text }.into());
            }
        }
        self.strategies = wanted;
    }
}

/// The failure of a listener. A `recoup serve` that was started without a forwarder may have the port.
fn listen_failure(error: &FaceError) -> Failure {
    let failure = face_failure(error);
    match is_taken(error) {
        true => failure.advise(
            "end that program and start it again after the forwarder, or choose another port (uri under [[listen]])",
        ),
        false => failure,
    }
}

/// Listens at all addresses that a host stands for; those of a family that this machine does not speak may be missing.
fn listen_everywhere(uri: &FaceUri, driver: &mut Driver) -> Result<Vec<ListenerHandle>, FaceError> {
    let (mut handles, mut failed) = (Vec::new(), None);
    for place in uri.each()? {
        match driver.listen(&place) {
            Ok(handle) => handles.push(handle),
            Err(FaceError::Listen { source, .. })
                if source.kind() == ErrorKind::AddrNotAvailable =>
            {
                failed = Some(FaceError::Listen { uri: place, source });
            }
            Err(error) => {
                handles.iter().for_each(|handle| driver.close_listener(handle.id));
                return Err(error);
            }
        }
    }
    match failed {
        Some(error) if handles.is_empty() => Err(error),
        _ => Ok(handles),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forward::traced::Traced;
    use recoup_forwarder::node::Node;
    use recoup_io::capture::Capturer;

    #[test]
    fn failures_are_reported_and_the_rest_opened() {
        let uris = ["unix:///nowhere/a", "udp4://127.0.0.1:0", "unix:///nowhere/b"];
        let text = uris.map(|uri| format!("[[listen]]\nuri = \"{uri}\"\n")).concat();
        let config = ForwardConfig::parse("node.toml", &text).unwrap();
        let mut driver = Driver::new().unwrap();
        let capturer = Capturer::new(Node::deterministic(0));
        let mut forwarder = Traced::new(capturer, None, 0).unwrap();
        let mut opened = Opened::default();
        let failures = opened.follow(&config, &mut driver, &mut forwarder, Opening::Again);
        let [first, second] = failures.as_slice() else { panic!("{failures:?}") };
        assert!(first.message.contains("/nowhere/a") && second.message.contains("/nowhere/b"));
        assert_eq!(opened.places().len(), 1);
    }
}
