-- What administrators list, newest first: each state and template is a range of ids of its own.
create index concurrently mails_of_org on mails (org_id, state, template_type, id);
