-- The token that made a token, or the nearest one above it that lives: revoking that one revokes this one too. Null for
-- a token that was made with a session.
alter table personal_access_tokens add column parent_id uuid references personal_access_tokens (id);
