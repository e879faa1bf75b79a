drop index users_org_admins_replaced;
