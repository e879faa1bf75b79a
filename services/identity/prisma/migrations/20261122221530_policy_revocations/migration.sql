alter table token_policies
  -- The save (`updated_at`) whose tokens are still being revoked, because the policy would not allow them; null: none.
  add column revoking_version timestamptz(3),
  -- The administrator who saved it.
  add column revoking_by uuid;
