//! Strategies and the content store: `strategy-choice/set`, `strategy-choice/unset`, `cs/config`, `cs/erase`.
//!
//! A strategy has the name of NFD, `/localhost/nfd/strategy/<name>/<version>/<parameter>…`. Each parameter is written
//! as `key~value` and means `key=value` of the strategy's text.
//!
//! Source: NFD's wiki pages "StrategyChoice" and "CsMgmt".
//!
//! Differences: the capacity of a content store with a limit in bytes is the number of longest packets that fit.
use super::{Command, Effect, Management, Outcome, View};
use crate::strategy::{ForwardingStrategy, Strategy};
use crate::table::{Cs, CsCapacity};
use recoup_packet::name::{Component, Name};
use recoup_transport::management::{
    CS_ADMIT, CS_SERVE, ControlParameters, Rejection, StrategyChoice,
};

/// Most Data that one command erases.
const ERASED_AT_ONCE: u64 = 256;
/// Longest parameter of a strategy's name, in bytes.
const MAX_PARAMETER_BYTES: usize = 64;
/// Components of a strategy's name before its own.
const PREFIX: [&str; 3] = ["localhost", "nfd", "strategy"];

impl Management {
    pub(super) fn choose_strategy(
        &mut self,
        command: Command,
        view: &impl View,
    ) -> Result<Outcome, Rejection> {
        let prefix = command.prefix();
        let name = command.parameters.strategy.ok_or(Rejection::MALFORMED)?;
        let text = strategy_text(&name).ok_or(Rejection::NO_STRATEGY)?;
        let strategy = text.parse::<Strategy>().map_err(|_| Rejection::NO_STRATEGY)?.build();
        if view.strategies() >= self.limit && !view.has_strategy(&prefix) {
            return Err(Rejection::FULL);
        }
        let chosen = strategy_name(&strategy.to_string());
        self.effects.push_back(Effect::SetStrategy { prefix: prefix.clone(), strategy });
        Ok(Outcome::Done(ControlParameters {
            name: Some(prefix),
            strategy: Some(chosen),
            ..ControlParameters::default()
        }))
    }

    pub(super) fn unset_strategy(&mut self, command: Command) -> Result<Outcome, Rejection> {
        let prefix = command.prefix();
        if prefix.is_empty() {
            let text = "malformed command: \"/\" must have a strategy";
            return Err(Rejection { code: 400, text });
        }
        self.effects.push_back(Effect::UnsetStrategy { prefix: prefix.clone() });
        Ok(Outcome::Done(ControlParameters { name: Some(prefix), ..ControlParameters::default() }))
    }
}

/// A strategy choice as a dataset record.
pub(crate) fn strategy_choice(prefix: &Name, strategy: &dyn ForwardingStrategy) -> StrategyChoice {
    StrategyChoice { name: prefix.clone(), strategy: strategy_name(&strategy.to_string()) }
}

/// A command on the content store.
#[derive(Clone, Debug)]
pub(crate) enum CsCommand {
    /// Erase Data.
    Erase {
        /// Name prefix of the Data.
        prefix: Name,
        /// Most Data to erase.
        limit: u64,
    },
    /// Configure the store; `None` means no change.
    Configure {
        /// Capacity, in packets.
        capacity: Option<u64>,
        /// Whether Data are stored.
        admits: Option<bool>,
        /// Whether stored Data answers Interests.
        serves: Option<bool>,
    },
}

impl CsCommand {
    pub(super) fn configure(command: &Command) -> Self {
        let parameters = &command.parameters;
        let (admits, serves) = (parameters.flag(CS_ADMIT), parameters.flag(CS_SERVE));
        Self::Configure { capacity: parameters.capacity, admits, serves }
    }

    pub(super) fn erase(command: &Command) -> Self {
        let limit = command.parameters.count.unwrap_or(u64::MAX).min(ERASED_AT_ONCE);
        Self::Erase { prefix: command.prefix(), limit }
    }

