import { isMainThread } from 'node:worker_threads';
import { register } from 'tsx/esm/api';

// From Node 22 on, a worker inherits what `--import=tsx` registered in the main thread.
if (!isMainThread && Number.parseInt(process.versions.node, 10) < 22) register();
