-- The x-request-id of the request that caused the mail: it goes with the mail to the mail service, and into the logs.
alter table outgoing_mails add column request_id text;
