//! The entries of a served folder.
use crate::client::Client;
use crate::error::{Error, ErrorKind, Result};
use crate::folder::MAX_LISTING_BYTES;
use crate::name::ToName;
use recoup_packet::name::{Component, Name};

pub use recoup_io::library::{Entry, Listing};

impl Client {
    /// The entries of a folder that `recoup serve` serves, in ascending order. Entries whose names no file can have are
    /// left out.
    ///
    /// # Errors
    /// Those of a fetch, such as [`is_not_found`](Error::is_not_found); [`is_unverified`](Error::is_unverified) if the
    /// listing contradicts itself.
    ///
    /// ```
    /// # let client = recoup::Client::builder().alone().connect()?;
    /// # let folder = tempfile::tempdir().unwrap();
    /// # std::fs::write(folder.path().join("sea.jpg"), "blue").unwrap();
    /// let _server = client.serve("/photos").folder(folder.path())?;
    /// let entries = client.list("/photos")?;
    /// assert_eq!((&*entries[0].name, entries[0].is_folder), (&b"sea.jpg"[..], false));
    /// # Ok::<(), recoup::Error>(())
    /// ```
    pub fn list(&self, folder: impl ToName) -> Result<Vec<Entry>> {
        let folder = folder.to_name()?;
        let content = self.fetch(name_of(&folder)).max_size(MAX_LISTING_BYTES as u64).to_vec()?;
        Ok(listing(&folder, content)?.filter_map(std::result::Result::ok).collect())
    }
}

#[cfg(feature = "tokio")]
impl crate::asynchronous::Client {
    /// As [`Client::list`].
    ///
    /// # Errors
    /// As there.
    pub async fn list(&self, folder: impl ToName) -> Result<Vec<Entry>> {
        let listing = self.listing(folder, MAX_LISTING_BYTES as u64).await?;
        Ok(listing.filter_map(std::result::Result::ok).collect())
    }

    /// The listing of a folder, of at most `max_bytes`. Its entries are parsed one by one, without memory beyond the
    /// listing's bytes.
    ///
    /// # Errors
    /// As [`list`](Self::list); [`is_condition`](Error::is_condition) if the listing is longer.
    pub async fn listing(&self, folder: impl ToName, max_bytes: u64) -> Result<Listing> {
        let folder = folder.to_name()?;
        let most = max_bytes.min(MAX_LISTING_BYTES as u64);
        let mut content = self.fetch(name_of(&folder)).max_size(most).to_vec().await?;
        content.shrink_to_fit();
        listing(&folder, content)
    }
}

fn name_of(folder: &Name) -> Name {
    folder.append(Component::keyword(b"ls"))
}

fn listing(folder: &Name, content: Vec<u8>) -> Result<Listing> {
    Listing::new(content).map_err(|error| {
        let text = format!("the producer of {folder} contradicts itself: {error}");
        Error::new(ErrorKind::Verification, text)
    })
}
