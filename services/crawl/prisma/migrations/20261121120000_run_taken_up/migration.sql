-- How often the run was taken up: tells the hands that it is in from those that it was in before.
alter table runs add column taken_up integer not null default 0;
