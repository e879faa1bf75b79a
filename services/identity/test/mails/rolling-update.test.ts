import { createHash } from 'node:crypto';
import {
  codeIn,
  newPassword,
  type Platform,
  startPlatform,
  tokenIn,
} from '../sign-in/account-flows/platform.js';

/*
 * A replica from before the column `secret_sealed` replaces `secret_hash` alone, so that the two of a row no longer match.
 */

let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(() => platform.close());

async function replaceAsOlderReplica(purpose: string, email: string): Promise<void> {
  const { rowCount } = await platform.identity.db.query(
    `update one_time_secrets set secret_hash = $3, created_at = now()
     where purpose = $1 and user_id = (select id from users where email = $2)`,
    [purpose, email, createHash('sha256').update(`another ${email}`).digest('base64url')],
  );
  expect(rowCount).toBe(1);
}

test('mails a code that works after an older replica has replaced the stored one', async () => {
  const { email } = await platform.createUser();
  await platform.post('otp', { email });
  await platform.mailTo(email, /^Your sign-in code$/);
  await replaceAsOlderReplica('login_code', email);
  await platform.minutePassed();
  await platform.post('otp', { email });
  const otp = codeIn(await platform.mailTo(email, /^Your sign-in code$/, 2));
  expect((await platform.post('login', { email, otp })).status).toBe(200);
});

test('mails a link that works after an older replica has replaced the stored one', async () => {
  const { email } = await platform.createUser();
  await platform.post('password/forgot', { email });
  await platform.mailTo(email, /^Choose a new password$/);
  await replaceAsOlderReplica('password_reset', email);
  await platform.minutePassed();
  await platform.post('password/forgot', { email });
  const token = tokenIn(await platform.mailTo(email, /^Choose a new password$/, 2));
  expect((await platform.post('password/reset', { token, password: newPassword })).status).toBe(200);
});
