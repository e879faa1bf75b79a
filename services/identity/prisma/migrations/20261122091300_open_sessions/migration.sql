-- The sessions of a member, newest first. A session that has ended leaves the index.
create index concurrently sessions_open on sessions (user_id, id desc) where ended_at is null;
