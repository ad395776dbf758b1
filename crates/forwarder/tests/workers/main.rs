//! Several nodes that are one forwarder, and whether anybody can tell.
mod churn;
mod exchange;
mod manage;
mod several;
