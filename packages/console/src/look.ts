/* How somebody wants the console to look. This browser keeps it: it is about a screen, not about an account. */

const KEY = 'look';
export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];
export const zones = ['browser', 'utc'] as const;
export type Zone = (typeof zones)[number];

export interface Look {
  readonly theme: Theme;
  /** The zone in which times are shown. */
  readonly zone: Zone;
}

const standard: Look = { theme: 'system', zone: 'browser' };

/** Reads what the browser keeps, whatever it is: another version, or somebody, may have written it. */
function readLook(): Look {
  try {
    const { theme, zone } = JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Record<string, unknown>>;
    return {
      theme: themes.find((one) => one === theme) ?? standard.theme,
      zone: zones.find((one) => one === zone) ?? standard.zone,
    };
  } catch {
    return standard;
  }
}

export const look = readLook();

/** The zone of this browser, in which it reads dates that are typed. */
export const browserZone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
/** The zone in which times are shown. */
export const shownZone = look.zone === 'utc' ? 'UTC' : browserZone;

export function applyTheme(theme: Theme): void {
  document.documentElement.dataset['theme'] = theme;
}

/** Keeps a choice. One that changes what is on the page already is shown by loading the page again. */
export function saveLook(changes: Partial<Look>): void {
  const next = { ...readLook(), ...changes };
  localStorage.setItem(KEY, JSON.stringify(next));
  if (next.zone === look.zone) applyTheme(next.theme);
  else location.reload();
}
