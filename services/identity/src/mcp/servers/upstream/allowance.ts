import { AsyncLocalStorage } from 'node:async_hooks';
import { createPermits } from '@platform/service-kit';
import { UpstreamFault } from '../../../base/egress/faults.js';
import type { RelayedTexts } from './relayed-texts.js';

/** Bytes of answers that are held at the same time. An organisation can hold a quarter. */
const MAX_HELD_BYTES = 16 * 1_048_576;
const MAX_HELD_BYTES_PER_ORG = MAX_HELD_BYTES / 4;
/** Small answers are not counted: they get through, whatever the large ones of others hold. */
const UNCOUNTED_BYTES = 32 * 1_024;
/** The protocol of this client is one-way. A server that goes on asking is not worth listening to. */
const MAX_INBOUND_REQUESTS = 5;

const toCounted = (bytes: number): number => Math.max(0, bytes - UNCOUNTED_BYTES);

/** The limits of one operation with all its requests: a call, a list with all its pages, or a handshake. */
export interface Allowance {
  /** Aborted by the fault that ends the operation. */
  readonly signal: AbortSignal;
  /** Counts bytes of an answer as they arrive. @throws UpstreamFault. */
  acquire(bytes: number): void;
  /** Counts a request of the server, which is dropped. */
  drop(): void;
  getReceivedBytes(): number;
  /** What the operation passes on as it came. */
  readonly texts: RelayedTexts;
}

export interface AllowanceOptions {
  readonly orgId: string;
  readonly maxBytes: number;
  /** The longest duration of the whole operation. */
  readonly timeoutMs?: number;
}

/**
 * Limits the memory that servers can occupy with their answers, which while they are parsed and passed on cost a
 * multiple of their bytes: by operation, organisation and process.
 */
export function createAllowances() {
  // The client's interface has no room for it between the call and the requests that the call sends.
  const current = new AsyncLocalStorage<Allowance>();
  const memory = createPermits({ total: MAX_HELD_BYTES, perKey: MAX_HELD_BYTES_PER_ORG });

  return {
    /**
     * Runs an operation, whose requests share an allowance.
     *
     * @throws UpstreamFault that has ended the operation, or what the operation threw.
     */
    async run<T>(
      { orgId, maxBytes, timeoutMs }: AllowanceOptions,
      operation: (allowance: Allowance) => Promise<T>,
    ): Promise<T> {
      const controller = new AbortController();
      let fault: UpstreamFault | undefined;
      let received = 0;
      let dropped = 0;
      let isOver = false;
      const end = (kind: UpstreamFault['kind']): UpstreamFault => {
        fault ??= new UpstreamFault(kind);
        controller.abort(fault);
        return fault;
      };
      const allowance: Allowance = {
        signal: controller.signal,
        acquire(bytes) {
          if (isOver || fault) throw end('too_large');
          const counted = toCounted(received + bytes) - toCounted(received);
          if (received + bytes > maxBytes) throw end('too_large');
          if (!memory.tryAcquire(orgId, counted)) throw end('busy');
          received += bytes;
        },
        drop() {
          dropped += 1;
          if (dropped > MAX_INBOUND_REQUESTS) end('invalid_answer');
        },
        getReceivedBytes: () => received,
        texts: {},
      };
      const timer = timeoutMs === undefined ? undefined : setTimeout(() => end('timeout'), timeoutMs);
      try {
        return await current.run(allowance, () => operation(allowance));
      } catch (error) {
        throw fault ?? error;
      } finally {
        clearTimeout(timer);
        isOver = true;
        memory.release(orgId, toCounted(received));
      }
    },

    /** Returns the allowance of the operation that sends a request; undefined for what it leaves behind. */
    getCurrent: (): Allowance | undefined => current.getStore(),
  };
}

export type Allowances = ReturnType<typeof createAllowances>;
