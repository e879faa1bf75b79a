-- compatible-with: 20261124000000_initial

-- Of mails whose request names no language. Null is English.
alter table brands add column language text;
