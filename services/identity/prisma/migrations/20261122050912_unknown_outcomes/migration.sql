-- How often the SMTP server may have accepted a mail: a second time is the last.
alter table outgoing_mails add column unknown_outcomes integer not null default 0;
-- Whether `undeliverable_reason` tells of such an invitation, rather than of one that was refused.
alter table users add column is_delivery_unknown boolean not null default false;
