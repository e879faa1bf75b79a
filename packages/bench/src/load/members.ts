import { setTimeout as delay } from 'node:timers/promises';
import { percentile } from '../runner/measurement.js';
import { repeat, time } from './load.js';

/** Members who work at an ordinary pace, so that the server is not busy with them alone. */
export const MEMBERS = 8;
const PAUSE_MS = 20;

/** Creates a load of members who read their profiles. It returns the 99th percentile of the latency, in milliseconds. */
export const createMemberLoad =
  (url: string, tokens: readonly string[]) =>
  async (seconds: number): Promise<number> => {
    const latenciesMs: number[] = [];
    const read = async (member: number) => {
      const headers = { authorization: `Bearer ${tokens[member]}` };
      const { status } = await time(latenciesMs, async () => {
        const response = await fetch(`${url}/api/v1/users/me`, { headers });
        await response.arrayBuffer();
        return response;
      });
      if (status !== 200) throw new Error(`a member was answered ${status}`);
      await delay(PAUSE_MS);
    };
    await repeat(read, tokens.length, seconds);
    return percentile(latenciesMs, 0.99);
  };
