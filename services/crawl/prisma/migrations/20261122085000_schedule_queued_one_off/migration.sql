-- Whether one of queued_revisions may be a one-off: otherwise the queue is not asked to remove its job. Replicas of earlier
-- versions do not maintain it; a job that they leave behind is of an earlier revision, and does nothing.
alter table schedules add column queued_one_off boolean not null default true;
