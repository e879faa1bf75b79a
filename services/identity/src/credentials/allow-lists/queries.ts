/**
 * Returns the SQL condition that everything that `list` allows is allowed by `current`; both are expressions of the type
 * `inet[]`. It corresponds to `isNarrower`, for statements that have locked the current list.
 */
export const liesWithin = (list: string, current: string): string =>
  `(${current} = '{}' or (${list} <> '{}'
      and not exists (select from unnest(${list}) as inner_range where not inner_range <<= any(${current}))))`;
