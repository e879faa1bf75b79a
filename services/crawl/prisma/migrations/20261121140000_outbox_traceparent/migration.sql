-- The outbox of packages/events, word for word: the trace that an event belongs to, where there is one.
alter table sync_events.outbox add column traceparent text;
