-- compatible-with: 20261127000000_sightings_by_credential
-- Each end of a run is a fact, whichever statement ends it.
create function note_run() returns trigger language plpgsql as $$
begin
  insert into facts (id, org_id, type, data, created_at, due_at)
  values (gen_random_uuid(), new.org_id, 'crawl.run.' || new.state, jsonb_build_object(
      'runId', new.id, 'connector', new.connector, 'instance', new.instance, 'trigger', new.trigger,
      'worker', new.worker, 'mode', new.mode, 'scheduledFor', new.scheduled_for, 'startedAt', new.started_at,
      'attempts', new.attempts, 'counters', new.counters, 'reason', new.reason),
    new.finished_at, new.finished_at);
  return null;
end $$;

create trigger run_ended after update of state on runs for each row
  when (new.state is distinct from old.state and new.state in ('completed', 'failed', 'skipped'))
  execute function note_run();

create trigger run_skipped after insert on runs for each row when (new.state = 'skipped')
  execute function note_run();
