// Shows what a long task is doing: a spinner on a terminal, plain lines elsewhere. Uses nothing but Node, because
// it has to run before the first install.

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 80;
/** Without a terminal a step is announced only when it turns out to be slow: quick ones need one line, not two. */
const SLOW_STEP_MS = 2_000;

const out = process.stderr;
const isLive = () => out.isTTY && process.env.TERM !== 'dumb' && !process.env.CI;
const colour = (code, text) =>
  out.isTTY && !process.env.NO_COLOR ? `\u001b[${code}m${text}\u001b[39m` : text;

/**
 * Runs one step of a longer task and shows how it goes.
 *
 * @template T
 * @param {string} title what is being done
 * @param {(note: (detail: string) => void) => Promise<T>} work gets a function that shows the latest detail
 * @returns {Promise<T>} what `work` returns; what it throws is thrown on, after the step is marked as failed
 */
export async function showStep(title, work) {
  const startedAt = performance.now();
  const display = isLive() ? startSpinner(title) : startPlain(title);
  const seconds = () => `${((performance.now() - startedAt) / 1000).toFixed(1)} s`;
  try {
    const result = await work(display.note);
    display.end();
    out.write(`${colour(32, '✓')} ${title} (${seconds()})\n`);
    return result;
  } catch (error) {
    display.end();
    out.write(`${colour(31, '✗')} ${title} (${seconds()})\n`);
    throw error;
  }
}

function startPlain(title) {
  const timer = setTimeout(() => out.write(`… ${title}\n`), SLOW_STEP_MS);
  return { note: () => undefined, end: () => clearTimeout(timer) };
}

function startSpinner(title) {
  let frame = 0;
  let detail = '';
  const draw = () => {
    const line = `${FRAMES[frame++ % FRAMES.length]} ${title}${detail && ` · ${detail}`}`;
    out.write(`\r\u001b[K${line.slice(0, (out.columns ?? 80) - 1)}`);
  };
  const timer = setInterval(draw, FRAME_MS);
  draw();
  return {
    note: (text) => {
      detail = text.replaceAll(/\p{Cc}+/gu, ' ').trim();
    },
    end: () => {
      clearInterval(timer);
      out.write('\r\u001b[K');
    },
  };
}
