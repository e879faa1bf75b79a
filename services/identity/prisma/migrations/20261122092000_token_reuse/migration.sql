-- When the owner was last told that the token was used after its rotation.
alter table personal_access_tokens add column reuse_reported_at timestamptz(3);

-- Tokens that were reported as leaked, until they are revoked. A report of something else has no token, and is dropped.
create table leak_reports (
  id uuid primary key,
  token_id uuid not null,
  digest text not null,
  url text,
  created_at timestamptz(3) not null
);
