/** The tokens of the console's `tokens.css` that the pages use, with the values that they have there. */
export const tokens: Readonly<Record<string, string>> = {
  sans: "'Inter Variable', system-ui, -apple-system, 'Segoe UI', sans-serif",
  mono: "'JetBrains Mono Variable', ui-monospace, SFMono-Regular, Menlo, monospace",
  'text-small': '12px',
  'text-body': '13px',
  'text-section': '14px',
  'text-title': '20px',
  regular: '400',
  medium: '550',
  'radius-small': '6px',
  'radius-large': '12px',
  sunken: 'light-dark(#fafafb, #0b0c0e)',
  raised: 'light-dark(#fff, #16181b)',
  text: 'light-dark(#16181d, #eeeff1)',
  quiet: 'light-dark(#5c636e, #9a9fa9)',
  line: 'light-dark(#e6e8ec, #25282d)',
  'control-line': 'light-dark(#d3d7dd, #373b42)',
  accent: 'light-dark(#3a50d9, #4d63e4)',
  link: 'light-dark(#3347cf, #98a8ff)',
  good: 'light-dark(#14713d, #5fd394)',
  bad: 'light-dark(#b3261e, #ff8f87)',
};

const properties = Object.entries(tokens).map(([name, value]) => `--${name}: ${value};`);

/**
 * The one style sheet of all pages: the look and the faces of the console, in light and dark, from 320 pixels on. The
 * faces are files of the console.
 */
export const style = `
@font-face { font-family: 'Inter Variable'; font-weight: 100 900; font-display: swap;
  src: url(/assets/inter-5.3.0.woff2); }
@font-face { font-family: 'JetBrains Mono Variable'; font-weight: 100 800; font-display: swap;
  src: url(/assets/jetbrains-mono-5.3.0.woff2); }
:root { color-scheme: light dark; ${properties.join(' ')}
  font: var(--regular) var(--text-section)/1.5 var(--sans); accent-color: var(--accent); }
*, ::before, ::after { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; align-items: center; background: var(--sunken); color: var(--text); }
main { width: 100%; max-width: 26rem; margin: 0 auto; padding: 1.5rem 1rem 8vh; }
.brand { display: flex; gap: .5rem; align-items: center; justify-content: center; margin: 0 0 1.25rem; font-weight: var(--medium); }
.brand::before { content: ''; width: 1.125rem; height: 1.125rem; border-radius: 5px;
  background: linear-gradient(135deg, var(--accent), light-dark(#7a8bff, #8b9bff)); }
.brand:has(+ .organisation) { margin-bottom: .25rem; }
.organisation { margin: 0 0 1.25rem; text-align: center; color: var(--quiet); }
.card { padding: 1.5rem; background: var(--raised); border: 1px solid var(--line); border-radius: var(--radius-large);
  box-shadow: 0 1px 2px light-dark(#0000000a, #0000), 0 8px 24px light-dark(#0000000d, #0000); }
h1 { margin: 0 0 .25rem; font-size: var(--text-title); font-weight: var(--medium); line-height: 1.3; }
h2 { margin: 1.5rem 0 .25rem; font-size: var(--text-section); font-weight: var(--medium); }
p { margin: .5rem 0; overflow-wrap: anywhere; }
.quiet, small { color: var(--quiet); }
.lines { white-space: pre-line; }
form { margin: 1.25rem 0 0; }
label { display: block; margin: 1rem 0 .25rem; font-weight: var(--medium); }
input:not([type=checkbox], [type=radio], [type=hidden]) { width: 100%; min-height: 2.5rem; padding: .5rem .625rem;
  font: inherit; color: inherit; background: var(--raised); border: 1px solid var(--control-line); border-radius: var(--radius-small); }
input.code { max-width: 12rem; font-size: var(--text-title); letter-spacing: .2em; font-variant-numeric: tabular-nums; }
.check { display: flex; gap: .5rem; align-items: center; font-weight: var(--regular); }
.qr { width: 13rem; margin: 1rem 0; background: #fff; border-radius: var(--radius-small); }
.qr svg { display: block; }
.or { text-align: center; color: var(--quiet); }
.entries { margin: 0; padding: 0; list-style: none; }
.entry { display: flex; flex-wrap: wrap; gap: 0 1.25rem; justify-content: space-between; align-items: baseline; }
.entry + .entry { margin-top: .5rem; padding-top: .5rem; border-top: 1px solid var(--line); }
.entry .links { margin: .25rem 0; }
.codes { columns: 12rem; padding: 0; list-style: none; }
.codes code { white-space: nowrap; }
fieldset { margin: 1rem 0; padding: 0 1rem .75rem; border: 1px solid var(--line); border-radius: var(--radius-small); }
legend { padding: 0 .25rem; font-weight: var(--medium); }
code.copied { user-select: all; }
code { font: var(--regular) var(--text-body)/1.6 var(--mono); overflow-wrap: anywhere; }
small { display: block; font-size: var(--text-small); margin-top: .25rem; }
button, .button { display: inline-flex; align-items: center; justify-content: center; min-height: 2.5rem;
  padding: .5rem 1rem; font: inherit; font-weight: var(--medium); cursor: pointer; text-decoration: none; color: #fff;
  background: var(--accent); border: 1px solid transparent; border-radius: var(--radius-small); }
button.wide { width: 100%; margin-top: 1.25rem; }
input[type=hidden] + button.wide { margin-top: 0; }
button.plain, .button.plain { color: var(--text); background: var(--raised); border-color: var(--control-line); }
button:disabled { opacity: .6; cursor: default; }
.links { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin-top: 1.25rem; }
.links.end { margin-top: 1.5rem; padding-top: 1rem; border-top: 1px solid var(--line); }
.card > :last-child, .card > form:last-child > :last-child { margin-bottom: 0; }
a { color: var(--link); }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
[role=alert] { color: var(--bad); }
[role=status] { color: var(--good); }
[role=alert]:empty, [role=status]:empty, [hidden] { display: none; }
`;
