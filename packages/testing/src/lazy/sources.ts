import { EmbeddedServerError, startEmbeddedKafka, startEmbeddedRedis } from '@platform/embedded';
import { isDockerAnswering } from '../docker-engine.js';
import { makeTemporaryDir } from '../temporary-dir.js';
import { type LazyServer, startContainer } from './containers.js';
import { GIVEN_VARIABLE, type LazyService, readGiven } from '../environment.js';

/** Uses the given server, otherwise one from Testcontainers, otherwise an embedded one. */
export async function startLazyServer(
  service: LazyService,
  log: (line: string) => void,
): Promise<LazyServer> {
  const given = readGiven(service);
  if (given) return { address: given, source: 'given', stop: () => Promise.resolve() };
  if (await isDockerAnswering()) {
    try {
      return await startContainer(service);
    } catch (error) {
      const reason = String(error instanceof Error ? error.message : error).split('\n')[0];
      log(`tests: Docker answers, but has no ${service} (${reason}); using the embedded one`);
    }
  }
  return startEmbedded(service).catch((error: unknown) => {
    if (!(error instanceof EmbeddedServerError)) throw error;
    throw new EmbeddedServerError(`${error.message}, or give ${GIVEN_VARIABLE[service]}`, { cause: error });
  });
}

async function startEmbedded(service: LazyService): Promise<LazyServer> {
  const dataDir = await makeTemporaryDir(`platform-test-${service}-`);
  if (service === 'kafka') {
    const kafka = await startEmbeddedKafka({ dataDir, isTemporary: true });
    return { address: kafka.brokers, source: 'embedded', stop: () => kafka.close() };
  }
  const redis = await startEmbeddedRedis({ dataDir, isTemporary: true, isDurable: false });
  return { address: redis.url, source: 'embedded', stop: () => redis.close() };
}
