//! Black holes of path MTU discovery: long frames vanish, and no router reports that.
//!
//! Source: RFC 8899, section 4.3, detection by missing acknowledgements; RFC 8200, section 5, for the least MTU of IPv6.
//!
//! Differences: a link has no acknowledgements. The sign is a consumer that does not get on: it requests one Data packet
//! again and again, no short packet is sent meanwhile, and few other ones are. The MTU then stays low as long as the link
//! lives; a wrong guess costs shorter frames. Streams and faces of this machine have no path.
use crate::face::FaceAttributes;
use recoup_packet::tlv::MAX_PACKET_SIZE;
use recoup_transport::management::LinkType;

/// Longest frame that every path carries: the least MTU of IPv6, without the headers of IPv6 and UDP.
pub(super) const SAFE_BYTES: usize = 1_280 - 48;
/// Transmissions of one Data packet after which long frames count as lost by the path.
const SENDS: u32 = 3;
/// Further long packets that prove that the path carries long frames.
const OTHERS: u32 = 256;

/// The sign of a black hole on the path of one face.
#[derive(Debug, Default)]
pub(super) struct Path {
    /// TLV-VALUE of the name of the long packet that is watched.
    watched: Option<Box<[u8]>>,
    sends: u32,
    /// Other long packets that were sent since the first transmission.
    others: u32,
    /// Long frames vanish.
    is_narrow: bool,
}

impl Path {
    /// Whether the frames of a face cross a path that may carry less than its first link.
    pub(super) fn may_be_narrow(mtu: usize, attributes: &FaceAttributes) -> bool {
        (SAFE_BYTES + 1..MAX_PACKET_SIZE).contains(&mtu)
            && !attributes.local
            && attributes.link_type == LinkType::PointToPoint
    }

    /// The MTU of a path whose first link has this one.
    pub(super) fn limit(&self, mtu: usize) -> usize {
        if self.is_narrow { mtu.min(SAFE_BYTES) } else { mtu }
    }

    /// Records Data of so many bytes, with the TLV-VALUE of its name; whether long frames turn out to vanish.
    pub(super) fn sends(&mut self, name: &[u8], bytes: usize) -> bool {
        if bytes <= SAFE_BYTES {
            // The consumer gets on with short packets: it may well request others again.
            self.watched = None;
        } else if self.watched.as_deref() == Some(name) {
            self.sends += 1;
            self.is_narrow |= self.sends >= SENDS;
        } else if self.watched.is_none() || self.others >= OTHERS {
            self.watched = Some(name.into());
            (self.sends, self.others) = (1, 0);
        } else {
            self.others += 1;
        }
        self.is_narrow
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use recoup_packet::name::Name;

    const LONG: usize = 8_200;

    fn name(number: u32) -> Name {
        format!("/file/seg={number}").parse().unwrap()
    }

    /// Whether the path counts as narrow after Data with these numbers and bytes.
    fn after(sent: impl IntoIterator<Item = (u32, usize)>) -> bool {
        let mut path = Path::default();
        sent.into_iter().fold(false, |_, (number, bytes)| path.sends(name(number).value(), bytes))
    }

    #[test]
    fn window_that_is_repeated_shows_a_black_hole() {
        let window = || (0..32).map(|number| (number, LONG));
        assert!(!after(window().chain(window())));
        assert!(after(window().chain(window()).chain([(0, LONG)])));
        assert!(after([(7, LONG); 3]));
    }

    #[test]
    fn lossy_transfer_shows_no_black_hole() {
        // Every tenth packet is lost twice, and the transfer goes on meanwhile.
        let lost = |number: u32| match number {
            _ if number >= 600 && number.is_multiple_of(10) => {
                vec![number, number - 300, number - 600]
            }
            _ => vec![number],
        };
        assert!(!after((0..10_000).flat_map(lost).map(|number| (number, LONG))));
    }

    #[test]
    fn repeated_fetch_of_a_small_file_shows_none() {
        let fetches = (0..100).flat_map(|_| [(0, 300), (1, LONG)]);
        assert!(!after(fetches));
        assert!(!after([(1, SAFE_BYTES); 100]));
    }

    #[test]
    fn only_datagrams_to_other_machines_have_a_path() {
        let wire = FaceAttributes::wire;
        assert!(Path::may_be_narrow(1_452, &wire(1_452)));
        assert!(!Path::may_be_narrow(MAX_PACKET_SIZE, &wire(MAX_PACKET_SIZE)), "a stream");
        assert!(!Path::may_be_narrow(1_200, &wire(1_200)));
        let local = FaceAttributes { local: true, ..wire(1_452) };
        let group = FaceAttributes { link_type: LinkType::MultiAccess, ..wire(1_452) };
        assert!(!Path::may_be_narrow(1_452, &local) && !Path::may_be_narrow(1_452, &group));
    }
}
