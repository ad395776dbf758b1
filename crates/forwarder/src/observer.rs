//! Observers of a node, for simulators.
//!
//! A node is generic over its [`Observer`]. The observer `()` of every node on real sockets ignores everything, and
//! the calls compile to nothing. The simulator's observer is the [`Recorder`].
mod recorder;

pub use recorder::Recorder;

use crate::event::NodeEvent;
use crate::face::{AppId, FaceId};
use crate::message::Output;
use crate::packet::{Hop, Packet};
use crate::table::{PitEntry, PitId};
use std::collections::VecDeque;
use std::fmt;

/// Follows packets through a node. All methods are empty by default.
///
/// A *trace* is a value that the observer attaches to a packet. The pipelines remove it from a packet that ends, pass
/// it on to the packets that descend from it, and keep it with pending Interests.
pub trait Observer: fmt::Debug + Send {
    /// Trace of a packet.
    type Trace: Clone + Default;

    /// Records an event; `out` are the node's outputs so far.
    #[inline]
    fn event(&mut self, event: NodeEvent, out: &mut VecDeque<Output>) {
        let _ = (event, out);
    }

    /// Whether events are recorded that are costly to make.
    #[inline]
    fn is_recording(&self) -> bool {
        false
    }

    /// An application sends an Interest.
    #[inline]
    fn interest_sent(&mut self, app: AppId, packet: &mut Packet, out: &mut VecDeque<Output>) {
        let _ = (app, packet, out);
    }

    /// A packet is dropped.
    #[inline]
    fn packet_dropped(&mut self, hop: &Hop, out: &mut VecDeque<Output>) {
        let _ = (hop, out);
    }

    /// A link retransmits a packet, so that there are two copies.
    #[inline]
    fn packet_resent(&mut self, packet: &Packet, out: &mut VecDeque<Output>) {
        let _ = (packet, out);
    }

    /// Data reaches an application.
    #[inline]
    fn data_delivered(&mut self, app: AppId, hop: &Hop, out: &mut VecDeque<Output>) {
        let _ = (app, hop, out);
    }

    /// Takes the trace of a packet.
    #[inline]
    fn take(&mut self, hop: &mut Hop) -> Self::Trace {
        let _ = hop;
        Self::Trace::default()
    }

    /// Attaches a trace to a packet.
    #[inline]
    fn attach(&mut self, hop: &mut Hop, trace: Self::Trace) {
        let _ = (hop, trace);
    }

    /// A trace ends.
    #[inline]
    fn trace_dropped(&mut self, trace: Self::Trace, out: &mut VecDeque<Output>) {
        let _ = (trace, out);
    }

    /// The current Interest, of the entry `id`, is sent to `copies` faces, or is aggregated if there are none.
    #[inline]
    fn interest_pending(
        &mut self,
        id: PitId,
        ingress: FaceId,
        trace: &Self::Trace,
        copies: usize,
        out: &mut VecDeque<Output>,
    ) {
        let _ = (id, ingress, trace, copies, out);
    }

    /// An Interest is delivered to an application or to the management, which keeps its trace until it answers.
    #[inline]
    fn interest_delivered(
        &mut self,
        id: PitId,
        face: FaceId,
        trace: Self::Trace,
        out: &mut VecDeque<Output>,
    ) {
        let _ = (id, face, trace, out);
    }

    /// The trace of the Interests that an application or the management answers or rejects.
    #[inline]
    fn answered(&mut self, id: PitId, face: FaceId) -> Self::Trace {
        let _ = (id, face);
        Self::Trace::default()
    }

    /// Unsolicited Data arrives.
    #[inline]
    fn data_unsolicited(&mut self, trace: Self::Trace, out: &mut VecDeque<Output>) {
        let _ = (trace, out);
    }

    /// Data satisfies a pending Interest. The returned trace goes to every downstream face.
    #[inline]
    fn satisfied(
        &mut self,
        id: PitId,
        entry: &PitEntry,
        came: &Hop,
        out: &mut VecDeque<Output>,
    ) -> Self::Trace {
        let _ = (id, entry, came, out);
        Self::Trace::default()
    }

    /// The trace of the Data for one downstream face; `common` goes to all of them.
    #[inline]
    fn data_for(
        &mut self,
        id: PitId,
        face: FaceId,
        came: &Hop,
        common: &Self::Trace,
        out: &mut VecDeque<Output>,
    ) -> Self::Trace {
        let _ = (id, face, came, common, out);
        Self::Trace::default()
    }

    /// The in-record of a face ends without Data.
    #[inline]
    fn waiting_ended(&mut self, id: PitId, face: FaceId, out: &mut VecDeque<Output>) {
        let _ = (id, face, out);
    }

    /// A pending Interest ends without Data.
    #[inline]
    fn interest_ended(&mut self, id: PitId, entry: &PitEntry, out: &mut VecDeque<Output>) {
        let _ = (id, entry, out);
    }
}

impl Observer for () {
    type Trace = ();
}
