-- What the applier reads: its length is the number of changes that the queue has yet to hear of.
create index concurrently schedules_unapplied on schedules (apply_at) where apply_at is not null;
