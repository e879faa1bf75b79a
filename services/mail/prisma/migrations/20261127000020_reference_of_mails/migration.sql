-- compatible-with: 20261127000010_reference_of_facts
-- By what identity knows a mail that it sent: the idempotency key of the first request. A mail that is sent again by an
-- administrator has that of the first one, whose key may have expired.
alter table mails add column reference text;

-- The release before stores no reference.
create or replace function note_mail() returns trigger language plpgsql as $$
declare
  known_as text := coalesce(new.reference, case when new.lane < 2 then new.idempotency_key end);
begin
  insert into facts (id, org_id, type, data, created_at, due_at)
  values (gen_random_uuid(), new.org_id, 'mail.' || new.state, jsonb_build_object(
      'mailId', new.id, 'emailTemplateType', new.template_type, 'attempts', new.attempts,
      'recipients', cardinality(new.to_addresses) + cardinality(new.cc_addresses), 'problem', new.problem)
      || case when known_as is not null then jsonb_build_object('reference', known_as) else '{}' end,
    new.updated_at, new.updated_at);
  return null;
end $$;
