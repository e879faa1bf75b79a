import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';

test("the generated files are what the services' openapi.json say (else: npm run generate-clients)", async () => {
  const generator = resolve(__dirname, '../generate.mjs');
  await expect(promisify(execFile)(process.execPath, [generator, '--check'])).resolves.toMatchObject({
    stderr: '',
  });
});
