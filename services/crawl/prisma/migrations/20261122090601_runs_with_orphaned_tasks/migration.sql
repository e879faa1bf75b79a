-- What the reconciler reads: aborted runs whose task no worker has cancelled yet.
create index concurrently runs_orphaned_tasks on runs (finished_at) where state = 'aborted' and task_location is not null;
