//! Where answers go: a bounded memory of who asked.
use crate::face::FaceId;
use bytes::Bytes;
use recoup_transport::application::ReturnPath;

/// Answers that may be owed at a time. Applications need not answer; the oldest question is
/// forgotten when a new one needs its place.
const PLACES: u64 = 1 << 16;

/// The return paths of the Interests given to applications.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    next: u64,
    places: Vec<Option<(u64, FaceId, Option<Bytes>)>>,
}

impl Paths {
    /// Notes that an Interest came by `face`, with that PIT token.
    pub(crate) fn note(&mut self, face: FaceId, pit_token: Option<Bytes>) -> ReturnPath {
        let number = self.next;
        self.next += 1;
        let place = (number % PLACES) as usize;
        if self.places.len() <= place {
            self.places.push(None);
        }
        // Copied, so that an answer never given does not pin the frame that asked.
        let pit_token = pit_token.map(|token| Bytes::copy_from_slice(&token));
        self.places[place] = Some((number, face, pit_token));
        ReturnPath(number)
    }

    /// The way back, once.
    pub(crate) fn take(&mut self, path: ReturnPath) -> Option<(FaceId, Option<Bytes>)> {
        let place = self.places.get_mut((path.0 % PLACES) as usize)?;
        let (_, face, pit_token) = place.take_if(|(number, ..)| *number == path.0)?;
        Some((face, pit_token))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_leads_back_once() {
        let mut paths = Paths::default();
        let token = Some(Bytes::from_static(b"token"));
        let path = paths.note(FaceId(3), token.clone());
        assert_eq!(paths.take(path), Some((FaceId(3), token)));
        assert_eq!(paths.take(path), None);
    }

    #[test]
    fn the_oldest_question_is_forgotten_when_there_are_too_many() {
        let mut paths = Paths::default();
        let oldest = paths.note(FaceId(0), None);
        for _ in 0..PLACES {
            paths.note(FaceId(1), None);
        }
        assert_eq!(paths.take(oldest), None);
        assert_eq!(paths.places.len() as u64, PLACES);
    }
}
