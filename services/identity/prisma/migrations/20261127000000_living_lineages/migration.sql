-- compatible-with: 20261124000000_initial
-- The retention of an ended token that rotated itself lasts as long as one that came of it is active.
create index concurrently living_lineages on personal_access_tokens (lineage_id) where status = 'active' and lineage_id is not null;
