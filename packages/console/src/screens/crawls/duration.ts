/** Says how long something took in the largest two units that it has. */
export function describeDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  if (minutes === 0) return `${seconds} s`;
  if (minutes < 60) return join(minutes, 'min', seconds % 60, 's');
  return join(Math.floor(minutes / 60), 'h', minutes % 60, 'min');
}

const join = (count: number, unit: string, rest: number, restUnit: string): string =>
  rest === 0 ? `${count} ${unit}` : `${count} ${unit} ${rest} ${restUnit}`;

/** Says how long something took; empty while it has not ended. */
export const formatDuration = (from: string | null, to: string | null): string =>
  from === null || to === null ? '' : describeDuration(Date.parse(to) - Date.parse(from));
