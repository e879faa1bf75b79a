import { startKnowledgeServer } from './knowledge-server.js';
import { readSettings } from './settings.js';

/** Runs the server until SIGTERM, or until its launcher is gone. */
async function run(): Promise<void> {
  const server = await startKnowledgeServer(readSettings(process.env), (line) => {
    process.stdout.write(`${new Date().toISOString()} ${line}\n`);
  });
  let isStopping = false;
  const stop = () => {
    if (isStopping) return;
    isStopping = true;
    void server.close().finally(() => process.exit());
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.once('disconnect', stop);
}

await run().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
