//! What the management of the machine wants of faces, and what it is told of them.
use super::face_entry::{Conduit, Face};
use super::{Arrival, Driver};
use crate::face::{Authority, FaceError, FaceId, FaceUri, LARGEST_FRAME_SENT, LEAST_MTU};
use recoup_forwarder::face::{Marking, Recovery};
use recoup_forwarder::management::{FaceDescription, FaceOrder, FaceRefusal, FaceSettings, Notice};
use recoup_transport::management::Persistency;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsRawFd;

impl Driver {
    /// Carries out what the management wants.
    pub(super) fn obey(&mut self, order: FaceOrder) {
        let (ticket, outcome) = match order {
            FaceOrder::Create { ticket, uri, settings } => (ticket, self.create(&uri, &settings)),
            FaceOrder::Update { ticket, face, settings } => (ticket, self.update(face, &settings)),
            FaceOrder::Destroy { face } => return self.close(face),
        };
        let made = Notice::FaceMade { ticket, outcome };
        self.arrivals.push_back(Arrival::Notice(Box::new(made)));
    }

    fn create(&mut self, uri: &str, settings: &FaceSettings) -> Result<FaceId, FaceRefusal> {
        let uri = canonical(uri)?;
        check(settings)?;
        let text = uri.to_string();
        let there = self.faces.iter().find(|(_, face)| face.remote_text() == text);
        if let Some((face, _)) = there {
            return Ok(*face);
        }
        let face = self.keep(&uri).map_err(|error| match error {
            FaceError::TooMany { .. } => FaceRefusal::TooMany,
            FaceError::Uri(_) => FaceRefusal::Malformed,
            _ => FaceRefusal::Unreachable,
        })?;
        let persistency = Some(settings.persistency.unwrap_or(Persistency::Persistent));
        self.set(face, &FaceSettings { persistency, ..settings.clone() });
        Ok(face)
    }

    fn update(&mut self, id: FaceId, settings: &FaceSettings) -> Result<FaceId, FaceRefusal> {
        check(settings)?;
        if !self.faces.contains_key(&id) {
            return Err(FaceRefusal::Gone);
        }
        self.set(id, settings);
        Ok(id)
    }

    fn set(&mut self, id: FaceId, settings: &FaceSettings) {
        let Some(face) = self.faces.get_mut(&id) else {
            return;
        };
        face.set(settings);
        // A face that is up comes up once more, as another than before.
        if face.is_up {
            self.arrivals.push_back(Arrival::Up(id));
        }
        self.tell_known(id);
    }

    /// The management is told what is known of a face.
    pub(super) fn tell_known(&mut self, id: FaceId) {
        if self.options.managed {
            self.arrivals.push_back(Arrival::Known(id));
        }
    }

    /// The management is told that a face is gone for good.
    pub(super) fn tell_gone(&mut self, face: FaceId) {
        if self.options.managed {
            let gone = Notice::FaceGone { face };
            self.arrivals.push_back(Arrival::Notice(Box::new(gone)));
        }
    }

    /// What is known of a face, if it is there.
    pub fn describe(&self, id: FaceId) -> Option<FaceDescription> {
        let face = self.faces.get(&id)?;
        let local = match &face.conduit {
            Conduit::Udp(peer) => self.port(peer.port).and_then(|port| port.local_address().ok()),
            Conduit::Link { link, .. } => link.local_address(),
            Conduit::Down { .. } => None,
        };
        Some(FaceDescription {
            uri: face.remote_text(),
            local_uri: face.local_text(local),
            persistency: if face.permanent { face.persistency } else { Persistency::OnDemand },
            local: face.is_local(),
            link_type: face.link_type(),
            mtu: face.mtu as u64,
            marking: face.marking,
            local_fields: face.local_fields,
            reliable: !face.uri.is_shared() && matches!(face.recovery, Recovery::Acked(_)),
        })
    }
}

