import { describeWith } from '@platform/testing';
import { buildEdited, type Tree } from './kustomize.js';

/** Yields every value in a tree with its path, such as `spec.hosts.0`. */
// prettier-ignore
function* listLeaves(tree: Tree, path = ''): Generator<readonly [string, unknown]> {
  if (tree === null || typeof tree !== 'object') yield [path, tree];
  else for (const [key, value] of Object.entries(tree)) yield* listLeaves(value, path === '' ? key : `${path}.${key}`);
}

/** Edits that an operator makes in an overlay's one file, and where they must appear: manifest, path, value. */
const edited = {
  production: {
    edits: [
      ['https://knowledge.example.com', 'https://wissen.example.org:8443'],
      ['name: gateway,', 'name: edge,'],
      ['registry.example.com/platform/mail,', 'harbor.example.org/mail,'],
      ['memory: 768Mi', 'memory: 900Mi'],
      ['memory: 256Mi', 'memory: 300Mi'],
      ['minReplicas, value: 3', 'minReplicas, value: 4'],
      ['maxReplicas, value: 12', 'maxReplicas, value: 20'],
      ['averageUtilization, value: 300', 'averageUtilization, value: 70'],
      ['# - ../../components/keda', '- ../../components/keda'],
      ['http://prometheus-operated.monitoring:9090', 'http://thanos.metrics:9090'],
    ],
    found: [
      ['HTTPRoute platform', 'spec.hostnames.0', 'wissen.example.org'],
      ['HTTPRoute platform', 'spec.parentRefs.0.name', 'edge'],
      ['Deployment mail', 'spec.template.spec.containers.0.image', 'harbor.example.org/mail:0.1.0'],
      ['Deployment mail', 'spec.template.spec.containers.0.resources.limits.memory', '900Mi'],
      ['Job migrate-crawl', 'spec.template.spec.containers.0.resources.limits.memory', '300Mi'],
      ['HorizontalPodAutoscaler crawl', 'spec.minReplicas', 4],
      ['HorizontalPodAutoscaler identity', 'spec.maxReplicas', 20],
      ['HorizontalPodAutoscaler mail', 'spec.metrics.0.resource.target.averageUtilization', 70],
      ['ScaledObject crawl-worker', 'spec.minReplicaCount', 3],
      ['ScaledObject crawl-worker', 'spec.triggers.0.metadata.serverAddress', 'http://thanos.metrics:9090'],
    ],
  },
  'existing-services': {
    edits: [
      ['https://knowledge.example.com', 'https://wissen.example.org:8443'],
      ['secretName: platform-tls', 'secretName: wildcard'],
      ['ingressClassName, value: nginx', 'ingressClassName, value: traefik'],
      ['name: crawl-worker, count: 2', 'name: crawl-worker, count: 5'],
    ],
    found: [
      ['Ingress platform', 'spec.rules.0.host', 'wissen.example.org'],
      ['Ingress platform', 'spec.tls.0.hosts.0', 'wissen.example.org'],
      ['Ingress platform', 'spec.tls.0.secretName', 'wildcard'],
      ['Ingress platform', 'spec.ingressClassName', 'traefik'],
      ['Deployment crawl-worker', 'spec.replicas', 5],
    ],
  },
  dev: {
    edits: [
      ['http://platform.localtest.me', 'http://platform.localtest.me:8080'],
      ['storage: 5Gi', 'storage: 9Gi'],
      ['name: postgres, newTag: 18.4-bookworm', 'name: postgres, newTag: 19.0-bookworm'],
    ],
    found: [
      ['Ingress platform', 'spec.rules.0.host', 'platform.localtest.me'],
      ['StatefulSet redis', 'spec.volumeClaimTemplates.0.spec.resources.requests.storage', '9Gi'],
      ['StatefulSet postgres', 'spec.template.spec.containers.0.image', 'postgres:19.0-bookworm'],
    ],
  },
} as const;

describeWith('kustomize', 'an overlay', () => {
  describe.each(Object.keys(edited) as (keyof typeof edited)[])('of %s', (overlay) => {
    test('applies the edits of its one file to the manifests', async () => {
      const { edits, found } = edited[overlay];
      const manifests = await buildEdited(overlay, edits);
      for (const [name, place, value] of found) {
        const manifest = manifests.find(({ kind, metadata }) => `${kind} ${metadata.name}` === name);
        const leaf = [...listLeaves(manifest)].find(([path]) => path === place);
        expect([name, place, leaf?.[1]]).toEqual([name, place, value]);
      }
    });
  });

  // prettier-ignore
  test('names the namespace once in production, for alerts and scaling too', async () => {
    const manifests = await buildEdited('production', [
      ['namespace: platform', 'namespace: wissen'],
      ['# - ../../components/keda', '- ../../components/keda'],
    ]);
    const namespaces = manifests.map(({ kind, metadata }) => (kind === 'Namespace' ? metadata.name : metadata.namespace));
    expect([...new Set(namespaces)]).toEqual(['wissen']);
    const expressions = manifests.flatMap((manifest) => [...listLeaves(manifest)]).filter(([path]) => /\.(?:expr|query)$/.test(path));
    expect(expressions.length).toBeGreaterThan(10);
    for (const [, value] of expressions) {
      const selected = [...String(value).matchAll(/\b[a-z_]\w*\{([^},]*)/g)].map(([, first]) => first);
      expect([value, new Set(selected)]).toEqual([value, new Set(['namespace="wissen"'])]);
    }
  });

  test('names the topic of Kafka once, for the workers and for the topic itself', async () => {
    const edits = [
      ['KAFKA_TOPIC=sync-events', 'KAFKA_TOPIC=wissen'],
      ['KAFKA_PARTITIONS=12', 'KAFKA_PARTITIONS=24'],
    ] as const;
    const [platform, kafka] = await Promise.all([
      buildEdited('production', edits, 'kafka/topic.env'),
      buildEdited('production/kafka', edits, 'topic.env'),
    ]);
    const crawl = platform.find(({ data }) => data?.KAFKA_TOPIC !== undefined);
    expect(crawl?.data).toMatchObject({ KAFKA_TOPIC: 'wissen', KAFKA_PARTITIONS: '24' });
    expect(kafka).toMatchObject([
      { kind: 'KafkaTopic', metadata: { name: 'wissen' }, spec: { partitions: 24 } },
    ]);
  });

  test('refuses an Ingress where its patches are for another kind of route', async () => {
    await expect(
      buildEdited('production', [['../../components/gateway-api', '../../components/ingress']]),
    ).rejects.toThrow(/nothing selected by HTTPRoute/);
  });
});
