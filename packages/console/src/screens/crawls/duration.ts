import { crawls } from '#text/crawls';

/** Returns "3.2 s"; an empty text while it has not begun or not ended. */
export const formatDuration = (from: string | null, to: string | null): string =>
  from === null || to === null ? '' : crawls.seconds((Date.parse(to) - Date.parse(from)) / 1000);
