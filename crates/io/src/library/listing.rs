//! The listing of a folder, as a consumer reads it.
//!
//! A listing stays in its received bytes; entries are parsed on demand. As values of their own,
//! entries of two bytes would take thirty times as much memory.
//!
//! The producer is not trusted. Entries stand in ascending order of their bytes, each name once; a producer that lists
//! otherwise contradicts itself. A name that no file can have is an error of that entry alone.
use super::folder::file_name;
use bytes::{Buf, Bytes};
use recoup_packet::name::Component;
use std::borrow::Cow;
use std::cmp::Ordering;

/// Longest name of a file, in bytes (`NAME_MAX` of Linux).
const MAX_NAME_BYTES: usize = 255;

/// An iterator over the entries of a listing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    rest: Bytes,
}

/// An entry of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// One component of a path, safe to be joined to one; a part of the listing's bytes.
    pub name: Bytes,
    /// The entry is a folder.
    pub is_folder: bool,
}

/// A listing that contradicts itself.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ListingError {
    /// A name stands twice, or once as a file and once as a folder.
    #[error("the listing names \"{}\" twice", clipped(.0))]
    Duplicate(Bytes),
    /// An entry should stand before the one that precedes it.
    #[error("the listing is not in ascending order at \"{}\"", clipped(.0))]
    Unsorted(Bytes),
}

/// A name that no file can have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadName {
    /// The name is longer than any file name.
    #[error("a name of {0} bytes is longer than any file's")]
    TooLong(usize),
    /// The name is empty or leads out of its folder.
    #[error("\"{}\" is no name of a file", clipped(.0))]
    NoFile(Bytes),
}

impl Listing {
    /// A listing that arrived. Takes one pass over the bytes and no memory for them.
    ///
    /// # Errors
    /// [`ListingError`]: its entries are not in strictly ascending order.
    pub fn new(content: impl Into<Bytes>) -> Result<Self, ListingError> {
        let listing = Self { rest: content.into() };
        listing.check()?;
        Ok(listing)
    }

    /// How many of the entries are files, those with bad names included.
    pub fn files(&self) -> u64 {
        self.pieces().filter(|piece| !piece.ends_with(b"/")).count() as u64
    }

    /// The next entry is a folder.
    pub fn begins_with_folder(&self) -> bool {
        self.pieces().next().is_some_and(|piece| piece.ends_with(b"/"))
    }

    /// No entry is left.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Length of what is left, in bytes.
    pub fn remaining_bytes(&self) -> usize {
        self.rest.len()
    }

    /// The entries as they stand in the listing; a zero byte ends each.
    fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        let content = self.rest.strip_suffix(b"\0").unwrap_or(&self.rest);
        let none = self.rest.is_empty();
        content.split(|byte| *byte == 0).filter(move |_| !none)
    }

    fn check(&self) -> Result<(), ListingError> {
        let mut previous: Option<&[u8]> = None;
        // Files with whose names the current entry begins, the longest last: a folder's slash sorts behind other bytes, so
        // that a file of the same name may stand several entries before.
        let mut files: Vec<&[u8]> = Vec::new();
        for piece in self.pieces() {
            match previous.map_or(Ordering::Less, |previous| previous.cmp(piece)) {
                Ordering::Less => {}
                Ordering::Equal => return Err(ListingError::Duplicate(self.part(piece))),
                Ordering::Greater => return Err(ListingError::Unsorted(self.part(piece))),
            }
            while files.pop_if(|file| !piece.starts_with(file)).is_some() {}
            match piece.strip_suffix(b"/") {
                None => files.push(piece),
                Some(name) if files.last() == Some(&name) => {
                    return Err(ListingError::Duplicate(self.part(name)));
                }
                Some(_) => {}
            }
            previous = Some(piece);
        }
        Ok(())
    }

    fn part(&self, piece: &[u8]) -> Bytes {
        self.rest.slice_ref(piece)
    }
}

impl Iterator for Listing {
    type Item = Result<Entry, BadName>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let end = self.rest.iter().position(|byte| *byte == 0).unwrap_or(self.rest.len());
        let mut name = self.rest.split_to(end);
        self.rest.advance(self.rest.len().min(1));
        let is_folder = name.ends_with(b"/");
        name.truncate(name.len() - usize::from(is_folder));
        Some(match name.len() {
            length if length > MAX_NAME_BYTES => Err(BadName::TooLong(length)),
            _ if file_name(&Component::generic(&name)).is_none() => Err(BadName::NoFile(name)),
            _ => Ok(Entry { name, is_folder }),
        })
    }
}

