-- Replaced by the indexes of the organisations' turns.
drop index outgoing_mails_due;
