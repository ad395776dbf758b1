//! Reports of a node to consumers: its identifier in answers, and the announced names that it stores.
//!
//! Source: Nikzad et al. 2022, section 5, after CCTCP. A node that forwards an announced Interest adds a record with
//! the time. On the way back it replaces the time by the duration until the answer. Only times of one clock are ever
//! subtracted.
//!
//! Differences: the record of a node that answers for its producer marks the origin; a node without `ProviderId` adds
//! no records.
use super::{Edge, Forwarder};
use crate::options::Anticipation;
use crate::packet::Hop;
use crate::table::PitId;
use bytes::Bytes;
use recoup_packet::interest::Interest;
use recoup_packet::lp::anticipation::{self, Record};
use recoup_packet::lp::{Ignorable, field};
use recoup_transport::time::Instant;

impl<E: Edge> Forwarder<E> {
    /// Adds this node's identifier to an answer.
    pub(crate) fn add_provider_id(&self, hop: &mut Hop) {
        if self.provider_id.is_some() {
            hop.extra_mut().provider = self.provider_id;
        }
    }

    /// Adds a record to an announced Interest that is forwarded.
    pub(crate) fn add_record(&self, now: Instant, hop: &mut Hop) {
        let Some(node) = self.recorder() else {
            return;
        };
        let Some(extra) = &mut hop.extra else {
            return;
        };
        let Some(holds) = extra.carried.get(field::ANTICIPATED).map(|names| self.holds(names))
        else {
            return;
        };
        if holds > 0 || self.anticipation == Anticipation::All {
            let record = Record { node, holds, is_origin: false, time_nanos: now.as_nanos() };
            append(&mut extra.carried, record);
        }
    }

    /// Replaces the time in this node's own record by a duration, in Data that passes.
    pub(crate) fn settle_record(&self, now: Instant, hop: &mut Hop) {
        let Some(node) = self.recorder() else {
            return;
        };
        let Some(extra) = &mut hop.extra else {
            return;
        };
        let settle = |record: &mut Record| {
            let is_mine = record.node == node;
            if is_mine {
                record.time_nanos = record.since_nanos(now.as_nanos());
            }
            is_mine
        };
        let records = extra.carried.get(field::RECORDS);
        if let Some(settled) = records.and_then(|records| anticipation::changed(records, settle)) {
            extra.carried.set(field::RECORDS, settled);
        }
    }

    /// Fields of an Interest that are returned with the answer, and the answering node's own record.
    pub(crate) fn send_back(&self, fields: &Ignorable, is_origin: bool, hop: &mut Hop) {
        if fields.is_empty() {
            return;
        }
        let mut back = returned(fields);
        if let (Some(node), Some(names)) = (self.recorder(), back.get(field::ANTICIPATED)) {
            let record = Record { node, holds: self.holds(names), is_origin, time_nanos: 0 };
            append(&mut back, record);
        }
        if !back.is_empty() {
            hop.extra_mut().carried = back;
        }
    }

    /// Keeps the fields of an Interest for an application that are returned with its answer.
    pub(crate) fn keep_returned_fields(&mut self, id: PitId, interest: &Interest, came: &Hop) {
        let Some(extra) = came.extra.as_ref().filter(|extra| !extra.carried.is_empty()) else {
            return;
        };
        let fields = returned(&extra.carried);
        let mut asked = self.pit.entry_mut(id).ins_mut().iter_mut();
        if let Some(record) = asked.find(|record| record.nonce == interest.nonce) {
            record.rare_mut().returned_fields = fields;
        }
    }

    /// Takes the fields that are returned with the answer to a pending Interest.
    pub(crate) fn take_returned_fields(&mut self, id: PitId) -> Ignorable {
        let records = self.pit.entry_mut(id).ins_mut().iter_mut();
        let mut kept = records.filter_map(|record| record.rare.as_mut());
        let kept = kept.find(|rare| !rare.returned_fields.is_empty());
        kept.map(|rare| std::mem::take(&mut rare.returned_fields)).unwrap_or_default()
    }

    /// The identifier of this node in records, if it adds any.
    fn recorder(&self) -> Option<u64> {
        self.provider_id.filter(|_| self.anticipation != Anticipation::Off)
    }

    /// A bit for each announced name that is in the content store. A malformed list has no names.
    fn holds(&self, names: &Bytes) -> u16 {
        if self.cs.is_off() {
            return 0;
        }
        let names = anticipation::decode_names(names).unwrap_or_default();
        let is_held = |name: &recoup_packet::name::Name| {
            self.cs.contains(name, self.hasher.hash(name.value()))
        };
        names.iter().zip(0..).fold(0, |holds, (name, bit)| holds | u16::from(is_held(name)) << bit)
    }
}

fn returned(fields: &Ignorable) -> Ignorable {
    let mut back = Ignorable::default();
    for (typ, value) in fields.iter().filter(|(typ, _)| field::goes_back(*typ)) {
        back.set(typ, value.clone());
    }
    back
}

fn append(fields: &mut Ignorable, record: Record) {
    let before = fields.get(field::RECORDS).cloned().unwrap_or_default();
    fields.set(field::RECORDS, anticipation::with_record(&before, record));
}
