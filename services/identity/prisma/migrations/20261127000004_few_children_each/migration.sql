-- compatible-with: 20261124000000_initial
-- While most tokens have one parent, the planner expects as many children of each token, and a revocation reads the whole table
-- for each token of a family instead of an index.
alter table personal_access_tokens alter column parent_id set (n_distinct = -0.5),
  alter column successor_id set (n_distinct = -1);
