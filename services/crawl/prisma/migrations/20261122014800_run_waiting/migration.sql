-- Since when the attempt under way has waited for an endpoint that is away; null while it answers.
alter table runs add column away_since timestamptz(3);
-- `x-request-id` of the request that asked for the run; null for a run of the schedule.
alter table runs add column request_id text;
