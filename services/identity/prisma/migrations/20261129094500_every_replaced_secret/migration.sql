-- The sealed secret of a webhook holds those that were replaced as well, each with the time until which it signs.
alter table fact_destinations drop column previous_secret_sealed;
