import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AccessEntry } from '../documents/contract.js';
import { PermanentError } from '../run.js';
import type { StreamMapping } from './mapping.js';
import { createMask } from './masking.js';
import {
  type JsonSchema,
  type Message,
  parseMessage,
  type SourceFault,
  type StreamInfo,
} from './messages.js';
import { startSource, TOO_LONG } from './source-process.js';

/** One source, and what becomes of its records: an entry of the file, or what the options say. */
export interface SourceDefinition {
  readonly connector: string;
  readonly instance: string;
  /** Any command that speaks the protocol, as a shell reads it. `{dir}` is the folder with its files. */
  readonly command: string;
  readonly config: unknown;
  readonly streams: Readonly<Record<string, StreamMapping>>;
  /** Of documents whose stream does not say otherwise. Undefined: as the source's permissions say. */
  readonly access: readonly AccessEntry[] | undefined;
  /** The configuration with which the source gives the permissions of its files instead of their content. */
  readonly permissions?: unknown;
  /** What is crawled, for the members who search it; its configuration may be nobody else's business. */
  readonly about?: string;
  /** Where states are kept that are too large for a checkpoint. */
  readonly folder: string;
  readonly environment: NodeJS.ProcessEnv;
}

/** Returns a fault that the source has named itself. A wrong configuration stays wrong, so it is not retried. */
export const toSourceError = (
  message: string,
  { failure_type: type }: Pick<SourceFault, 'failure_type'>,
): Error => (type === 'config_error' ? new PermanentError(message) : new Error(message));

/** Starts the source with files in a folder for this process alone, which is removed when it has ended. */
export async function openSource(
  { command, config, environment }: SourceDefinition,
  verb: 'spec' | 'check' | 'discover' | 'read',
  files: { readonly catalog?: unknown; readonly state?: string } = {},
) {
  const folder = await mkdtemp(join(tmpdir(), 'crawl-worker-'));
  const args: string[] = [verb];
  const add = async (name: string, json: string) => {
    const path = join(folder, `${name}.json`);
    await writeFile(path, json, { mode: 0o600 });
    args.push(`--${name}`, path);
  };
  try {
    if (verb !== 'spec') await add('config', JSON.stringify(config));
    if (files.catalog !== undefined) await add('catalog', JSON.stringify(files.catalog));
    if (files.state !== undefined) await add('state', files.state);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
  const source = startSource(command.replaceAll('{dir}', folder), args, environment);
  async function cleanUp() {
    const ending = await source.exited;
    await rm(folder, { recursive: true, force: true });
    return ending;
  }
  return { ...source, exited: cleanUp() };
}

/** Runs a command of the source to its end. @throws PermanentError, Error. */
async function runSource(
  definition: SourceDefinition,
  verb: 'spec' | 'check' | 'discover',
  mask: (text: string) => string,
): Promise<Message[]> {
  const source = await openSource(definition, verb);
  const messages: Message[] = [];
  for await (const line of source.lines()) {
    const message = line === TOO_LONG ? undefined : parseMessage(line);
    if (message && message.type !== 'LOG' && message.type !== 'RECORD') messages.push(message);
  }
  const { code } = await source.exited;
  if (messages.some(({ type }) => type === 'SPEC' || type === 'CONNECTION_STATUS' || type === 'CATALOG'))
    return messages;
  for (const message of messages) {
    const error = message.type === 'TRACE' ? message.trace.error : undefined;
    if (error) throw toSourceError(mask(error.message), error);
  }
  const tail = mask(source.stderrTail()).split('\n').at(-1);
  throw new Error(`The source's ${verb} ended with exit code ${code}${tail ? `: ${tail}` : ''}`);
}

/** What a source says about itself: each is asked once. */
export function createSourceClient(definition: SourceDefinition) {
  // Until the specification is known, everything in the configuration is a secret.
  let mask = createMask(definition.config, undefined);
  let specified: Promise<void> | undefined;
  let catalog: Promise<readonly StreamInfo[]> | undefined;

  async function readSpec(): Promise<void> {
    const messages: readonly Message[] = await runSource(definition, 'spec', mask).catch(() => []);
    const schema = messages.find((message) => message.type === 'SPEC')?.spec.connectionSpecification;
    if (schema) mask = createMask(definition.config, schema satisfies JsonSchema);
  }

  const ensureMask = () => (specified ??= readSpec());

  return {
    /** Returns the function that hides the secrets of the configuration. */
    async getMask(): Promise<(text: string) => string> {
      await ensureMask();
      return mask;
    },

    /** @returns what is wrong; undefined if nothing is. */
    async check(): Promise<string | undefined> {
      await ensureMask();
      const messages = await runSource(definition, 'check', mask);
      const status = messages.find((message) => message.type === 'CONNECTION_STATUS')?.connectionStatus;
      return status?.status === 'SUCCEEDED'
        ? undefined
        : mask(status?.message ?? 'The source says that it failed.');
    },

    /** @throws PermanentError, Error. */
    async discover(): Promise<readonly StreamInfo[]> {
      await ensureMask();
      catalog ??= runSource(definition, 'discover', mask).then((messages) => {
        const found = messages.find((message) => message.type === 'CATALOG');
        if (!found) throw new Error('The source has described no streams');
        return found.catalog.streams;
      });
      // A failure is not kept.
      catalog.catch(() => (catalog = undefined));
      return catalog;
    },
  };
}

export type SourceClient = ReturnType<typeof createSourceClient>;
