-- A rotated token names the token that replaced it. While its grace lasts it stays active; its expiry is the end of the
-- grace, and the expiry job then revokes it with the reason `rotated`. An active token always names an active successor.
alter table personal_access_tokens
  add column successor_id uuid references personal_access_tokens (id),
  add column description text,
  -- Whether the signed token names more scopes than the row, which then decides.
  add column is_narrowed boolean not null default false;

-- Revocation is irreversible. A token never changes its owner and organisation, and what it grants only shrinks.
create or replace function keep_token() returns trigger language plpgsql as $$
begin
  if old.status <> 'active' and new.status <> old.status then
    raise exception 'a token never leaves the state %', old.status;
  end if;
  if (new.id, new.org_id, new.owner_id, new.token_hash, new.created_at)
     is distinct from (old.id, old.org_id, old.owner_id, old.token_hash, old.created_at) then
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