impl Face {
    fn set(&mut self, settings: &FaceSettings) {
        let FaceSettings { persistency, mtu, marks, .. } = *settings;
        self.persistency = persistency.unwrap_or(self.persistency);
        self.local_fields = settings.local_fields.unwrap_or(self.local_fields);
        if let Some(mtu) = mtu.and_then(|mtu| usize::try_from(mtu).ok()) {
            self.mtu = mtu.min(LARGEST_FRAME_SENT);
        }
        if marks == Some(false) {
            self.marking = None;
        } else if let Some(before) = self.marking.or(marks.map(|_| Marking::default())) {
            self.marking = Some(Marking {
                interval: settings.marking_interval.unwrap_or(before.interval),
                threshold_octets: settings.marking_threshold.unwrap_or(before.threshold_octets),
            });
        }
        match settings.reliable {
            Some(true) if !matches!(self.recovery, Recovery::Acked(_)) => {
                self.recovery = Recovery::Acked(Default::default());
            }
            Some(false) if matches!(self.recovery, Recovery::Acked(_)) => {
                self.recovery = Recovery::Off;
            }
            _ => {}
        }
    }

    /// Where it leads, as forwarders write it.
    fn remote_text(&self) -> String {
        let accepted = !self.permanent;
        let fd = || match &self.conduit {
            Conduit::Link { link, .. } => link.fd().as_raw_fd(),
            Conduit::Udp(_) | Conduit::Down { .. } => -1,
        };
        match (&self.conduit, &self.uri) {
            (Conduit::Udp(peer), _) => FaceUri::Udp(Authority::from(peer.route.remote)).to_string(),
            (_, FaceUri::Unix(_)) if accepted => format!("fd://{}", fd()),
            (_, FaceUri::WebSocket(to, _)) if accepted => format!("wsclient://{to}"),
            (_, uri) => match (uri, self.addresses.first().copied().map(Authority::from)) {
                (FaceUri::Tcp(_), Some(to)) => FaceUri::Tcp(to).to_string(),
                (FaceUri::Udp(_), Some(to)) => FaceUri::Udp(to).to_string(),
                (uri, _) => uri.to_string(),
            },
        }
    }

    /// Its end here, as forwarders write it.
    fn local_text(&self, local: Option<SocketAddr>) -> String {
        let local = local.unwrap_or_else(|| SocketAddr::from(([0, 0, 0, 0], 0)));
        match &self.uri {
            FaceUri::Udp(_) => FaceUri::Udp(Authority::from(local)).to_string(),
            FaceUri::Tcp(_) => FaceUri::Tcp(Authority::from(local)).to_string(),
            FaceUri::WebSocket(..) => format!("ws://{}", Authority::from(local)),
            FaceUri::Ether(_) => {
                format!("dev://{}", self.medium.interface.as_deref().unwrap_or_default())
            }
            uri => uri.to_string(),
        }
    }
}

/// A face that can be opened without asking anybody for an address.
fn canonical(text: &str) -> Result<FaceUri, FaceRefusal> {
    let uri: FaceUri = text.parse().map_err(|_| FaceRefusal::Malformed)?;
    let resolved = |to: &Authority| {
        let host = to.host.split('%').next().unwrap_or_default();
        let all = host.parse::<IpAddr>().ok().and_then(|_| to.resolve().ok());
        let first = all.and_then(|all| all.first().copied()).filter(|first| first.port() != 0);
        first.ok_or(FaceRefusal::Malformed)
    };
    Ok(match &uri {
        uri if uri.is_medium() => return Err(FaceRefusal::Unsupported),
        FaceUri::Udp(to) => FaceUri::Udp(Authority::from(resolved(to)?)),
        FaceUri::Tcp(to) => FaceUri::Tcp(Authority::from(resolved(to)?)),
        FaceUri::WebSocket(to, path) => {
            FaceUri::WebSocket(Authority::from(resolved(to)?), path.clone())
        }
        _ => return Err(FaceRefusal::Unsupported),
    })
}

fn check(settings: &FaceSettings) -> Result<(), FaceRefusal> {
    match settings.mtu {
        Some(mtu) if mtu < LEAST_MTU as u64 => Err(FaceRefusal::Unsupported),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_face_to_be_opened_is_written_with_an_address() {
        let read = |text| canonical(text).map(|uri| uri.to_string());
        assert_eq!(read("udp://192.0.2.7").as_deref(), Ok("udp4://192.0.2.7:6363"));
        assert_eq!(read("tcp6://[2001:db8::1]:7").as_deref(), Ok("tcp6://[2001:db8::1]:7"));
        for text in ["udp://example.net", "udp4://192.0.2.7:0", "tcp4://[::1]", "nonsense"] {
            assert_eq!(read(text), Err(FaceRefusal::Malformed), "{text}");
        }
        assert_eq!(read("unix:///x"), Err(FaceRefusal::Unsupported));
        assert_eq!(read("udp4://224.0.23.170:56363"), Err(FaceRefusal::Unsupported));
    }
}
