//! The part of Perfetto's trace format that is written: field numbers of `trace_packet.proto`, `track_event.proto`,
//! `track_descriptor.proto` and `debug_annotation.proto` (2024).
use prost::Message;

/// A file is a sequence of these: repeated fields of one message may be written in pieces.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Trace {
    #[prost(message, repeated, tag = "1")]
    pub(crate) packets: Vec<TracePacket>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct TracePacket {
    /// Nanoseconds.
    #[prost(uint64, optional, tag = "8")]
    pub(crate) timestamp: Option<u64>,
    /// The writer of the packet; the same in all.
    #[prost(uint32, optional, tag = "10")]
    pub(crate) sequence: Option<u32>,
    #[prost(message, optional, tag = "11")]
    pub(crate) event: Option<TrackEvent>,
    #[prost(message, optional, tag = "60")]
    pub(crate) track: Option<TrackDescriptor>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct TrackEvent {
    #[prost(message, repeated, tag = "4")]
    pub(crate) annotations: Vec<DebugAnnotation>,
    #[prost(enumeration = "Type", optional, tag = "9")]
    pub(crate) typ: Option<i32>,
    #[prost(uint64, optional, tag = "11")]
    pub(crate) track: Option<u64>,
    #[prost(string, optional, tag = "23")]
    pub(crate) name: Option<String>,
    #[prost(double, optional, tag = "44")]
    pub(crate) value: Option<f64>,
    /// Events with the same number are joined by arrows, in the order of time.
    #[prost(fixed64, repeated, packed = "false", tag = "47")]
    pub(crate) flows: Vec<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, prost::Enumeration)]
#[repr(i32)]
pub(crate) enum Type {
    Unspecified = 0,
    SliceBegin = 1,
    SliceEnd = 2,
    Instant = 3,
    Counter = 4,
}

/// A number or a text that is shown with an event.
#[derive(Clone, PartialEq, Message)]
pub struct DebugAnnotation {
    #[prost(uint64, optional, tag = "3")]
    pub(crate) number: Option<u64>,
    #[prost(string, optional, tag = "6")]
    pub(crate) text: Option<String>,
    #[prost(string, optional, tag = "10")]
    pub(crate) name: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct TrackDescriptor {
    #[prost(uint64, optional, tag = "1")]
    pub(crate) uuid: Option<u64>,
    #[prost(string, optional, tag = "2")]
    pub(crate) name: Option<String>,
    #[prost(uint64, optional, tag = "5")]
    pub(crate) parent: Option<u64>,
    #[prost(message, optional, tag = "8")]
    pub(crate) counter: Option<CounterDescriptor>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct CounterDescriptor {
    #[prost(string, optional, tag = "6")]
    pub(crate) unit: Option<String>,
}
