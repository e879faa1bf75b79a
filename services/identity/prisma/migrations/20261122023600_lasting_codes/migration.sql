-- What was mailed can be mailed again while it is fresh: asking again does not void it. Sealed with ENCRYPTION_KEYS.
alter table one_time_secrets add column secret_sealed text;
-- Wrong guesses at codes are counted per address and day: tries_left counts down from when tries_since says, however many
-- codes there are meanwhile. Null for links.
alter table one_time_secrets add column tries_since timestamptz(3);
-- Whether members can sign in with mailed codes.
alter table organisations add column codes_enabled boolean not null default true;
