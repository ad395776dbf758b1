//! Measurements, their lifetime and limit.
use super::*;
use proptest::prelude::*;

fn at(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

fn name(number: u8) -> Name {
    format!("/p/{number}").parse().unwrap()
}

#[test]
fn averages_move_by_their_gain() {
    let mut face = FaceMeasurement::new(FaceId(1));
    face.satisfied(Some(Duration::from_millis(100)), 0.5);
    assert_eq!((face.rtt, face.satisfaction), (Some(0.1), 1.0));
    face.failed(0.5);
    face.satisfied(Some(Duration::from_millis(300)), 0.5);
    face.satisfied(None, 0.5);
    assert_eq!(face.satisfaction, 0.875);
    assert!((face.rtt.unwrap() - 0.2).abs() < 1e-12);
}

#[test]
fn exploration_is_wished_once_and_for_one_prefix() {
    let mut table = Measurements::new(NameHasher::new(1), MeasurementOptions::default());
    table.wish_exploration(at(0), &name(1));
    assert!(!table.of(at(0), &name(2)).take_exploration());
    assert!(table.of(at(0), &name(1)).take_exploration());
    assert!(!table.of(at(0), &name(1)).take_exploration());
}

#[test]
fn a_face_that_is_gone_is_forgotten() {
    let mut table = Measurements::new(NameHasher::new(1), MeasurementOptions::default());
    table.face(at(0), &name(1), FaceId(1)).failed(0.5);
    table.face(at(0), &name(1), FaceId(2)).failed(0.5);
    table.forget_face(FaceId(1));
    let faces: Vec<_> = table.faces(at(0), &name(1)).iter().map(|known| known.face).collect();
    assert_eq!(faces, [FaceId(2)]);
}

proptest! {
    #[test]
    fn prefixes_are_kept_in_order_of_use(
        steps in prop::collection::vec((0..30_u64, 0..6_u8, 0..3_u32), 0..100),
        limit in 1..5_usize,
    ) {
        let options = MeasurementOptions { lifetime: Duration::from_millis(60), limit };
        let mut table = Measurements::new(NameHasher::new(1), options);
        let mut model: Vec<(u8, u64, Vec<u32>)> = Vec::new();
        let mut now = 0;
        for (wait, prefix, face) in steps {
            now += wait;
            model.retain(|(_, used, _)| now < used + 60);
            let place = model.iter().position(|(known, ..)| *known == prefix);
            let mut faces = place.map_or_else(Vec::new, |place| model.remove(place).2);
            if !faces.contains(&face) {
                faces.push(face);
            }
            if model.len() >= limit {
                model.remove(0);
            }
            table.face(at(now), &name(prefix), FaceId(face)).failed(0.1);
            let known = table.faces(at(now), &name(prefix)).iter().map(|known| known.face.0);
            prop_assert!(known.eq(faces.iter().copied()));
            model.push((prefix, now, faces));
            prop_assert_eq!(table.len(), model.len());
        }
    }
}
