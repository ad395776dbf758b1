//! Names that are not to be had for now.
use recoup_packet::name::Name;
use recoup_packet::signature::Verdict;

/// Most names that are remembered.
const MAX_NAMES: usize = 64;
/// Packets that are judged without a name before another Interest for it.
pub(crate) const PATIENCE: u32 = 16;
/// Packets before another Interest if all answers were rejected: more than a window of packets that are retransmitted.
const LONG_PATIENCE: u32 = 256;

/// Names of packets that could not be fetched. Each name has two values: for how many packets more
/// it is left alone, and the verdict on packets that need it, if it is known. The oldest is forgotten first.
#[derive(Debug, Default)]
pub(crate) struct Rejected(Vec<(Name, u32, Option<Verdict>)>);

impl Rejected {
    pub(crate) fn add(&mut self, name: &Name) {
        self.push(name, PATIENCE, None);
    }

    /// Adds a name whose answers were all rejected, with the verdict on packets that need it, if that is known.
    pub(crate) fn rule_out(&mut self, name: &Name, verdict: Option<Verdict>) {
        self.push(name, LONG_PATIENCE, verdict);
    }

    fn push(&mut self, name: &Name, patience: u32, verdict: Option<Verdict>) {
        if self.0.len() >= MAX_NAMES {
            self.0.remove(0);
        }
        self.0.push((name.clone(), patience, verdict));
    }

    pub(crate) fn contains(&self, name: &Name) -> bool {
        self.0.iter().any(|(known, ..)| known == name)
    }

    /// The verdict on packets that need the packet of that name, if it is known.
    pub(crate) fn verdict(&self, name: &Name) -> Option<Verdict> {
        self.0.iter().find(|(known, ..)| known == name)?.2
    }

    /// The packet of that name has arrived after all.
    pub(crate) fn remove(&mut self, name: &Name) {
        self.0.retain(|(known, ..)| known != name);
    }

    /// Counts a packet that is judged without `name`; `false` if that may be requested.
    pub(crate) fn count(&mut self, name: &Name) -> bool {
        let Some(place) = self.0.iter().position(|(known, ..)| known == name) else {
            return false;
        };
        self.0[place].1 -= 1;
        if self.0[place].1 == 0 {
            self.0.swap_remove(place);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_is_left_alone_for_a_while() {
        let (name, mut rejected) = ("/a".parse().unwrap(), Rejected::default());
        rejected.add(&name);
        assert!((0..PATIENCE).all(|_| rejected.count(&name)));
        assert!(!rejected.contains(&name) && !rejected.count(&name));
    }

    #[test]
    fn oldest_name_is_forgotten() {
        let mut rejected = Rejected::default();
        let names: Vec<Name> =
            (0..=MAX_NAMES).map(|it| format!("/{it}").parse().unwrap()).collect();
        names.iter().for_each(|name| rejected.add(name));
        assert!(!rejected.contains(&names[0]) && rejected.contains(&names[1]));
        rejected.remove(&names[1]);
        assert_eq!(rejected.0.len(), MAX_NAMES - 1);
    }
}
