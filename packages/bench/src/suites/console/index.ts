import type { Suite } from '../../runner/measurement.js';
import { paint } from './paint.js';
import { routeChange } from './route-change.js';

export const consoleSuite: Suite = {
  name: 'console',
  title: 'the web console in a real Chromium, on a loopback',
  isPinned: false,
  measurements: [paint, routeChange],
};
