//! The macroflows of a client: one congestion control for all fetches over one face to one prefix.
use recoup_forwarder::face::FaceId;
use recoup_packet::name::Name;
use recoup_packet::name::convention::Convention;
use recoup_transport::congestion::Congestion;
use recoup_transport::fetch::{FetchConfig, Macroflow};
use recoup_transport::spec::Spelled;

/// Most macroflows that are kept for later fetches.
const MOST_KEPT: usize = 64;

/// The macroflows, the one used last at the end.
#[derive(Debug, Default)]
pub(crate) struct Macroflows(Vec<Entry>);

#[derive(Debug)]
struct Entry {
    /// A face toward a producer of this machine; `None`: the face toward all others.
    face: Option<FaceId>,
    prefix: Name,
    congestion: Spelled<Congestion>,
    macroflow: Macroflow,
}

impl Macroflows {
    /// The macroflow of a fetch. Fetches with different congestion controls share none.
    pub(crate) fn find(
        &mut self,
        face: Option<FaceId>,
        prefix: &Name,
        config: &FetchConfig,
    ) -> Macroflow {
        let congestion = &config.options.congestion;
        let beside = self.0.iter().rev().find(|it| it.face == face);
        let made = || match beside {
            Some(entry) => entry.macroflow.beside(config),
            None => Macroflow::new(config),
        };
        // A program's own congestion control may differ from another one of the same name.
        if matches!(**congestion, Congestion::Custom(_)) {
            return made();
        }
        let same = |it: &Entry| (it.face, &it.prefix, &it.congestion) == (face, prefix, congestion);
        let known = self.0.iter().position(same);
        let entry = match known {
            Some(place) => self.0.remove(place),
            None => {
                let macroflow = made();
                Entry { face, prefix: prefix.clone(), congestion: congestion.clone(), macroflow }
            }
        };
        let macroflow = entry.macroflow.clone();
        self.0.push(entry);
        self.forget_oldest();
        macroflow
    }

    /// Forgets the oldest macroflows without fetches, if there are too many.
    fn forget_oldest(&mut self) {
        let mut excess = self.0.len().saturating_sub(MOST_KEPT);
        let mut left = self.0.len();
        self.0.retain(|it| {
            left -= 1;
            let goes = excess > 0 && left > 0 && !it.macroflow.is_in_use();
            excess -= usize::from(goes);
            !goes
        });
    }
}

/// The prefix whose objects probably come over one path with the object `name`: the name above it, or `name` itself
/// if that is the root.
pub(crate) fn prefix_of(name: &Name) -> Name {
    let is_version = name.last().is_some_and(|last| Convention::of_version(&last).is_some());
    let object = if is_version { name.parent() } else { name.clone() };
    let above = object.parent();
    if above.is_empty() { object } else { above }
}

#[cfg(test)]
mod tests {
    use super::*;
    use recoup_transport::fetch::{Fetch, FetchOptions};
    use recoup_transport::random::Rng;
    use recoup_transport::spec::family::Custom;
    use recoup_transport::time::Instant;

    fn config(congestion: &str) -> FetchConfig {
        let congestion = congestion.parse().unwrap();
        let options = FetchOptions { congestion, ..FetchOptions::default() };
        FetchConfig::new(Name::root(), options, Rng::from_seed(1))
    }

    #[test]
    fn face_prefix_and_congestion_control_make_a_macroflow() {
        let mut macroflows = Macroflows::default();
        let (a, b): (Name, Name) = ("/a".parse().unwrap(), "/b".parse().unwrap());
        for face in [None, Some(FaceId(3))] {
            for prefix in [&a, &b] {
                for congestion in ["recoup", "cubic", "recoup"] {
                    macroflows.find(face, prefix, &config(congestion));
                }
            }
        }
        assert_eq!(macroflows.0.len(), 8);
    }

    #[test]
    fn own_congestion_controls_share_no_macroflow() {
        let own = || {
            let build = || "newreno".parse::<Congestion>().unwrap().build();
            let own = Congestion::Custom(Custom::new("own", build));
            FetchConfig {
                options: FetchOptions { congestion: own.into(), ..Default::default() },
                ..config("cubic")
            }
        };
        let mut macroflows = Macroflows::default();
        for _ in 0..2 {
            let macroflow = macroflows.find(None, &Name::root(), &own());
            assert!(!macroflow.is_in_use());
            let _fetch = Fetch::joining(&macroflow, Instant::ZERO, own());
            assert!(macroflow.is_in_use());
        }
        assert!(macroflows.0.is_empty());
    }

    #[test]
    fn excess_goes_once_fetches_have_ended() {
        let mut macroflows = Macroflows::default();
        let name = |number: usize| -> Name { format!("/{number}").parse().unwrap() };
        let begin = |number| {
            let macroflow = macroflows.find(None, &name(number), &config("recoup"));
            Fetch::joining(&macroflow, Instant::ZERO, config("recoup"))
        };
        let fetches: Vec<_> = (0..2 * MOST_KEPT).map(begin).collect();
        assert_eq!(macroflows.0.len(), 2 * MOST_KEPT);
        drop(fetches);
        macroflows.find(None, &name(0), &config("recoup"));
        assert_eq!(macroflows.0.len(), MOST_KEPT);
    }

    #[test]
    fn oldest_macroflow_without_fetches_is_forgotten() {
        let mut macroflows = Macroflows::default();
        let name = |number: usize| -> Name { format!("/{number}").parse().unwrap() };
        for number in 0..2 * MOST_KEPT {
            macroflows.find(None, &name(0), &config("recoup"));
            macroflows.find(None, &name(number), &config("recoup"));
        }
        assert_eq!(macroflows.0.len(), MOST_KEPT);
        assert!(macroflows.0.iter().any(|it| it.prefix == name(0)), "it was used lately");
    }

    #[test]
    fn objects_of_one_prefix_share_a_path() {
        for (name, prefix) in [
            ("/site/photos/a.jpg", "/site/photos"),
            ("/site/photos/a.jpg/v=7", "/site/photos"),
            ("/movie", "/movie"),
            ("/movie/v=7", "/movie"),
        ] {
            assert_eq!(prefix_of(&name.parse().unwrap()), prefix.parse().unwrap(), "{name}");
        }
    }
}
