-- compatible-with: 20261124000000_initial
-- Of the mails to a member. Null is the language of the organisation's mails.
alter table users add column language text;
