-- The claim that has a person's groups; null when they are not read.
alter table identity_providers add column groups_claim text default 'groups';
