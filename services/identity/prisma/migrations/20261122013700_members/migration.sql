-- The index is replaced without locking the table: 20261122013701 creates the new one, 20261122013703 drops this one.
alter index users_org_admins rename to users_org_admins_replaced;
