import type { Suite } from '../../runner/measurement.js';
import { besideRequests } from './beside-requests.js';
import { deadNeighbours } from './dead-neighbours.js';
import { subscriptions } from './subscriptions.js';

export const factsSuite: Suite = {
  name: 'facts',
  title: 'facts on their way to destinations, and who waits for them',
  isPinned: true,
  measurements: [besideRequests, deadNeighbours, subscriptions],
};
