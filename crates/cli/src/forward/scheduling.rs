//! Configuration keys of a face's scheduler.
use crate::config::{Section, parsed};
use recoup_config::form;
use recoup_transport::queue::{Capacity, Scheduler, Scheduling};

/// Keys of a table; absent ones fall back to others.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SchedulingKeys {
    scheduler: Option<Scheduler>,
    rate_bits: Option<u64>,
    rate_in_bits: Option<u64>,
    overhead_bytes: Option<u32>,
}

impl SchedulingKeys {
    /// Reads the keys from a table.
    pub(crate) fn read(section: &mut Section<'_>) -> Self {
        Self {
            scheduler: section.value("scheduler", parsed),
            rate_bits: section.value("rate", form::rate),
            rate_in_bits: section.value("rate-in", form::rate),
            overhead_bytes: section.value("overhead", form::few_bytes),
        }
    }

    /// These keys, with `default` for absent ones.
    pub(crate) fn or(self, default: Self) -> Self {
        Self {
            scheduler: self.scheduler.or(default.scheduler),
            rate_bits: self.rate_bits.or(default.rate_bits),
            rate_in_bits: self.rate_in_bits.or(default.rate_in_bits),
            overhead_bytes: self.overhead_bytes.or(default.overhead_bytes),
        }
    }

    /// The scheduler and its link, if configured. The rate from the neighbour defaults to the rate
    /// toward it.
    pub(crate) fn scheduling(&self) -> Option<Scheduling> {
        let known = |bits: Option<u64>| bits.filter(|bits| *bits > 0);
        let capacity = Capacity {
            sending_bits: known(self.rate_bits),
            receiving_bits: known(self.rate_in_bits.or(self.rate_bits)),
            overhead_bytes: self.overhead_bytes.unwrap_or_default(),
            ..Capacity::default()
        };
        Some(Scheduling { discipline: self.scheduler?.0?, capacity })
    }

    /// Whether a rate is set, which only a scheduler uses.
    pub(crate) fn has_rate(&self) -> bool {
        self.rate_bits.is_some() || self.rate_in_bits.is_some()
    }
}

/// Whether a scheduler would need a rate.
pub(crate) fn lacks_rate(scheduling: &Scheduling) -> bool {
    let Capacity { sending_bits, receiving_bits, .. } = scheduling.capacity;
    scheduling.discipline.wants_rate() && (sending_bits.is_none() || receiving_bits.is_none())
}
