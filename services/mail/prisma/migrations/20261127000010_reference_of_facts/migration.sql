-- compatible-with: 20261127000001_facts
-- Identity knows its own mails by the idempotency keys that it gave them. Keys of callers, which may hold anything, stay here:
-- their mails are all in lane 2.
create or replace function note_mail() returns trigger language plpgsql as $$
begin
  insert into facts (id, org_id, type, data, created_at, due_at)
  values (gen_random_uuid(), new.org_id, 'mail.' || new.state, jsonb_build_object(
      'mailId', new.id, 'emailTemplateType', new.template_type, 'attempts', new.attempts,
      'recipients', cardinality(new.to_addresses) + cardinality(new.cc_addresses), 'problem', new.problem)
      || case when new.lane < 2 and new.idempotency_key is not null
              then jsonb_build_object('reference', new.idempotency_key) else '{}' end,
    new.updated_at, new.updated_at);
  return null;
end $$;
