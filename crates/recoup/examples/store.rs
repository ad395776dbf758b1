//! Lists a served folder as an object store and reads the start of each object:
//! `cargo run -p recoup --features object-store --example store -- /folder`.
use futures_util::TryStreamExt;
use object_store::{ObjectStore, ObjectStoreExt};
use recoup::{asynchronous::Client, store::NamedStore};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let prefix = std::env::args().nth(1).unwrap_or_else(|| "/folder".into());
    let store = NamedStore::new(Client::connect().await?, prefix)?;
    let mut objects = store.list(None);
    while let Some(object) = objects.try_next().await? {
        let start = store.get_range(&object.location, 0..object.size.min(4)).await?;
        println!("{:>10} {} {start:?}", object.size, object.location);
    }
    Ok(())
}
