import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeWith } from '@platform/testing';
import { parse } from 'yaml';
import { helm, render, root, type Tree, VALUES, type ValuesName } from './chart.js';
import { ofKind, workloads } from './workloads.js';

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };

/** Yields every value in a tree with its path, such as `spec.hosts.0`. */
// oxfmt-ignore
function* listLeaves(tree: Tree, path = ''): Generator<readonly [string, unknown]> {
  if (tree === null || typeof tree !== 'object') yield [path, tree];
  else for (const [key, value] of Object.entries(tree)) yield* listLeaves(value, path === '' ? key : `${path}.${key}`);
}

/** Values that an operator changes, and where they must appear: manifest, path, value. */
const changed: Readonly<
  Record<ValuesName, { values: Tree; found: (readonly [string, string, unknown])[] }>
> = {
  production: {
    values: {
      publicUrl: 'https://wissen.example.org:8443',
      gatewayApi: { parentRefs: [{ name: 'edge', namespace: 'gateway', sectionName: 'https' }] },
      images: { prefix: 'harbor.example.org', digests: { crawl: `sha256:${'a'.repeat(64)}` } },
      podSpec: { priorityClassName: 'important' },
      env: { LOG_LEVEL: null, DATABASE_TIMEOUT_MS: 10_000_000 },
      mail: { resources: { limits: { memory: '900Mi' } }, egress: [{ ports: [{ port: 6432 }] }] },
      migrations: { resources: { limits: { memory: '300Mi' } } },
      identity: { autoscaling: { maxReplicas: 20 } },
      crawl: { autoscaling: { minReplicas: 4 } },
      autoscaling: { cpuUtilization: 70 },
      keda: { enabled: true, serverAddress: 'http://thanos.metrics:9090' },
      monitoring: { labels: { release: 'kube-prometheus-stack' } },
      networkPolicies: { gatewayNamespace: { 'kubernetes.io/metadata.name': 'edge' } },
    },
    found: [
      ['HTTPRoute platform', 'spec.hostnames.0', 'wissen.example.org'],
      ['HTTPRoute platform', 'spec.parentRefs.0.name', 'edge'],
      ['Deployment mail', 'spec.template.spec.containers.0.image', `harbor.example.org/mail:${version}`],
      ['Job migrate-crawl', 'spec.template.spec.containers.0.image', `harbor.example.org/crawl@sha256:${'a'.repeat(64)}`],
      ['Deployment mail', 'spec.template.spec.priorityClassName', 'important'],
      ['ConfigMap common', 'data.LOG_LEVEL', undefined],
      ['ConfigMap common', 'data.DATABASE_TIMEOUT_MS', '10000000'],
      ['Deployment mail', 'spec.template.spec.containers.0.resources.limits.memory', '900Mi'],
      ['Deployment mail', 'spec.template.spec.containers.0.resources.requests.memory', '192Mi'],
      ['NetworkPolicy mail', 'spec.egress.2.ports.0.port', 6_432],
      ['NetworkPolicy mail', 'spec.ingress.0.from.2.namespaceSelector.matchLabels.kubernetes.io/metadata.name', 'edge'],
      ['Job migrate-crawl', 'spec.template.spec.containers.0.resources.limits.memory', '300Mi'],
      ['HorizontalPodAutoscaler crawl', 'spec.minReplicas', 4],
      ['HorizontalPodAutoscaler identity', 'spec.maxReplicas', 20],
      ['HorizontalPodAutoscaler mail', 'spec.metrics.0.resource.target.averageUtilization', 70],
      ['ScaledObject crawl-worker', 'spec.minReplicaCount', 3],
      ['ScaledObject crawl-worker', 'spec.triggers.0.metadata.serverAddress', 'http://thanos.metrics:9090'],
      ['ServiceMonitor platform', 'metadata.labels.release', 'kube-prometheus-stack'],
    ],
  },
  'existing-services': {
    values: {
      publicUrl: 'https://wissen.example.org:8443',
      ingress: { tlsSecret: 'wildcard', className: 'traefik' },
      crawlWorker: { replicas: 5 },
      images: { tag: '0.2.0', pullSecrets: ['registry'] },
    },
    found: [
      ['Ingress platform', 'spec.rules.0.host', 'wissen.example.org'],
      ['Ingress platform', 'spec.tls.0.hosts.0', 'wissen.example.org'],
      ['Ingress platform', 'spec.tls.0.secretName', 'wildcard'],
      ['Ingress platform', 'spec.ingressClassName', 'traefik'],
      ['Deployment crawl-worker', 'spec.replicas', 5],
      ['Deployment mail', 'spec.template.spec.initContainers.0.env.1.value', '0.2.0'],
      ['Deployment mail', 'spec.template.spec.imagePullSecrets.0.name', 'registry'],
    ],
  },
  dev: {
    values: {
      publicUrl: 'http://platform.localtest.me:8080',
      dataStores: { postgres: { image: 'postgres:19.0-bookworm' }, redis: { storage: '9Gi' } },
    },
    found: [
      ['Ingress platform', 'spec.rules.0.host', 'platform.localtest.me'],
      ['StatefulSet redis', 'spec.volumeClaimTemplates.0.spec.resources.requests.storage', '9Gi'],
      ['StatefulSet postgres', 'spec.template.spec.containers.0.image', 'postgres:19.0-bookworm'],
    ],
  },
}; // oxfmt-ignore

