//! A producer of single Data packets: every name below its prefix is answered.
//!
//! Packets are described, not encoded: they have a length and no bytes.
use super::signature_shape;
use super::size::ContentSizes;
use crate::network::ProducePlan;
use recoup_packet::data::{ContentType, Data, DescribeError, SignatureShape, Template};
use recoup_packet::interest::Interest;
use recoup_packet::name::Name;
use recoup_transport::application::{AppInput, AppOutput, Application, Report, ReturnPath};
use recoup_transport::event::Event;
use recoup_transport::time::{Duration, Instant};
use std::collections::VecDeque;
use std::sync::Arc;

/// The machine.
#[derive(Debug)]
pub struct Produce {
    template: Arc<Template>,
    freshness: Duration,
    content: ContentSizes,
    questions: VecDeque<(Arc<Interest>, ReturnPath)>,
    /// Bytes of content of the packet that was just served.
    served: Option<u32>,
}

impl Produce {
    /// A producer of packets as planned.
    ///
    /// # Errors
    /// If there can be no such packets.
    pub fn new(plan: &ProducePlan) -> Result<Self, DescribeError> {
        let shape = signature_shape(plan.packet);
        let produce = Self {
            template: Template::new(ContentType::Blob, plan.freshness, None, shape),
            freshness: plan.freshness,
            content: plan.content.clone(),
            questions: VecDeque::new(),
            served: None,
        };
        // A length that the format skips is no mistake of the plan; too short a one is.
        match produce.describe(plan.prefix.clone(), plan.content.least_bytes()) {
            Err(DescribeError::NoSuchTotal { wanted, possible }) if possible > wanted + 16 => {
                Err(DescribeError::NoSuchTotal { wanted, possible })
            }
            Err(DescribeError::TooLong) => Err(DescribeError::TooLong),
            _ => Ok(produce),
        }
    }

    fn describe(&self, name: Name, bytes: u64) -> Result<Data, DescribeError> {
        self.template.describe(name, usize::try_from(bytes).unwrap_or(usize::MAX))
    }

    /// The packet called `name`, one or two bytes longer than planned if the format has none of that length.
    fn data(&self, name: &Name) -> Option<Data> {
        let bytes = self.content.of(name);
        match self.describe(name.clone(), bytes) {
            Ok(data) => Some(data),
            Err(DescribeError::NoSuchTotal { possible, .. }) => {
                let shape = SignatureShape::Total { packet_bytes: possible };
                let template = Template::new(ContentType::Blob, self.freshness, None, shape);
                template.describe(name.clone(), usize::try_from(bytes).ok()?).ok()
            }
            Err(DescribeError::TooLong) => None,
        }
    }
}

impl Application for Produce {
    fn handle(&mut self, _: Instant, input: AppInput) {
        if let AppInput::Interest { interest, path } = input {
            self.questions.push_back((interest, path));
        }
    }

    fn poll(&mut self, _: Instant) -> Option<AppOutput> {
        if let Some(content_bytes) = self.served.take() {
            let event = Event::Served { content_bytes, signed: false };
            return Some(AppOutput::Report(Report::Event(event)));
        }
        let (interest, path) = self.questions.pop_front()?;
        match self.data(&interest.name) {
            Some(data) => {
                self.served = Some(data.content().len() as u32);
                Some(AppOutput::Data { data, path })
            }
            None => Some(AppOutput::Report(Report::Event(Event::Unknown))),
        }
    }

    fn deadline(&self) -> Option<Instant> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::PacketShape;

    fn plan(content_bytes: u64, packet: PacketShape) -> ProducePlan {
        let prefix = "/video".parse().unwrap();
        ProducePlan {
            prefix,
            content: content_bytes.into(),
            freshness: Duration::from_secs(1),
            packet,
        }
    }

    fn answer(produce: &mut Produce, name: &str) -> Data {
        let interest = Arc::new(Interest::new(name.parse().unwrap()));
        produce.handle(Instant::ZERO, AppInput::Interest { interest, path: ReturnPath(7) });
        let Some(AppOutput::Data { data, path: ReturnPath(7) }) = produce.poll(Instant::ZERO)
        else {
            panic!("no answer");
        };
        let served = produce.poll(Instant::ZERO);
        assert!(matches!(served, Some(AppOutput::Report(Report::Event(Event::Served { .. })))));
        assert!(produce.poll(Instant::ZERO).is_none());
        data
    }

    #[test]
    fn every_name_below_the_prefix_is_answered() {
        let mut produce = Produce::new(&plan(1_000, PacketShape::Digest)).unwrap();
        let data = answer(&mut produce, "/video/17");
        assert_eq!((data.name().to_string(), data.content().len()), ("/video/17".into(), 1_000));
    }

    #[test]
    fn a_packet_has_the_length_that_was_planned() {
        let mut produce = Produce::new(&plan(1_000, PacketShape::Total(1_100))).unwrap();
        for name in ["/video/1", "/video/100000"] {
            assert_eq!(answer(&mut produce, name).encoded_len(), 1_100, "{name}");
        }
        let tight = Produce::new(&plan(1_000, PacketShape::Total(900)));
        assert!(matches!(tight, Err(DescribeError::NoSuchTotal { wanted: 900, .. })));
        assert!(Produce::new(&plan(1 << 40, PacketShape::Digest)).is_err());
    }
}
