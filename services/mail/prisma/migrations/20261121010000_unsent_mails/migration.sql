-- What wasn't sent is deleted some weeks later, in this order.
create index mails_unsent on mails (created_at) where state in ('failed', 'unknown');
