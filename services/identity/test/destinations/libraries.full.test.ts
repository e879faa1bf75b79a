import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createWebhookSecret, parseWebhookSecret, signatureHeaders } from '@platform/service-kit';
import { describeWith } from '@platform/testing';

/* The libraries of Standard Webhooks verify what identity signs, with either secret while one is replaced. */

const run = promisify(execFile);
const INSTALL_MS = 120_000;

const secrets = [createWebhookSecret(), createWebhookSecret()];
const body = JSON.stringify({
  specversion: '1.0',
  type: 'member.joined',
  data: { fullName: 'Zoë “the” 語' },
});
const keys = secrets.flatMap((secret) => parseWebhookSecret(secret) ?? []);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'webhooks-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Gives a program the headers, the body and the secrets. @returns the secrets that verify, as it prints them. */
async function verify(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<string[]> {
  const headers = signatureHeaders(keys, { id: 'fact-1', at: Date.now(), content: body });
  const given = JSON.stringify({ headers, body, secrets: [...secrets, createWebhookSecret()] });
  const { stdout } = await run(program, args, { cwd: folder, env: { ...process.env, ...env, GIVEN: given } });
  return stdout.trim().split('\n');
}

describeWith('python', 'the Python library of Standard Webhooks', () => {
  beforeAll(async () => {
    await run('python3', ['-m', 'venv', join(folder, 'venv')]);
    const install = [
      '-m',
      'pip',
      'install',
      '--quiet',
      '--disable-pip-version-check',
      'standardwebhooks==1.1.0',
    ];
    await run(join(folder, 'venv/bin/python'), install, { timeout: INSTALL_MS });
  }, INSTALL_MS);

  test('AUD-17 verifies a fact with each of two secrets, and no other', async () => {
    const program = `
import json, os
from standardwebhooks import Webhook
given = json.loads(os.environ["GIVEN"])
for secret in given["secrets"]:
    try:
        Webhook(secret).verify(given["body"], given["headers"])
        print(secret)
    except Exception:
        pass
`;
    expect(await verify(join(folder, 'venv/bin/python'), ['-c', program])).toEqual(secrets);
  });
});

describeWith('go', 'the Go library of Standard Webhooks', () => {
  beforeAll(async () => {
    await writeFile(
      join(folder, 'main.go'),
      `package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

func main() {
	var given struct {
		Headers map[string]string
		Body    string
		Secrets []string
	}
	if err := json.Unmarshal([]byte(os.Getenv("GIVEN")), &given); err != nil {
		panic(err)
	}
	headers := http.Header{}
	for name, value := range given.Headers {
		headers.Set(name, value)
	}
	for _, secret := range given.Secrets {
		webhook, err := webhooks.NewWebhook(secret)
		if err != nil {
			panic(err)
		}
		if webhook.Verify([]byte(given.Body), headers) == nil {
			fmt.Println(secret)
		}
	}
}
`,
    );
    await run('go', ['mod', 'init', 'example.com/verify'], { cwd: folder });
    await run('go', ['get', 'github.com/standard-webhooks/standard-webhooks/libraries@v0.0.1'], {
      cwd: folder,
      timeout: INSTALL_MS,
    });
  }, INSTALL_MS);

  test('AUD-17 verifies a fact with each of two secrets, and no other', async () => {
    expect(await verify('go', ['run', '.'])).toEqual(secrets);
  });
});
