-- What of the data of a mail is shown to administrators: without codes and links, and encrypted.
alter table mails add column content_sealed text;
