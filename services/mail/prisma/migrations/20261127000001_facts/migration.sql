-- compatible-with: 20261127000000_brand_language
-- What identity is to learn of this service. A row is deleted once identity has stored it.
create table facts (
  id uuid primary key,
  org_id uuid not null,
  type text not null,
  data jsonb not null,
  created_at timestamptz(3) not null,
  -- When a replica next hands it to identity.
  due_at timestamptz(3) not null
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
create index facts_due on facts (due_at, id);

-- Each end of a mail is a fact, whichever statement ends it. It names nobody.
create function note_mail() returns trigger language plpgsql as $$
begin
  insert into facts (id, org_id, type, data, created_at, due_at)
  values (gen_random_uuid(), new.org_id, 'mail.' || new.state, jsonb_build_object(
      'mailId', new.id, 'emailTemplateType', new.template_type, 'attempts', new.attempts,
      'recipients', cardinality(new.to_addresses) + cardinality(new.cc_addresses), 'problem', new.problem),
    new.updated_at, new.updated_at);
  return null;
end $$;

create trigger mail_ended after update of state on mails for each row
  when (new.state is distinct from old.state and new.state in ('sent', 'failed', 'unknown'))
  execute function note_mail();

create function note_suppression() returns trigger language plpgsql as $$
begin
  insert into facts (id, org_id, type, data, created_at, due_at)
  values (gen_random_uuid(), new.org_id, 'mail.suppressed',
    jsonb_build_object('suppressionId', new.id, 'reason', new.reason, 'status', new.status),
    new.created_at, new.created_at);
  return null;
end $$;

create trigger address_suppressed after insert on suppressions for each row execute function note_suppression();
