import { addEventHandler } from 'jest-circus';

/** No test is judged by its speed: this only ends a hang, with the test's name, and also on a busy machine. */
const DEFAULT_LIMIT_MS = 600_000;

/** The real ones, also while a test uses fake timers. */
const { setTimeout, clearTimeout } = globalThis;

// The runner knows no time limits, so each test and hook gets one as it is defined.
addEventHandler((event, state) => {
  if (event.name !== 'add_test' && event.name !== 'add_hook') return;
  const { currentDescribeBlock: block } = state;
  const added = event.name === 'add_test' ? block.children.at(-1) : block.hooks.at(-1);
  if (added.fn) added.fn = limitTime(added.fn, added.timeout ?? DEFAULT_LIMIT_MS);
});

const limitTime = (run, limitMs) => async () => {
  let timer;
  const limit = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`did not end within ${limitMs / 1_000} s`)), limitMs);
  });
  try {
    await Promise.race([run(), limit]);
  } finally {
    clearTimeout(timer);
  }
};
