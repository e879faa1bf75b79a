// Ends when ten answers in a row come from an identity that is not older than VERSION, or after five minutes.
import { get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

const DEADLINE_MS = 300_000;
const toNumbers = (version) => (/^v?(\d+)\.(\d+)\.(\d+)/.exec(version) ?? []).slice(1).map(Number);
const wanted = toNumbers(process.env.VERSION);

function isOlder(version) {
  const actual = toNumbers(version);
  const index = wanted.findIndex((number, place) => number !== actual[place]);
  return index >= 0 && !(actual[index] > wanted[index]);
}

/** Each request opens a new connection, so that another replica may answer it. */
const readVersion = () =>
  new Promise((resolve, reject) => {
    const request = get(
      `${process.env.IDENTITY_URL}/health`,
      { agent: false, timeout: 2_000 },
      (response) => {
        response.on('error', reject);
        response
          .setEncoding('utf8')
          .toArray()
          .then((parts) => resolve(JSON.parse(parts.join('')).version))
          .catch(reject);
      },
    );
    request.on('timeout', () => request.destroy(new Error('no answer within 2 s'))).on('error', reject);
  });

const started = Date.now();
let problem;
for (let answers = 0; answers < 10;) {
  try {
    const version = await readVersion();
    problem = isOlder(version) ? `identity is still ${version}, this is ${process.env.VERSION}` : undefined;
  } catch (error) {
    problem = `identity does not answer: ${error.message}`;
  }
  answers = problem ? 0 : answers + 1;
  if (Date.now() - started > DEADLINE_MS) {
    console.error(`${problem}; starting nevertheless`);
    break;
  }
  await delay(problem ? 1_000 : 100);
}
