#!/usr/bin/env node
import { runMain } from '@platform/service-kit/run-main';

await runMain(async () => (await import('./commands.js')).main());
