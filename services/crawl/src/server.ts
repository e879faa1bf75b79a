import { runMain } from '@platform/service-kit/run-main';

await runMain(async (signals) => (await import('./main.js')).main(signals));