    /// Executes the command; returns the parameters of its answer, with the limit if more Data is left.
    pub(crate) fn execute(self, store: &mut Cs) -> ControlParameters {
        match self {
            Self::Erase { prefix, limit } => {
                let (erased, more) = store.erase(&prefix, limit);
                ControlParameters {
                    name: Some(prefix),
                    count: Some(erased),
                    capacity: (more && erased == ERASED_AT_ONCE).then_some(ERASED_AT_ONCE),
                    ..ControlParameters::default()
                }
            }
            Self::Configure { capacity, admits, serves } => {
                if let Some(packets) = capacity {
                    store.set_capacity(CsCapacity::Packets(packets));
                }
                if let Some(admits) = admits {
                    store.set_admitting(admits);
                }
                if let Some(serves) = serves {
                    store.set_serving(serves);
                }
                ControlParameters {
                    capacity: Some(store.capacity().packets()),
                    flags: Some(cs_flags(store)),
                    ..ControlParameters::default()
                }
            }
        }
    }
}

/// The flags of a content store in answers and datasets.
pub(crate) fn cs_flags(store: &Cs) -> u64 {
    let flag = |set, flag| if set { flag } else { 0 };
    flag(store.admits(), CS_ADMIT) + flag(store.serves(), CS_SERVE)
}

/// Version of a strategy: that of NFD if it has one of this name.
fn version(strategy: &str) -> u64 {
    match strategy {
        "best-route" => 5,
        "multicast" => 4,
        _ => 1,
    }
}

/// Name of the strategy with this text.
fn strategy_name(text: &str) -> Name {
    let (strategy, parameters) = text.split_once('(').unwrap_or((text, ""));
    // A parameter may contain parentheses.
    let parameters = parameters.strip_suffix(')').unwrap_or(parameters).split(',');
    let parameters = parameters.filter(|it| !it.is_empty());
    let parameters: Vec<String> = parameters.map(|it| it.trim().replacen('=', "~", 1)).collect();
    let words = PREFIX.into_iter().chain([strategy]).map(|it| Component::generic(it.as_bytes()));
    let parameters = parameters.iter().map(|it| Component::generic(it.as_bytes()));
    words.chain([Component::version(version(strategy))]).chain(parameters).collect()
}

/// Text of the strategy with this name; `None` if it is unknown, or newer than this implementation.
fn strategy_text(name: &Name) -> Option<String> {
    let mut components = name.components();
    for word in PREFIX {
        components.next().filter(|component| component.value() == word.as_bytes())?;
    }
    let word = |component: Component<'_>| {
        let bytes = component.value();
        let plain = bytes.len() <= MAX_PARAMETER_BYTES && bytes.iter().all(u8::is_ascii_graphic);
        std::str::from_utf8(bytes).ok().filter(|_| plain).map(str::to_owned)
    };
    let strategy = word(components.next()?)?;
    let mut parameters = Vec::new();
    for (place, component) in components.enumerate() {
        match component.is_version() {
            Some(wanted) if place == 0 => {
                (wanted <= version(&strategy)).then_some(())?;
            }
            _ => parameters.push(word(component)?.replacen('~', "=", 1)),
        }
    }
    match parameters.is_empty() {
        true => Some(strategy),
        false => Some(format!("{strategy}({})", parameters.join(","))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(name: &str) -> Option<String> {
        strategy_text(&name.parse().unwrap())
    }

    #[test]
    fn strategy_name_parses_to_its_text() {
        let nested = "best-face(rto=reconsidered(k=5,min=0ms))";
        for written in ["best-route", "multicast", "multipath(split=cost)", nested] {
            let strategy = written.parse::<Strategy>().unwrap().full();
            assert_eq!(strategy_text(&strategy_name(&strategy)), Some(strategy));
        }
        assert_eq!(
            strategy_name("best-route").to_string(),
            "/localhost/nfd/strategy/best-route/v=5"
        );
    }

    #[test]
    fn newer_strategy_versions_are_unknown() {
        let best_route = "/localhost/nfd/strategy/best-route";
        assert_eq!(text(best_route).as_deref(), Some("best-route"));
        assert_eq!(text(&format!("{best_route}/v=4")).as_deref(), Some("best-route"));
        assert_eq!(text(&format!("{best_route}/v=6")), None);
        assert_eq!(text("/localhost/nfd/strategy"), None);
        assert_eq!(text("/other/nfd/strategy/best-route"), None);
        assert_eq!(text("/localhost/nfd/strategy/a%00b"), None);
    }
}
