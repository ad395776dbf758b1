//! Several nodes as one forwarder.
mod churn;
mod exchange;
mod manage;
mod several;
