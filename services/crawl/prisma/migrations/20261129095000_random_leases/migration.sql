-- The lease of a claim is random. Its hash is stored, and that of the claim whose slice was finished last, so that a
-- worker may repeat the request that finished it. A run that is claimed at this moment is claimed again once its lease
-- has expired.
alter table runs add lease_hash bytea, add finished_lease_hash bytea, drop finished_claim;
