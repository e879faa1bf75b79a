-- Finds the contents whose time is over.
create index concurrently mails_contents_to_expire on mails (created_at) where content_sealed is not null;
