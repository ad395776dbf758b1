//! The client for `async` programs, served by other clients over pairs of this process and sockets.
#![cfg(feature = "tokio")]
use recoup::asynchronous::Client;
use std::io::SeekFrom;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncSeekExt};
use tokio::time::{sleep, timeout};

/// Content that differs from place to place.
fn content(bytes: usize) -> Vec<u8> {
    (0..bytes as u64).map(|at| (at.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8).collect()
}

async fn alone() -> Client {
    Client::builder().alone().connect().await.unwrap()
}

/// A face that only one test uses.
fn face() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("memory://asynchronous-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

async fn toward(face: &str) -> Client {
    Client::builder().face(face).connect().await.unwrap()
}

#[tokio::test]
async fn many_fetches_share_a_client() {
    let (place, sent, face) = (alone().await, content(1_000_000), face());
    let _server = place.serve("/a").listen(&face).unwrap().bytes(sent.clone()).await.unwrap();
    let client = toward(&face).await;
    let fetches: Vec<_> = (0..8)
        .map(|at| {
            let client = client.clone();
            tokio::spawn(async move { client.fetch("/a").bytes(at * 1_000..).to_vec().await })
        })
        .collect();
    for (at, fetch) in fetches.into_iter().enumerate() {
        assert!(fetch.await.unwrap().unwrap() == sent[at * 1_000..]);
    }
    assert!(client.get("/b").await.unwrap_err().is_not_found());
}

#[tokio::test]
async fn object_arrives_in_a_file_with_progress() {
    let (place, sent) = (alone().await, content(3_000_000));
    let server = place.serve("/a").listen("udp://127.0.0.1:0").unwrap();
    let server = server.bytes(sent.clone()).await.unwrap();
    let client = toward(&server.faces()[0]).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let mut fetch = client.fetch("/a").start_file(&path).await.unwrap();
    let mut last = None;
    while let Some(progress) = fetch.next_progress().await {
        last = Some(progress);
    }
    assert_eq!(last.unwrap().bytes, 3_000_000);
    assert_eq!(fetch.finish().await.unwrap().stats.segments, 375);
    assert!(std::fs::read(path).unwrap() == sent);
}

#[tokio::test]
async fn dropped_stream_sends_no_more_interests() {
    let (place, face) = (alone().await, face());
    let server = place.serve("/a").listen(&face).unwrap().bytes(content(40_000_000));
    let server = server.await.unwrap();
    let client = toward(&face).await;
    let mut stream = client.fetch("/a").stream().await.unwrap();
    assert!(stream.next_chunk().await.unwrap().is_some());
    drop(stream);
    // The client answers after it has cancelled the fetch.
    assert!(client.get("/a/nothing").await.is_err());
    let mut before = u64::MAX;
    while server.summary().segments != before {
        before = server.summary().segments;
        sleep(Duration::from_millis(100)).await;
    }
    assert!(before < 5_000, "{before}");
}

#[tokio::test]
async fn dropped_future_cancels_its_fetch() {
    let (place, face) = (alone().await, face());
    let server = place.serve("/a").listen(&face).unwrap().answer(|_| async {
        sleep(Duration::from_secs(60)).await;
        None
    });
    let _server = server.await.unwrap();
    let client = toward(&face).await;
    let packet = client.get_packet("/a/b");
    assert!(timeout(Duration::from_millis(50), packet).await.is_err());
    let fetch = client.fetch("/a/c").to_vec();
    assert!(timeout(Duration::from_millis(50), fetch).await.is_err());
}

#[tokio::test]
async fn slow_reader_slows_the_producer() {
    let (place, face, sent) = (alone().await, face(), content(40_000_000));
    let server = place.serve("/a").listen(&face).unwrap().bytes(sent.clone()).await.unwrap();
    let mut stream = toward(&face).await.fetch("/a").stream().await.unwrap();
    let mut all = vec![0; 5_000];
    stream.read_exact(&mut all).await.unwrap();
    let mut before = u64::MAX;
    while server.summary().bytes != before {
        before = server.summary().bytes;
        sleep(Duration::from_millis(300)).await;
    }
    // The limit is 16 MiB; some segments are served twice.
    assert!(before < 20_000_000, "{before} bytes were served");
    stream.read_to_end(&mut all).await.unwrap();
    assert!(all == sent);
    assert_eq!(stream.summary().unwrap().stats.segments, 5_000);
}

#[tokio::test]
async fn reader_fetches_what_is_read() {
    let (place, sent, face) = (alone().await, content(4_000_100), face());
    let server = place.serve("/a").listen(&face).unwrap().bytes(sent.clone()).await.unwrap();
    let mut reader = toward(&face).await.fetch("/a").reader().await.unwrap();
    assert_eq!(reader.size().await.unwrap(), 4_000_100);
    assert!(reader.read_range(2_000_000, 2_016_000).await.unwrap() == sent[2_000_000..2_016_000]);
    assert_eq!((reader.fetched_segments(), server.summary().segments), (2, 2));
    reader.seek(SeekFrom::End(-50)).await.unwrap();
    let mut tail = Vec::new();
    reader.read_to_end(&mut tail).await.unwrap();
    assert!(tail == sent[4_000_050..]);
}

#[tokio::test]
async fn answers_in_progress_are_limited() {
    let (place, face) = (alone().await, face());
    let server = place.serve("/a").listen(&face).unwrap().answer(|interest| async move {
        sleep(Duration::from_millis(20)).await;
        Some(interest.name.to_string().into())
    });
    let server = server.await.unwrap();
    let client = toward(&face).await;
    let packets: Vec<_> = (0..600)
        .map(|at| {
            let client = client.clone();
            tokio::spawn(async move { client.get_packet(format!("/a/{at}")).await })
        })
        .collect();
    for (at, packet) in packets.into_iter().enumerate() {
        assert_eq!(packet.await.unwrap().unwrap(), format!("/a/{at}"));
    }
    assert!(server.summary().segments >= 600);
}

#[tokio::test]
async fn dropped_folder_fetch_sends_no_interests() {
    let (place, face, interests) = (alone().await, face(), Arc::new(AtomicU64::new(0)));
    let seen = Arc::clone(&interests);
    let server = place.serve("/a").listen(&face).unwrap().answer(move |_| {
        seen.fetch_add(1, Ordering::Relaxed);
        std::future::pending()
    });
    let _server = server.await.unwrap();
    let (client, target) = (toward(&face).await, tempfile::tempdir().unwrap());
    let fetch = client.fetch_folder("/a").to_folder(target.path().join("a"));
    let asked = async {
        while interests.load(Ordering::Relaxed) == 0 {
            sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::select! {
        ended = fetch => panic!("a folder without a listing: {ended:?}"),
        () = asked => {}
    }
    // The client answers after it has cancelled the fetch.
    assert!(client.get("/b").await.is_err());
    let until_dropped = interests.load(Ordering::Relaxed);
    // Two retransmission timeouts.
    sleep(Duration::from_secs(3)).await;
    assert_eq!(interests.load(Ordering::Relaxed), until_dropped);
}
