// Takes pictures of the mails that the platform sends, for services/mail/docs: starts the platform, causes each mail
// as a user would, and captures it in the inbox. It needs Chromium; CHROMIUM names one in an unusual place.
//
// npm run build && node packages/local/capture-mails.mjs
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { chromium } from 'playwright-core';

const ROOT = resolve(import.meta.dirname, '../..');
const PICTURES = join(ROOT, 'services/mail/docs');
const EXECUTABLE = process.env.CHROMIUM ?? '/usr/bin/chromium-headless-shell';
const PORTS = { port: 18_180, 'inbox-port': 18_181, 'smtp-catcher-port': 18_182 };
const BASE = `http://127.0.0.1:${PORTS.port}/api/v1`;
const ADMIN = { email: 'grace@example.com', password: 'a-password-for-pictures' };
const MEMBER = { email: 'ada@example.com', password: 'another-password-for-pictures' };
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0';
const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36';

/** The subject of each template's mail. */
const SUBJECTS = {
  appuserInvite: 'You are invited to Example Ltd',
  accountCreation: 'Your account is ready',
  loginWithOTP: 'Your sign-in code',
  resetPassword: 'Choose a new password',
  suspiciousLoginAttempt: 'New sign-in to your account',
};

async function post(path, body, headers = {}) {
  const response = await fetch(`${BASE}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'user-agent': FIREFOX, ...headers },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`);
  return response.status === 204 ? undefined : response.json().catch(() => undefined);
}

/** @returns the mail with a subject, once it has arrived */
async function waitForMail(subject) {
  const inbox = `http://127.0.0.1:${PORTS['inbox-port']}/api/mails`;
  for (let attempt = 0; attempt < 300; attempt += 1) {
    const { mails } = await (await fetch(inbox)).json();
    const found = mails.find((mail) => mail.subject === subject && mail.to.includes(MEMBER.email));
    if (found) return (await fetch(`${inbox}/${found.id}`)).json();
    await delay(100);
  }
  throw new Error(`"${subject}" did not arrive`);
}

async function causeMails() {
  const { accessToken } = await post('/auth/login', ADMIN);
  const user = { email: MEMBER.email, fullName: 'Ada Lovelace' };
  await post('/users', user, { authorization: `Bearer ${accessToken}` });
  const { text } = await waitForMail(SUBJECTS.appuserInvite);
  const token = /[#?]token=([\w-]+)/.exec(text)?.[1];
  await post('/auth/invitations/accept', { token, password: MEMBER.password });
  await post('/auth/otp', { email: MEMBER.email });
  await post('/auth/password/forgot', { email: MEMBER.email });
  await post('/auth/login', MEMBER, { 'user-agent': CHROME });
}

async function takePictures() {
  const browser = await chromium.launch({
    executablePath: EXECUTABLE,
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
  for (const [template, subject] of Object.entries(SUBJECTS)) {
    const { html } = await waitForMail(subject);
    for (const colorScheme of ['light', 'dark']) {
      for (const width of [320, 640]) {
        const page = await browser.newPage({ colorScheme, viewport: { width, height: 200 } });
        await page.setContent(html);
        const path = join(PICTURES, `${template}-${colorScheme}-${width}.png`);
        await page.screenshot({ path, fullPage: true });
        await page.close();
        process.stdout.write(`${path}\n`);
      }
    }
  }
  await browser.close();
}

const folder = await mkdtemp(join(tmpdir(), 'capture-mails-'));
const flags = Object.entries(PORTS).flatMap(([name, value]) => [`--${name}`, String(value)]);
const platform = spawn(
  process.execPath,
  [join(import.meta.dirname, 'start.mjs'), '--no-demo', ...flags, '--data-dir', join(folder, 'data')],
  {
    env: {
      ...process.env,
      BOOTSTRAP_ORG_NAME: 'Example Ltd',
      BOOTSTRAP_ADMIN_EMAIL: ADMIN.email,
      BOOTSTRAP_ADMIN_PASSWORD: ADMIN.password,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  },
);
const ended = new Promise((done) => platform.once('exit', done));
try {
  let output = '';
  for await (const chunk of platform.stdout) {
    output += chunk;
    if (output.includes('The platform is ready')) break;
  }
  await causeMails();
  await takePictures();
} finally {
  platform.kill('SIGTERM');
  await ended;
  await rm(folder, { recursive: true, force: true });
}
