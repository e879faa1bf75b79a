-- compatible-with: 20261127000021_invitation_mail_index
-- A mail is deleted as soon as the mail service has stored it.
alter table outgoing_mails drop column accepted_at;
