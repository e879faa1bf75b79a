-- A schedule that was removed stays, seen by nobody, until the queue no longer has anything of it.
alter type schedule_state add value 'removed';

-- When the queue is next brought to the row; null while the queue agrees with it. Replicas of earlier versions change the
-- queue by themselves and don't know the column: what they write counts as applied.
alter table schedules add column apply_at timestamptz(3);
-- The revisions of which the queue may hold something. Read only while `apply_at` is not null: after that it is `revision`.
alter table schedules add column queued_revisions bigint[] not null default '{}';
-- A change writes its row three times; the default of a fifth of the table is late for that.
alter table schedules set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

-- Queue and rows are no longer compared as a whole.
drop index schedules_of_queue;
drop index schedules_recurring;
