-- Rotated tokens that were used after their end. A row is stored with the audit entry, and deleted with the reaction.
create table token_reuses (
  token_id uuid primary key references personal_access_tokens (id) on delete cascade,
  -- The first of the uses that are not reacted to. Null: unknown.
  address text,
  user_agent text,
  used_at timestamptz(3) not null
);
