-- compatible-with: 20261124000000_initial
create index concurrently users_invitation_mail on users (invitation_mail_id) where invitation_mail_id is not null;
