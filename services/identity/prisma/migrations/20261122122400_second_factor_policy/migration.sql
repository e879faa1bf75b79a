-- Whether members need a second factor to sign in.
alter table organisations add column second_factor_required boolean not null default false;
