//! Segments of two contents under one name.
use crate::harness::{
    Answer, Answers, DELAY, Harness, SEGMENT, config, file, last, metadata_of, name, segment_of,
};
use recoup_packet::data::{ContentType, Data, DataBuilder};
use recoup_packet::interest::Interest;
use recoup_packet::metadata::Metadata;
use recoup_packet::name::convention::Convention;
use recoup_packet::object_id::ObjectId;
use recoup_packet::signature::DigestSigner;
use recoup_transport::fetch::{Belonging, FetchError, Kept};

const FILE: usize = 2_000;

fn id(byte: u8) -> Option<ObjectId> {
    Some(ObjectId::new([byte; 16]))
}

/// Segments and metadata of version 7 that state `id`; each segment is filled with `byte`.
fn of(interest: &Interest, byte: u8, id: Option<ObjectId>) -> Data {
    let last = last(&file(FILE));
    if segment_of(interest).is_some() {
        let builder = DataBuilder::new(&interest.name).object_id(id);
        let builder = builder.final_block(Convention::Typed.segment(last));
        return builder.build(&[byte; SEGMENT], &DigestSigner);
    }
    let bare = metadata_of(interest, 7, Some(last));
    let metadata = Metadata::decode(bare.content_bytes()).unwrap();
    let content = Metadata { object_id: id, ..metadata }.to_bytes();
    DataBuilder::new(bare.name()).build(&content, &DigestSigner)
}

fn answered(data: Data) -> Answers {
    vec![(DELAY, Answer::Data(data))]
}

#[test]
fn content_of_another_identifier_is_no_answer() {
    for stale in [id(1), None] {
        let mut harness = Harness::new(config("/a/file"));
        // A cache has some segments of the content before, until MustBeFresh passes it by.
        let result = harness.run(|interest| {
            let is_stale = segment_of(interest).is_some_and(|it| it < 5) && !interest.must_be_fresh;
            answered(if is_stale { of(interest, b'A', stale) } else { of(interest, b'B', id(2)) })
        });
        assert_eq!(result, Ok(()));
        assert_eq!(harness.bytes(), vec![b'B'; FILE]);
        assert_eq!(harness.identified, id(2));
        assert_eq!((harness.summary.rejected, harness.summary.other_content), (5, 5));
    }
}

#[test]
fn endless_other_content_has_its_own_error() {
    for first in ["/a/file", "/a/file/v=7"] {
        let mut harness = Harness::new(config(first));
        let result = harness.run(|interest| {
            let is_stale = segment_of(interest).is_some_and(|it| it % 7 == 3);
            answered(if is_stale { of(interest, b'A', id(1)) } else { of(interest, b'B', id(2)) })
        });
        assert!(matches!(result, Err(FetchError::OtherContent(_))), "{result:?}");
        assert!(harness.bytes().iter().all(|byte| *byte == b'B'));
    }
}

/// A version that an earlier run has begun.
#[test]
fn identifier_of_earlier_run_binds_first_segment() {
    let mut bound = config("/a/file/v=7");
    bound.belonging = Belonging::Stated(id(1));
    let mut harness = Harness::new(bound);
    let result = harness.run(|interest| answered(of(interest, b'B', id(2))));
    assert!(matches!(result, Err(FetchError::OtherContent(_))), "{result:?}");
    assert!(harness.content.is_empty());
}

#[test]
fn producers_without_identifiers_are_fetched() {
    for object in ["/a/file", "/a/file/v=7"] {
        let mut harness = Harness::new(config(object));
        assert_eq!(harness.run(|interest| answered(of(interest, b'B', None))), Ok(()));
        assert_eq!((harness.bytes(), harness.identified), (vec![b'B'; FILE], None));
    }
}

#[test]
fn kept_version_is_compared_and_not_fetched() {
    let kept = |id| Some(Kept { object: name("/a/file/v=7"), id });
    for (stated, had, is_kept) in [
        (id(1), kept(id(1)), true),
        (None, kept(None), true),
        (id(2), kept(id(1)), false),
        (None, kept(id(1)), false),
        (id(1), kept(None), false),
        (id(1), Some(Kept { object: name("/a/file/v=6"), id: id(1) }), false),
    ] {
        let mut wanted = config("/a/file");
        wanted.kept = had;
        let mut harness = Harness::new(wanted);
        assert_eq!(harness.run(|interest| answered(of(interest, b'B', stated))), Ok(()));
        assert_eq!((harness.is_kept, harness.content.is_empty()), (is_kept, is_kept), "{stated:?}");
    }
}

/// There are no metadata below a version: the first segment states the identifier.
#[test]
fn kept_version_is_compared_by_its_first_segment() {
    for (stated, is_kept) in [(id(1), true), (id(2), false)] {
        let mut wanted = config("/a/file/v=7");
        wanted.kept = Some(Kept { object: name("/a/file/v=7"), id: id(1) });
        let mut harness = Harness::new(wanted);
        let result = harness.run(|interest| {
            if interest.name.last().is_some_and(|it| it.is_keyword(b"metadata")) {
                let nack = DataBuilder::new(&interest.name).content_type(ContentType::Nack);
                return answered(nack.build(b"", &DigestSigner));
            }
            let segment = Interest::new(interest.name.append(Convention::Typed.segment(0)));
            let asked = if interest.can_be_prefix { &segment } else { interest };
            answered(of(asked, b'B', stated))
        });
        assert_eq!((result, harness.is_kept), (Ok(()), is_kept));
        assert_eq!(harness.content.is_empty(), is_kept);
    }
}
