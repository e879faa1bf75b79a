-- The organisations that revoke unused tokens.
create index concurrently token_policies_for_unused_tokens on token_policies (org_id) where revoke_unused_days is not null;
