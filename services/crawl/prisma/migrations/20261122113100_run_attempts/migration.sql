-- What became of each attempt that was followed by another: at most as many as a run has retries.
alter table runs
  add column failed_attempts jsonb not null default '[]',
  -- Of the attempt under way or the last one. Null: the attempt began with the run.
  add column attempt_started_at timestamptz(3);
