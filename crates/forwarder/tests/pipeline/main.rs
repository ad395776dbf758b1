//! What nodes do with packets, pipeline by pipeline, with literal times.
mod anticipation;
mod application;
mod bench;
mod content_store;
mod incoming_data;
mod incoming_interest;
mod incoming_nack;
mod interest_expiry;
mod interest_loop;
mod link;
mod mobility;
mod mobility_swarm;
mod oracle;
mod outgoing_interest;
mod schedule;
mod soft_timeout;
mod tester;
