-- The organisations whose tokens are still being revoked. A save by a replica that doesn't know the column ends that.
create index concurrently token_policies_revoking on token_policies (org_id) where revoking_version = updated_at;
