//! A stream in pieces gives the same frames as the stream in one piece, and each frame is one whole element.
#![no_main]

use libfuzzer_sys::fuzz_target;
use recoup_packet::tlv::{self, Reader};

fuzz_target!(|input: (u8, &[u8])| {
    let (step, stream) = input;
    let whole = frames(stream, usize::MAX);
    assert_eq!(frames(stream, usize::from(step) + 1), whole);
    let mut at = 0;
    for len in whole {
        let mut reader = Reader::new(&stream[at..at + len]);
        assert!(reader.read().expect("a framed element is readable").is_some());
        assert!(reader.is_empty());
        at += len;
    }
});

/// Lengths of the complete frames, when `step` bytes arrive at a time.
fn frames(stream: &[u8], step: usize) -> Vec<usize> {
    let (mut lengths, mut start, mut seen) = (Vec::new(), 0, 0);
    while seen < stream.len() {
        seen = seen.saturating_add(step).min(stream.len());
        loop {
            match tlv::frame_len(&stream[start..seen]) {
                Ok(Some(len)) if len <= seen - start => {
                    lengths.push(len);
                    start += len;
                }
                Ok(_) => break,
                Err(_) => return lengths,
            }
        }
    }
    lengths
}
