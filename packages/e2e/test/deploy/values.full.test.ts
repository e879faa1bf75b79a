import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeWith } from '@platform/testing';
import { parse } from 'yaml';
import { helm, type Manifest, render, root, type Tree, VALUES, type ValuesName } from './chart.js';
import { isHook, matches, ofKind, workloads } from './workloads.js';

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
      defaults: { priorityClassName: 'important' },
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
      ['Deployment platform-mail', 'spec.template.spec.containers.0.image', `harbor.example.org/mail:${version}`],
      ['Job platform-migrate-crawl', 'spec.template.spec.containers.0.image', `harbor.example.org/crawl@sha256:${'a'.repeat(64)}`],
      ['Deployment platform-mail', 'spec.template.spec.priorityClassName', 'important'],
      ['ConfigMap platform-common', 'data.LOG_LEVEL', undefined],
      ['ConfigMap platform-common', 'data.DATABASE_TIMEOUT_MS', '10000000'],
      ['Deployment platform-mail', 'spec.template.spec.containers.0.resources.limits.memory', '900Mi'],
      ['Deployment platform-mail', 'spec.template.spec.containers.0.resources.requests.memory', '192Mi'],
      ['NetworkPolicy platform-mail', 'spec.egress.2.ports.0.port', 6_432],
      ['NetworkPolicy platform-mail', 'spec.ingress.0.from.3.namespaceSelector.matchLabels.kubernetes.io/metadata.name', 'edge'],
      ['Job platform-migrate-crawl', 'spec.template.spec.containers.0.resources.limits.memory', '300Mi'],
      ['HorizontalPodAutoscaler platform-crawl', 'spec.minReplicas', 4],
      ['HorizontalPodAutoscaler platform-identity', 'spec.maxReplicas', 20],
      ['HorizontalPodAutoscaler platform-mail', 'spec.metrics.0.resource.target.averageUtilization', 70],
      ['ScaledObject platform-crawl-worker', 'spec.minReplicaCount', 3],
      ['ScaledObject platform-crawl-worker', 'spec.triggers.0.metadata.serverAddress', 'http://thanos.metrics:9090'],
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
      ['Deployment platform-crawl-worker', 'spec.replicas', 5],
      ['Deployment platform-mail', 'spec.template.spec.containers.0.image', 'registry.example.com/platform/mail:0.2.0'],
      ['Deployment platform-mail', 'spec.template.spec.imagePullSecrets.0.name', 'registry'],
    ],
  },
  dev: {
    values: {
      publicUrl: 'http://platform.localtest.me:8080',
      dataStores: { postgres: { image: 'postgres:19.0-trixie' }, redis: { storage: '9Gi' } },
    },
    found: [
      ['Ingress platform', 'spec.rules.0.host', 'platform.localtest.me'],
      ['StatefulSet platform-redis', 'spec.volumeClaimTemplates.0.spec.resources.requests.storage', '9Gi'],
      ['StatefulSet platform-postgres', 'spec.template.spec.containers.0.image', 'postgres:19.0-trixie'],
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
    await refuse('dev', { defaults: { volumes: [] } }, /'\/defaults': additional properties 'volumes' not allowed/);
    await refuse('production', { trustProxy: null }, /trustProxy is missing: the ranges of the gateway/);
    await refuse('production', { kafka: { topic: '' } }, /kafka\.topic is missing/);
    await refuse('production', { images: { prefix: null } }, /images\.prefix is missing: where the images/);
    await refuse('dev', { commonLabels: { 'app.kubernetes.io/name': 'x' } }, /invalid propertyName 'app\.kubernetes\.io\/name'/);
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
    expect(after['platform-mail']).not.toBe(before['platform-mail']);
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
    const secrets = decode(manifests);
    const [identity, mail, crawl, stores] = ['identity', 'mail', 'crawl', 'data-stores'].map((name) => secrets[`platform-${name}`]);
    expect(crawl).toMatchObject({ 'client-secret': 'given', 'task-secrets': 'files_1=x' });
    expect(mail?.['client-secret']).toMatch(/^[\dA-Za-z]{48}$/);
    expect(identity?.['service-clients']).toBe(`mail:${mail?.['client-secret']},crawl:given`);
    for (const service of [identity, mail, crawl]) {
      const [, key = ''] = service?.['encryption-keys']?.split(':') ?? [];
      expect(Buffer.from(key, 'base64')).toHaveLength(32);
    }
    for (const [name, keys] of Object.entries({ identity, mail, crawl }))
      expect(keys?.['database-url']).toBe(`postgresql://postgres:${stores?.['postgres-password']}@platform-postgres:5432/${name}`);
    for (const { metadata } of ofKind(manifests, 'Secret'))
      expect(metadata.annotations).toMatchObject({ 'helm.sh/resource-policy': 'keep' });
    expect(decode(await render(undefined, values))['platform-mail']).not.toEqual(mail);
    expect(ofKind(await render('production'), 'Secret')).toEqual([]);
  }); // oxfmt-ignore

  test('name the images of others with the versions of the Compose file', () => {
    const read = (file: string) => readFileSync(join(root, file), 'utf8');
    const { dataStores, backup } = parse(read('k8s/chart/values.yaml'));
    const compose = new Set(
      [...read('.env.example').matchAll(/_IMAGE=([\w/]+:[\d.]+)/g)].map(([, image]) => image),
    );
    for (const image of [dataStores.postgres.image, dataStores.redis.image, backup.image])
      expect(compose).toContain(image.replace(/-trixie@sha256:[\da-f]{64}$/, ''));
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
    expect(workloads(manifests).map(({ metadata }) => metadata.name)).toContain('platform-backup');
  });

  test('of a restore begin an installation with the dumps, then migrate, then end the cursors of the feeds', async () => {
    const values = { restore: { from: '2027-01-31T013000Z' } };
    const jobs = ofKind(await render('production', values), 'Job').map((job) => {
      const { initContainers = [], containers } = job.spec.template.spec;
      const name = isHook(job) ? job.metadata.name : job.metadata.name.replace(/-[0-9a-f]{8}$/, '-installation');
      return [name, [...initContainers, ...containers].map((container: Tree) => container.name)];
    }); // oxfmt-ignore
    expect(Object.fromEntries(jobs)).toEqual({
      'platform-migrate-identity-installation': ['restore', 'migrate', 'after-restore'],
      'platform-migrate-mail-installation': ['restore', 'migrate'],
      'platform-migrate-crawl-installation': ['restore', 'migrate', 'after-restore'],
      // An upgrade completes what failed: without it, it would migrate the empty database, and nothing could be restored.
      'platform-migrate-identity': ['restore', 'migrate', 'after-restore'],
      'platform-migrate-mail': ['restore', 'migrate'],
      'platform-migrate-crawl': ['restore', 'migrate', 'after-restore'],
    });
  });

  test('of a release name every object, so that two releases share a namespace without a common object or pod', async () => {
    const values = { dataStores: { enabled: true }, backup: { enabled: true }, keda: { enabled: true } };
    const [one, other] = await Promise.all(
      ['one', 'other'].map((release) => render('dev', { ...values, autoscaling: { enabled: true } }, { release })),
    ) as [Manifest[], Manifest[]];
    const names = (manifests: readonly Manifest[]) => manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(names(one).filter((name) => names(other).includes(name))).toEqual([]);
    const selectors = one.flatMap(({ kind, spec }) => {
      if (kind === 'NetworkPolicy') return [spec.podSelector, ...JSON.stringify(spec).matchAll(/"podSelector":(\{.*?\}\]?\})/g)].map((found) => Array.isArray(found) ? JSON.parse(found[1] as string) : found);
      if (kind === 'Service') return [{ matchLabels: spec.selector }];
      return spec?.selector ? [spec.selector] : [];
    });
    expect(selectors.length).toBeGreaterThan(20);
    for (const selector of selectors)
      for (const { metadata, spec } of workloads(other))
        expect([selector, metadata.name, matches(selector, spec.template.metadata.labels)]).toEqual([selector, metadata.name, false]);
  }); // oxfmt-ignore

  test('of a service extend its pods, and an empty security context leaves that to the cluster', async () => {
    const volume = { name: 'ca', configMap: { name: 'ca' } };
    const manifests = await render('production', {
      commonLabels: { team: 'search' },
      commonAnnotations: { owner: 'search@example.com' },
      images: { registry: 'mirror.example.com' },
      defaults: { podSecurityContext: {}, containerSecurityContext: {}, tolerations: [{ key: 'all' }] },
      backup: { enabled: true, storageClassName: 'slow' },
      secrets: { names: { mail: 'mail-secrets' } },
      mail: {
        podLabels: { tier: 'backend' },
        podAnnotations: { 'example.com/scrape': 'true' },
        serviceAccount: { create: false, name: 'mailer' },
        nodeSelector: { disk: 'ssd' },
        tolerations: [{ key: 'mail' }],
        containerSecurityContext: { runAsUser: 7 },
        extraEnv: [{ name: 'SMTP_CLIENT_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }],
        envFrom: [{ secretRef: { name: 'more' } }],
        extraVolumes: [volume],
        extraVolumeMounts: [{ name: 'ca', mountPath: '/ca' }],
        extraContainers: [{ name: 'sidecar', image: 'registry.example.com/sidecar:1' }],
        strategy: { type: 'Recreate' },
        service: { annotations: { 'example.com/lb': 'internal' } },
        pdb: {},
      },
    });
    const find = (kind: string, name: string) =>
      ofKind(manifests, kind).find(({ metadata }) => metadata.name === name) as Manifest;
    for (const { kind, metadata } of manifests)
      expect([kind, metadata.labels?.['team'], metadata.annotations?.['owner']]).toEqual([kind, 'search', 'search@example.com']);
    const { template, strategy } = find('Deployment', 'platform-mail').spec;
    const [container, sidecar] = template.spec.containers;
    expect(template.metadata.labels).toMatchObject({ tier: 'backend', team: 'search' });
    expect(template.metadata.annotations['example.com/scrape']).toBe('true');
    expect(template.spec).toMatchObject({ serviceAccountName: 'mailer', nodeSelector: { disk: 'ssd' }, tolerations: [{ key: 'mail' }] });
    expect([template.spec.securityContext, container.securityContext]).toEqual([undefined, { runAsUser: 7 }]);
    expect(container.env.at(-1).name).toBe('SMTP_CLIENT_NAME');
    expect(container.envFrom.at(-1)).toEqual({ secretRef: { name: 'more' } });
    expect(container.volumeMounts.at(-1)).toEqual({ name: 'ca', mountPath: '/ca' });
    expect(template.spec.volumes.at(-1)).toEqual(volume);
    expect(template.spec.volumes[0].secret.secretName).toBe('mail-secrets');
    expect([sidecar.name, strategy]).toEqual(['sidecar', { type: 'Recreate' }]);
    expect(find('Service', 'platform-mail').metadata.annotations).toMatchObject({ 'example.com/lb': 'internal' });
    expect(find('PodDisruptionBudget', 'platform-mail')).toBeUndefined();
    expect(find('ServiceAccount', 'platform-mail')).toBeUndefined();
    const crawl = find('Deployment', 'platform-crawl').spec.template.spec;
    expect([crawl.securityContext, crawl.containers[0].securityContext]).toEqual([undefined, undefined]);
    expect(crawl.tolerations).toEqual([{ key: 'all' }]);
    expect(find('PersistentVolumeClaim', 'platform-backups').spec.storageClassName).toBe('slow');
    const [backup] = find('CronJob', 'platform-backup').spec.jobTemplate.spec.template.spec.containers;
    expect(backup.image).toMatch(/^mirror\.example\.com\/postgres:/);
  }); // oxfmt-ignore
});