describeWith('helm', 'the values', () => {
  test.each(VALUES)('of %s are applied where an operator changes them', async (name) => {
    const { values, found } = changed[name];
    const manifests = await render(name, values);
    for (const [title, place, value] of found) {
      const manifest = manifests.find(({ kind, metadata }) => `${kind} ${metadata.name}` === title);
      const leaf = [...listLeaves(manifest)].find(([path]) => path === place);
      expect([title, manifest !== undefined, place, leaf?.[1]]).toEqual([title, true, place, value]);
    }
  });

  test('pass `helm lint`', async () => {
    expect(await helm(['lint', '--strict'], 'production')).toContain('0 chart(s) failed');
  });

  test('that the chart does not know, or that are missing, are refused with what to do', async () => {
    const refuse = async (name: ValuesName | undefined, values: Tree, message: RegExp) =>
      expect(render(name, values)).rejects.toMatchObject({ stderr: expect.stringMatching(message) });
    await refuse('dev', { identity: { replica: 3 } }, /'\/identity': additional properties 'replica' not allowed/);
    await refuse('dev', { publicUrl: 'knowledge.example.com' }, /'\/publicUrl'/);
    await refuse('dev', { podSpec: { volumes: [] } }, /'\/podSpec\/volumes'/);
    await refuse('production', { trustProxy: null }, /trustProxy is missing: the ranges of the gateway/);
    await refuse('production', { kafka: { topic: '' } }, /kafka\.topic is missing/);
    await refuse(undefined, { publicUrl: 'https://knowledge.example.com' }, /secrets\.values\.identity\.database-url is missing/);
  }); // oxfmt-ignore

  test('of the namespace are those of every object, and of alerts and scaling too', async () => {
    const manifests = await render('production', { keda: { enabled: true } }, { namespace: 'wissen' });
    for (const { kind, metadata } of manifests)
      expect([kind, metadata.namespace]).toEqual([kind, kind === 'KafkaTopic' ? 'kafka' : 'wissen']);
    const expressions = manifests
      .flatMap((manifest) => [...listLeaves(manifest)])
      .filter(([path]) => /\.(?:expr|query)$/.test(path));
    expect(expressions.length).toBeGreaterThan(10);
    for (const [, value] of expressions) {
      const selected = [...String(value).matchAll(/\b[a-z_]\w*\{([^},]*)/g)].map(([, first]) => first);
      expect([value, new Set(selected)]).toEqual([value, new Set(['namespace="wissen"'])]);
    }
  });

  test('change the pods when they change the environment, and only then', async () => {
    const read = async (values: Tree) =>
      Object.fromEntries(
        ofKind(await render('production', values), 'Deployment').map(({ metadata, spec }) => [
          metadata.name,
          JSON.stringify(spec.template.metadata.annotations),
        ]),
      );
    const before = await read({});
    expect(await read({ monitoring: { enabled: false } })).toEqual(before);
    const after = await read({ mail: { env: { SMTP_TIMEOUT_MS: 1_000 } } });
    expect(after['mail']).not.toBe(before['mail']);
  });

  const decode = (manifests: Awaited<ReturnType<typeof render>>) =>
    Object.fromEntries(
      ofKind(manifests, 'Secret').map(({ metadata, data = {} }) => [
        metadata.name,
        Object.fromEntries(
          Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
        ),
      ]),
    ) as Record<string, Record<string, string>>;

  test('of secrets are taken as they are, what is missing is generated, and an uninstallation leaves both', async () => {
    const values = {
      publicUrl: 'https://knowledge.example.com',
      dataStores: { enabled: true },
      secrets: { values: { crawl: { 'client-secret': 'given', 'task-secrets': 'files_1=x' } } },
    };
    const manifests = await render(undefined, values);
    const { identity, mail, crawl, 'data-stores': stores } = decode(manifests);
    expect(crawl).toMatchObject({ 'client-secret': 'given', 'task-secrets': 'files_1=x' });
    expect(mail?.['client-secret']).toMatch(/^[\dA-Za-z]{48}$/);
    expect(identity?.['service-clients']).toBe(`mail:${mail?.['client-secret']},crawl:given`);
    const [, key = ''] = identity?.['encryption-keys']?.split(':') ?? [];
    expect(Buffer.from(key, 'base64')).toHaveLength(32);
    for (const [name, keys] of Object.entries({ identity, mail, crawl }))
      expect(keys?.['database-url']).toBe(`postgresql://postgres:${stores?.['postgres-password']}@postgres:5432/${name}`);
    for (const { metadata } of ofKind(manifests, 'Secret'))
      expect(metadata.annotations).toMatchObject({ 'helm.sh/resource-policy': 'keep' });
    expect(decode(await render(undefined, values))['mail']).not.toEqual(mail);
    expect(ofKind(await render('production'), 'Secret')).toEqual([]);
  }); // oxfmt-ignore

  test('name the images of others with the versions of the Compose file', () => {
    const read = (file: string) => readFileSync(join(root, file), 'utf8');
    const { dataStores, backup } = parse(read('k8s/chart/values.yaml'));
    const compose = new Set(
      [...read('.env.example').matchAll(/_IMAGE=(\w+:[\d.]+)/g)].map(([, image]) => image),
    );
    for (const image of [dataStores.postgres.image, dataStores.redis.image, backup.image])
      expect(compose).toContain(image.replace('-bookworm', ''));
  });

  test('of the database image are those of the backup, which only reads the addresses of the databases', async () => {
    const manifests = await render('production', { backup: { enabled: true } });
    const [job] = ofKind(manifests, 'CronJob') as [Tree];
    const pod = job.spec.jobTemplate.spec.template.spec;
    const sources = pod.volumes.flatMap(({ projected }: Tree) => projected?.sources ?? []);
    expect(sources.flatMap(({ secret }: Tree) => secret.items.map(({ key }: Tree) => key))).toEqual(
      Array.from({ length: 3 }, () => 'database-url'),
    );
    expect(ofKind(await render('production'), 'CronJob')).toEqual([]);
    expect(workloads(manifests).map(({ metadata }) => metadata.name)).toContain('backup');
  });

  test('of a restore begin an installation with the dumps, then migrate, then end the cursors of the feeds', async () => {
    const values = { restore: { from: '2027-01-31T013000Z' } };
    const jobs = ofKind(await render('production', values), 'Job').map(({ metadata, spec }) => {
      const { initContainers, containers } = spec.template.spec;
      return [metadata.name, [...initContainers, ...containers].map(({ name }: Tree) => name)];
    });
    expect(Object.fromEntries(jobs)).toEqual({
      'migrate-identity': ['restore', 'migrate', 'after-restore'],
      'migrate-mail': ['restore', 'migrate'],
      'migrate-crawl': ['restore', 'migrate', 'after-restore'],
    });
    await expect(render('production', values, { isUpgrade: true })).rejects.toMatchObject({
      stderr: expect.stringContaining('an upgrade restores nothing'),
    });
  });
});
