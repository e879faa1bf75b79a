-- Renewed while a worker holds the run. No index may name it, so that a renewal is a HOT update; `lease_until` is set
-- when the run is claimed or put back, and is what the index finds.
alter table runs add column heartbeat_until timestamptz(3);
