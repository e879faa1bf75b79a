/** The one style sheet of all pages: the look of the console, in light and dark, from 320 pixels on. */
export const style = `
:root { color-scheme: light dark; font: 14px/1.5 system-ui, sans-serif; accent-color: var(--primary);
  --ground: light-dark(#f6f7f9, #0a0b0d); --surface: light-dark(#fff, #17181b); --text: light-dark(#15171a, #f3f4f5);
  --quiet: light-dark(#5a626c, #9ba1a9); --line: light-dark(#d8dce1, #2e3136); --field: light-dark(#8b929b, #6c727a);
  --primary: light-dark(#2f4bd8, #4763e8); --link: light-dark(#2f4bd8, #93a5ff); --fault: light-dark(#a8201a, #ff8f86);
  --done: light-dark(#17693a, #5fd08d); }
*, ::before, ::after { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; background: var(--ground); color: var(--text); }
main { max-width: 26rem; margin: 0 auto; padding: clamp(1.5rem, 10vh, 6rem) 1rem 2rem; }
.brand { display: flex; gap: .5rem; align-items: center; margin: 0 0 1rem; font-weight: 600; }
.brand::before { content: ''; width: 1.125rem; height: 1.125rem; border-radius: 5px; background: var(--primary); }
.card { padding: 1.5rem; background: var(--surface); border: 1px solid var(--line); border-radius: 10px;
  box-shadow: 0 1px 3px light-dark(#0000000d, #0000); }
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
