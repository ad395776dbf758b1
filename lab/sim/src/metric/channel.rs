//! Metrics of channels: what they carried and lost, how busy they were, how long their queues.
use super::summary::Summary;
use crate::observe::{LossReason, Observation};
use crate::record::place::{Channel, Places};
use crate::record::track::{Carriage, Carried, Queues};
use crate::statistic::moments::TimeMean;
use recoup_transport::time::Instant;
use std::collections::BTreeMap;

/// All channels.
#[derive(Clone, Debug)]
pub(super) struct Channels {
    carriage: Carriage,
    /// Only if each channel has metrics of its own.
    queues: Option<Queues>,
    lengths: Vec<TimeMean>,
    /// Number of handoffs.
    handoffs: u64,
    /// When the first application started: utilisation is relative to the time since.
    began: Option<Instant>,
}

impl Channels {
    /// With `each`, every channel has metrics of its own.
    pub(super) fn new(places: &Places, each: bool) -> Self {
        Self {
            carriage: Carriage::new(places),
            queues: each.then(|| Queues::new(places)),
            lengths: vec![TimeMean::default(); places.channels().count()],
            handoffs: 0,
            began: None,
        }
    }

    /// Takes in an observation.
    pub(super) fn on(&mut self, now: Instant, places: &Places, observation: &Observation<'_>) {
        let is_sent = matches!(observation, Observation::Sent { .. });
        // What was sent matters to each channel and to media; what was lost to all.
        if is_sent && self.queues.is_none() && !places.has_aerial() {
            return;
        }
        if let Some(queues) = &mut self.queues {
            let lengths = &mut self.lengths;
            queues.on(places, observation, |channel, waiting| {
                if let Some(length) = lengths.get_mut(channel.index()) {
                    length.set(now, waiting.packets as f64);
                }
            });
        }
        if let Observation::Started { .. } = observation
            && self.began.is_none()
        {
            self.began = Some(now);
            self.lengths.iter_mut().for_each(|length| length.set(now, 0.0));
        }
        self.handoffs += u64::from(matches!(observation, Observation::Joined { .. }));
        self.carriage.on(places, observation);
    }

    /// Appends the losses of all together and, on request, the metrics of each.
    pub(super) fn report(&self, now: Instant, places: &Places, summary: &mut Summary) {
        let mut lost = BTreeMap::new();
        for (reason, count) in self.carriage.all().iter().flat_map(|carried| &carried.lost) {
            *lost.entry(*reason).or_default() += count;
        }
        report_losses("all", &lost, true, summary);
        if places.has_aerial() {
            self.report_medium(places, summary);
        }
        for (channel, carried) in
            places.channels().zip(self.carriage.all()).filter(|_| self.queues.is_some())
        {
            self.report_channel(now, places, channel, carried, summary);
        }
    }

    /// Losses of all media, and handoffs of clients.
    fn report_medium(&self, places: &Places, summary: &mut Summary) {
        let channels = places.channels().zip(self.carriage.all());
        let aerial = channels.filter(|(channel, _)| places.is_aerial(channel.link));
        let mut all = Carried::default();
        aerial.for_each(|(_, carried)| all.add(carried));
        summary.option("all", "residual_loss", "", all.residual_loss());
        summary.push("all", "handoffs", "", self.handoffs as f64);
    }

    fn report_channel(
        &self,
        now: Instant,
        places: &Places,
        channel: Channel,
        carried: &Carried,
        summary: &mut Summary,
    ) {
        let place = format!("link.{}.{}", places.link(channel.link), channel.direction_name());
        summary.push(&place, "packets", "", carried.packets as f64);
        summary.push(&place, "bytes", "bytes", carried.bytes as f64);
        let seconds = now.since(self.began.unwrap_or(Instant::ZERO)).as_secs_f64();
        summary.option(&place, "utilisation", "", carried.utilisation(seconds));
        let mut length = self.lengths.get(channel.index()).copied().unwrap_or_default();
        length.advance(now);
        summary.push(&place, "queue_mean", "packets", length.mean().unwrap_or(0.0));
        summary.push(&place, "queue_max", "packets", length.max().unwrap_or(0.0));
        report_losses(&place, &carried.lost, false, summary);
        if places.is_aerial(channel.link) {
            summary.option(&place, "residual_loss", "", carried.residual_loss());
        }
    }
}

/// The number of losses in all and by reason; reasons that did not occur only if `every` one counts, but
/// for what only broadcast faces do.
fn report_losses(
    place: &str,
    lost: &BTreeMap<LossReason, u64>,
    every: bool,
    summary: &mut Summary,
) {
    summary.push(place, "lost", "", lost.values().sum::<u64>() as f64);
    for reason in LossReason::ALL {
        let count = lost.get(&reason).copied().unwrap_or(0);
        if count > 0 || every && reason != LossReason::Superfluous {
            let what = format!("lost_{}", reason.name().replace('-', "_"));
            summary.push(place, &what, "", count as f64);
        }
    }
}
