-- Where the remote task of the run's attempt can be cancelled; null when there is none, or it was cancelled.
alter table runs add column task_location text;
