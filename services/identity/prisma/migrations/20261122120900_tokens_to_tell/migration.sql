-- The day on which the next notice about a token's expiry is due, and who is told: the member, or the administrators of the
-- organisation whose service account has the token. A rotated token needs no notice.
create index concurrently tokens_to_tell on personal_access_tokens (
  ((expires_at at time zone 'UTC')::date - (case expiry_notices when 0 then 14 when 1 then 7 when 2 then 1 else 0 end)),
  coalesce(owner_id, org_id), expires_at
) where expires_at is not null and expiry_notices < 4 and status <> 'revoked' and successor_id is null;
