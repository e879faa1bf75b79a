-- The scheduled_at that anchor_at was stored with. A replica of the previous version, which runs during a rolling update, replaces
-- a schedule without writing anchor_at: the two differ then, and the anchor is not used. Null means that the anchor is valid.
alter table schedules add column anchor_scheduled_at timestamptz(3);
