-- A token is owned by a member or by a service account, never by both. The check holds for every new row; all older ones
-- have a member.
alter table personal_access_tokens
  add column service_account_id uuid references service_accounts (id),
  alter column owner_id drop not null,
  add constraint token_has_one_owner check ((owner_id is null) <> (service_account_id is null)) not valid;

create or replace function keep_token() returns trigger language plpgsql as $$
begin
  if old.status <> 'active' and new.status <> old.status then
    raise exception 'a token never leaves the state %', old.status;
  end if;
  if (new.id, new.org_id, new.owner_id, new.service_account_id, new.token_hash, new.created_at)
     is distinct from (old.id, old.org_id, old.owner_id, old.service_account_id, old.token_hash, old.created_at) then
    raise exception 'a token never changes whose it is';
  end if;
  if not (new.scopes <@ old.scopes)
     or (new.expires_at is distinct from old.expires_at
         and (new.expires_at is null or new.expires_at > old.expires_at)) then
    raise exception 'a token never grants more than before';
  end if;
  if old.is_narrowed and not new.is_narrowed or new.scopes <> old.scopes and not new.is_narrowed then
    raise exception 'a token with fewer scopes than it was signed with is marked as narrowed';
  end if;
  return new;
end $$;
