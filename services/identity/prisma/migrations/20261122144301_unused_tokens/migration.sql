alter table token_policies
  -- After so many days without a use, a token is revoked; null: never.
  add column revoke_unused_days integer,
  -- Days without a use count from here at the earliest; null: from the last use of each token.
  add column unused_from timestamptz(3);

-- Up to here the use of a token is known: its next look is due when it could be unused since then. Null: never looked at.
alter table personal_access_tokens add column use_checked_until timestamptz(3);

-- Tokens that have been unused for so long that their owner is warned, and then a week later the token is revoked.
create table unused_tokens (
  token_id uuid primary key references personal_access_tokens (id) on delete cascade,
  -- Who is warned: a member, or the administrators of an organisation whose service account owns the token.
  holder_id uuid not null,
  is_organisation boolean not null,
  -- When the warning was stored, once; null: it is due.
  warned_at timestamptz(3)
);
create index unused_tokens_to_warn on unused_tokens (is_organisation, holder_id) where warned_at is null;
create index unused_tokens_warned on unused_tokens (warned_at) where warned_at is not null;
