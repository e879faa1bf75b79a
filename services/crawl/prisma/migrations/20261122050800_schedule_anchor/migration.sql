-- What an hourly interval that does not divide 24 is counted from. It outlives a replacement that changes no time; null means
-- `scheduled_at`, as for the schedules of earlier versions.
alter table schedules add column anchor_at timestamptz(3);
