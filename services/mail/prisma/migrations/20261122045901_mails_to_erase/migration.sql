create index concurrently mails_to_erase on mails (id) where addresses_to_erase <> '{}';
