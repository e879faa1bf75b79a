-- compatible-with: 20261127000000_sightings_by_credential
-- A run that somebody ended is a fact, too; those who wait for its end would wait forever. Of several runs in a row that are
-- skipped, only the first one is: a schedule of each minute behind a long crawl would be thousands a day.
create or replace function note_run() returns trigger language plpgsql as $$
begin
  if new.state = 'skipped' and (select state = 'skipped' from runs
      where org_id = new.org_id and connector = new.connector and instance = new.instance and id < new.id
      order by id desc limit 1) then
    return null;
  end if;
  insert into facts (id, org_id, type, data, created_at, due_at)
  values (gen_random_uuid(), new.org_id, 'crawl.run.' || new.state, jsonb_build_object(
      'runId', new.id, 'connector', new.connector, 'instance', new.instance, 'trigger', new.trigger,
      'worker', new.worker, 'mode', new.mode, 'scheduledFor', new.scheduled_for, 'startedAt', new.started_at,
      'attempts', new.attempts, 'counters', new.counters, 'reason', new.reason),
    new.finished_at, new.finished_at);
  return null;
end $$;

create or replace trigger run_ended after update of state on runs for each row
  when (new.state is distinct from old.state and new.state in ('completed', 'failed', 'aborted', 'skipped'))
  execute function note_run();