/// The beginning of a name, which may be as long as a listing.
fn clipped(name: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(name.get(..MAX_NAME_BYTES).unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn entry(name: &[u8], is_folder: bool) -> Result<Entry, BadName> {
        Ok(Entry { name: Bytes::copy_from_slice(name), is_folder })
    }

    fn listing(content: &'static [u8]) -> Result<Listing, ListingError> {
        Listing::new(content)
    }

    #[test]
    fn entries_are_read_one_by_one() {
        let mut listing = listing(b"a\0b/\0c").unwrap();
        assert_eq!((listing.files(), listing.begins_with_folder()), (2, false));
        assert_eq!(listing.next(), Some(entry(b"a", false)));
        assert!(listing.begins_with_folder());
        assert_eq!(listing.next(), Some(entry(b"b", true)));
        assert_eq!(listing.next(), Some(entry(b"c", false)));
        assert!(listing.is_empty() && listing.next().is_none());
        assert_eq!(Listing::new(Bytes::new()).unwrap().count(), 0);
    }

    #[test]
    fn bad_name_is_an_error_of_its_entry() {
        let bad = ["", ".", "..", "/", "../x", "a/b", "/etc/", "x//"];
        for name in bad {
            let content = format!("{name}\0");
            let mut listing = Listing::new(content.clone().into_bytes()).unwrap();
            assert!(matches!(listing.next(), Some(Err(BadName::NoFile(_)))), "{content:?}");
            assert!(listing.next().is_none());
        }
        let long = [&b"a\0"[..], &[b'b'; 256], b"/\0c\0"].concat();
        let read: Vec<_> = Listing::new(long).unwrap().collect();
        assert_eq!(read, [entry(b"a", false), Err(BadName::TooLong(256)), entry(b"c", false)]);
    }

    #[test]
    fn unsorted_and_duplicate_entries_are_rejected() {
        for content in [&b"b\0a\0"[..], b"a/\0a\0", b"b/\0a/\0", b"a\0\0"] {
            assert!(matches!(listing(content), Err(ListingError::Unsorted(_))), "{content:?}");
        }
        for content in [
            &b"a\0a\0"[..],
            b"a/\0a/\0",
            b"\0\0",
            b"a\0a/\0",
            b"a\0a!\0a.txt\0a/\0",
            b"a\0a!\0a!!\0a!/\0",
        ] {
            assert!(matches!(listing(content), Err(ListingError::Duplicate(_))), "{content:?}");
        }
        assert_eq!(listing(b"a\0a!/\0a.txt\0ab/\0").unwrap().count(), 4);
    }

    proptest! {
        #[test]
        fn listing_accepts_exactly_sorted_distinct_names(
            names in proptest::collection::vec(("[a!./]{0,3}", any::<bool>()), 0..8),
            sorts in any::<bool>(),
        ) {
            let mut pieces: Vec<String> =
                names.iter().map(|(name, folder)| format!("{name}{}", if *folder { "/" } else { "" })).collect();
            if sorts {
                pieces.sort();
            }
            let content: String = pieces.iter().flat_map(|piece| [piece, "\0"]).collect();
            let bare = |piece: &String| piece.strip_suffix('/').unwrap_or(piece).to_owned();
            let distinct: BTreeSet<String> = pieces.iter().map(bare).collect();
            let is_right = pieces.is_sorted() && distinct.len() == pieces.len();
            prop_assert_eq!(Listing::new(content.into_bytes()).is_ok(), is_right, "{:?}", pieces);
        }

        #[test]
        fn no_entry_leads_out_of_a_folder(content in proptest::collection::vec(0_u8..48, 0..200)) {
            let listing = Listing { rest: content.into() };
            for entry in listing.flatten() {
                prop_assert!(!matches!(&entry.name[..], b"" | b"." | b".."));
                prop_assert!(!entry.name.iter().any(|byte| matches!(byte, 0 | b'/')));
            }
        }
    }
}
