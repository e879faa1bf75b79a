-- compatible-with: 20261124000000_initial
-- It is not known which of the open sessions had a second factor: they all end with those that lack one.
update sessions set
  provider_generation = case when first_factor = 'provider' then 0 end,
  single_factor_generation = 0
where ended_at is null;
