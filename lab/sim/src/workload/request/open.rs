//! Requests without an answer.
use crate::number::ByNumber;
use std::collections::VecDeque;

/// Open requests: by number, with those for one content in a chain, the latest first.
#[derive(Debug, Default)]
pub(super) struct Open {
    /// Requests from the lowest open one on; `None` for those that are open no more.
    requests: VecDeque<Option<Request>>,
    /// Number of the first of `requests`.
    base: u64,
    /// Content → the first of its chain.
    heads: ByNumber<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Request {
    content: u64,
    before: Option<u64>,
    after: Option<u64>,
}

impl Open {
    fn get(&self, number: u64) -> Option<&Request> {
        self.requests.get(usize::try_from(number.checked_sub(self.base)?).ok()?)?.as_ref()
    }

    fn slot(&mut self, number: u64) -> Option<&mut Option<Request>> {
        self.requests.get_mut(usize::try_from(number.checked_sub(self.base)?).ok()?)
    }

    fn get_mut(&mut self, number: u64) -> Option<&mut Request> {
        self.slot(number)?.as_mut()
    }

    /// The content of an open request; 0 for any other.
    pub(super) fn content(&self, number: u64) -> u64 {
        self.get(number).map_or(0, |request| request.content)
    }

    /// The first request for a content.
    pub(super) fn first(&self, content: u64) -> Option<u64> {
        self.heads.get(&content).copied()
    }

    /// The request after `number` in its chain.
    pub(super) fn after(&self, number: u64) -> Option<u64> {
        self.get(number)?.after
    }

    /// Opens the next request: their numbers are consecutive.
    pub(super) fn insert(&mut self, number: u64, content: u64) {
        debug_assert_eq!(number, self.base + self.requests.len() as u64);
        let after = self.heads.insert(content, number);
        if let Some(after) = after.and_then(|after| self.get_mut(after)) {
            after.before = Some(number);
        }
        self.requests.push_back(Some(Request { content, before: None, after }));
    }

    pub(super) fn remove(&mut self, number: u64) {
        let Some(Request { content, before, after }) = self.slot(number).and_then(Option::take)
        else {
            return;
        };
        while self.requests.pop_front_if(|request| request.is_none()).is_some() {
            self.base += 1;
        }
        if let Some(after) = after.and_then(|after| self.get_mut(after)) {
            after.before = before;
        }
        match (before.and_then(|before| self.get_mut(before)), after) {
            (Some(before), _) => before.after = after,
            (None, Some(after)) => {
                self.heads.insert(content, after);
            }
            (None, None) => {
                self.heads.remove(&content);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(open: &Open, content: u64) -> Vec<u64> {
        std::iter::successors(open.first(content), |number| open.after(*number)).collect()
    }

    #[test]
    fn requests_leave_their_chain_from_anywhere() {
        for (removed, left) in [(0, vec![3, 2, 1]), (2, vec![3, 1, 0]), (3, vec![2, 1, 0])] {
            let mut open = Open::default();
            (0..4).for_each(|number| open.insert(number, 7));
            open.insert(4, 8);
            open.remove(removed);
            assert_eq!((chain(&open, 7), chain(&open, 8)), (left.clone(), vec![4]));
            left.iter().for_each(|number| open.remove(*number));
            assert_eq!((chain(&open, 7), open.requests.len()), (vec![], 1));
        }
    }
}
