-- A checkpoint is kept as the JSON text that its worker sent: jsonb would change it, and numbers that a reader cannot hold
-- must not change on the way.
alter table connector_states alter checkpoint type text;
