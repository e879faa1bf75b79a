/** The one style sheet of all pages: the look and the face of the console, in light and dark, from 320 pixels on. */
export const style = `
@font-face { font-family: Inter; font-weight: 100 900; font-display: swap; src: url(/assets/inter-5.3.0.woff2); }
:root { color-scheme: light dark; font: 14px/1.5 Inter, system-ui, sans-serif; accent-color: var(--primary);
  --ground: light-dark(#fafafb, #0b0c0e); --surface: light-dark(#fff, #16181b); --text: light-dark(#16181d, #eeeff1);
  --quiet: light-dark(#5c636e, #9a9fa9); --line: light-dark(#e6e8ec, #25282d); --field: light-dark(#8b929b, #6c727a);
  --primary: light-dark(#3a50d9, #4d63e4); --link: light-dark(#3347cf, #98a8ff); --fault: light-dark(#a8201a, #ff8f86);
  --done: light-dark(#17693a, #5fd08d); }
*, ::before, ::after { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; align-items: center; background: var(--ground); color: var(--text); }
main { width: 100%; max-width: 26rem; margin: 0 auto; padding: 1.5rem 1rem 8vh; }
.brand { display: flex; gap: .5rem; align-items: center; justify-content: center; margin: 0 0 1.25rem; font-weight: 600; }
.brand::before { content: ''; width: 1.125rem; height: 1.125rem; border-radius: 5px;
  background: linear-gradient(135deg, var(--primary), light-dark(#7a8bff, #8b9bff)); }
.brand:has(+ .organisation) { margin-bottom: .25rem; }
.organisation { margin: 0 0 1.25rem; text-align: center; color: var(--quiet); }
.card { padding: 1.5rem; background: var(--surface); border: 1px solid var(--line); border-radius: 12px;
  box-shadow: 0 1px 2px light-dark(#0000000a, #0000), 0 8px 24px light-dark(#0000000d, #0000); }
h1 { margin: 0 0 .25rem; font-size: 1.25rem; line-height: 1.3; }
h2 { margin: 1.5rem 0 .25rem; font-size: 1rem; }
p { margin: .5rem 0; overflow-wrap: anywhere; }
.quiet, small { color: var(--quiet); }
.lines { white-space: pre-line; }
form { margin: 1.25rem 0 0; }
label { display: block; margin: 1rem 0 .25rem; font-weight: 500; }
input:not([type=checkbox], [type=radio], [type=hidden]) { width: 100%; min-height: 2.5rem; padding: .5rem .625rem;
  font: inherit; color: inherit; background: var(--surface); border: 1px solid var(--field); border-radius: 6px; }
input.code { max-width: 12rem; font-size: 1.125rem; letter-spacing: .2em; font-variant-numeric: tabular-nums; }
.check { display: flex; gap: .5rem; align-items: center; font-weight: 400; }
.qr { width: 13rem; margin: 1rem 0; background: #fff; border-radius: 6px; }
.qr svg { display: block; }
.or { text-align: center; color: var(--quiet); }
.entries { margin: 0; padding: 0; list-style: none; }
.entry { display: flex; flex-wrap: wrap; gap: 0 1.25rem; justify-content: space-between; align-items: baseline; }
.entry + .entry { margin-top: .5rem; padding-top: .5rem; border-top: 1px solid var(--line); }
.entry .links { margin: .25rem 0; }
.codes { columns: 12rem; padding: 0; list-style: none; }
.codes code { white-space: nowrap; }
fieldset { margin: 1rem 0; padding: 0 1rem .75rem; border: 1px solid var(--line); border-radius: 6px; }
legend { padding: 0 .25rem; font-weight: 500; }
code { font: .9375rem/1.6 ui-monospace, monospace; overflow-wrap: anywhere; }
small { display: block; margin-top: .25rem; }
button, .button { display: inline-flex; align-items: center; justify-content: center; min-height: 2.5rem;
  padding: .5rem 1rem; font: inherit; font-weight: 500; cursor: pointer; text-decoration: none; color: #fff;
  background: var(--primary); border: 1px solid transparent; border-radius: 6px; }
button.wide { width: 100%; margin-top: 1.25rem; }
input[type=hidden] + button.wide { margin-top: 0; }
button.plain, .button.plain { color: var(--text); background: var(--surface); border-color: var(--field); }
button:disabled { opacity: .6; cursor: default; }
.links { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin-top: 1.25rem; }
.links.end { margin-top: 1.5rem; padding-top: 1rem; border-top: 1px solid var(--line); }
.card > :last-child, .card > form:last-child > :last-child { margin-bottom: 0; }
a { color: var(--link); }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
[role=alert] { color: var(--fault); }
[role=status] { color: var(--done); }
[role=alert]:empty, [role=status]:empty, [hidden] { display: none; }
`;
