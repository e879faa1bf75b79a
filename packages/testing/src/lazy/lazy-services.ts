import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LAZY_SERVICES_VARIABLE, type LazyService } from '../environment.js';
import { startSharedIdentity, type TestOrganisation } from './identity.js';
import { startSharedPlatform } from './platform.js';
import { startLazyServer } from './sources.js';

/** Starts the servers of a test run on demand, and stops them in the end. */
export interface LazyServices {
  /** The variables to add to the environment of Jest's workers. */
  readonly variables: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/**
 * Answers `GET /kafka`, `GET /redis`, `GET /identity` and `GET /platform` of the workers on loopback: the first question
 * starts the server, so a run without such tests pays nothing. `GET /organisations/<name>` creates that organisation in
 * the shared identity once, and `GET /platform-organisations/<name>` in the shared platform.
 */
export async function startLazyServices(
  log: (line: string) => void = (line) => process.stderr.write(`${line}\n`),
): Promise<LazyServices> {
  const servers = createOnce((service: LazyService) => startLazyServer(service, log));
  const identity = createOnce(() => startSharedIdentity());
  const platform = createOnce(() => startSharedPlatform());
  const organisations = createOnce(createOneByOne(() => identity.get('')));
  const platformOrganisations = createOnce(createOneByOne(() => platform.get('')));
  const answer = async ([what = '', name = '']: string[]): Promise<string> => {
    if (what === 'organisations') return JSON.stringify(await organisations.get(name));
    if (what === 'platform-organisations') return JSON.stringify(await platformOrganisations.get(name));
    if (what === 'platform') return JSON.stringify((await platform.get('')).addresses);
    return (await (what === 'identity' ? identity.get('') : servers.get(what as LazyService))).address;
  };
  const desk = createServer((request, response) => {
    // A worker would use a connection again that is about to be closed as idle.
    response.setHeader('connection', 'close');
    answer((request.url ?? '').slice(1).split('/')).then(
      (text) => response.end(text),
      (error: Error) => response.writeHead(500).end(error.message),
    );
  });
  desk.listen(0, '127.0.0.1');
  await once(desk, 'listening');
  return {
    variables: {
      [LAZY_SERVICES_VARIABLE]: `http://127.0.0.1:${(desk.address() as AddressInfo).port}`,
    },
    async stop() {
      desk.close();
      desk.closeAllConnections();
      const started = [...servers.all(), ...identity.all(), ...platform.all()];
      await Promise.allSettled(started.map(async (server) => (await server).stop()));
    },
  };
}

interface OrganisationCreator {
  createOrganisation(): Promise<TestOrganisation>;
}

/** Creates organisations one after another: the first of a batch starts the command, and the others wait for it. */
function createOneByOne(getCreator: () => Promise<OrganisationCreator>): () => Promise<TestOrganisation> {
  let creating: Promise<unknown> = Promise.resolve();
  return () => {
    const created = creating.then(async () => (await getCreator()).createOrganisation());
    creating = created.catch(() => undefined);
    return created;
  };
}

/** Creates a value for each key once, and returns the same value from then on. */
function createOnce<Key, Value>(create: (key: Key) => Promise<Value>) {
  const created = new Map<Key, Promise<Value>>();
  return {
    get(key: Key): Promise<Value> {
      const value = created.get(key) ?? create(key);
      created.set(key, value);
      return value;
    },
    all: () => created.values(),
  };
}
