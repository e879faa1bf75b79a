import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { SERVICES } from '@platform/local/services';
import { describeWith } from '@platform/testing';
import { type Manifest, render, root, type Tree, VALUES } from './chart.js';
import { knownMetrics, listMetrics } from './metrics.js';
import { askConfig, mountSecrets } from './service-config.js';
import { isHook, matches, ofKind, toEnvironment, workloads } from './workloads.js';

async function validate(manifests: readonly Manifest[]): Promise<string[]> {
  const child = spawn(process.execPath, [join(root, 'packages/e2e/validate-manifests.mjs')]);
  child.stdin.end(JSON.stringify(manifests));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout) as string[];
}

describeWith('helm', 'the manifests', () => {
  const built = new Map<string, Manifest[]>();
  let withKeda: Manifest[];
  let withFacts: Manifest[];
  beforeAll(async () => {
    // What is off in all of them is on here.
    for (const name of VALUES) built.set(name, await render(name, { backup: { enabled: true } }));
    withKeda = await render('production', { keda: { enabled: true } });
    withFacts = await render('production', { kafka: { factsTopic: 'platform-events' } });
  });

  test('are valid according to the schemas of Kubernetes and of the custom resources', async () => {
    expect(await validate([...built.values(), withKeda, withFacts].flat())).toEqual([]);
  });

  test('are not valid with an unknown value, field or kind', async () => {
    const [deployment] = ofKind(built.get('production') ?? [], 'Deployment') as [Manifest];
    const faults = await validate([
      { ...deployment, spec: { ...deployment.spec, replicas: 'three' } },
      { ...deployment, spec: { ...deployment.spec, replica: 3 } },
      { ...deployment, kind: 'Deploy' },
    ]);
    for (const fault of ['replicas must be integer', `'"replica"' does not exist`, 'no such kind'])
      expect(faults.join()).toContain(fault);
  });

  test('start every service with a valid environment', async () => {
    const secrets = mountSecrets();
    const containers = [...built.values(), withKeda, withFacts].flatMap((manifests) =>
      ofKind(manifests, 'Deployment').map(({ spec }) => {
        const [container] = spec.template.spec.containers;
        return { service: container.name as string, env: toEnvironment(container, manifests) };
      }),
    );
    for (const { name } of SERVICES) {
      const environments = containers.filter(({ service }) => service === name).map(({ env }) => env);
      expect(environments.length).toBeGreaterThan(VALUES.length);
      const answers = await askConfig(name, environments.map(secrets.redirect));
      for (const [index, { names, faults }] of answers.entries()) {
        const given = Object.keys(environments[index] ?? {}).map((key) => key.replace(/_FILE$/, ''));
        expect([name, faults, given.filter((key) => !names.includes(key))]).toEqual([name, '', []]);
      }
    }
    secrets.remove();
  });

  describe.each(VALUES)('of %s', (values) => {
    const manifests = (): Manifest[] => built.get(values) ?? [];

    test('runs every pod restricted, without a token, within limits', () => {
      expect(workloads(manifests()).length).toBeGreaterThan(6);
      for (const { metadata, spec } of workloads(manifests())) {
        const pod = spec.template.spec;
        const { name } = metadata;
        expect([name, pod.automountServiceAccountToken, pod.hostNetwork, pod.hostPID]).toEqual([name, false, undefined, undefined]);
        const account = ofKind(manifests(), 'ServiceAccount').find((one) => one.metadata.name === pod.serviceAccountName) as Tree;
        expect([name, account?.automountServiceAccountToken]).toEqual([name, false]);
        expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
        for (const { securityContext, resources, image } of [...(pod.initContainers ?? []), ...pod.containers]) {
          expect(securityContext).toEqual({ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } });
          expect(resources).toMatchObject({ requests: { cpu: expect.any(String), memory: expect.any(String) }, limits: { memory: expect.any(String) } });
          expect(image).toMatch(/:(?!latest$)[\w.-]+$/);
        }
        for (const { hostPath } of pod.volumes ?? []) expect(hostPath).toBeUndefined();
      }
    }); // oxfmt-ignore

    test('replaces and drains pods without dropping requests', () => {
      for (const { metadata, spec } of ofKind(manifests(), 'Deployment')) {
        const pod = spec.template.spec;
        expect(spec.strategy.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 });
        expect(pod.topologySpreadConstraints).toHaveLength(2);
        // The replicas of a rollout are spread among themselves, and not around those that they replace.
        for (const one of pod.topologySpreadConstraints)
          expect(one.matchLabelKeys).toEqual(['pod-template-hash']);
        // The kubelet starts a container again that has died.
        expect(pod.restartPolicy ?? 'Always').toBe('Always');
        for (const container of pod.containers) {
          expect(container.lifecycle.preStop.sleep.seconds).toBeGreaterThan(0);
          expect(container.readinessProbe.httpGet.path).toBe('/health/ready');
          expect(container.livenessProbe.httpGet.path).toBe('/health/live');
          expect(container.startupProbe.httpGet.path).toBe('/health/live');
          // On an overloaded machine a start takes minutes, and a process that has not started has nothing to finish.
          const { periodSeconds, failureThreshold, terminationGracePeriodSeconds } = container.startupProbe;
          expect([periodSeconds * failureThreshold, terminationGracePeriodSeconds]).toEqual([180, 10]);
          // The phases of a shutdown: requests 65 s, workers 20 s, flush and close 5 s each.
          const delayMs = Number(toEnvironment(container, manifests()).SHUTDOWN_DELAY_MS);
          const neededSeconds = container.lifecycle.preStop.sleep.seconds + delayMs / 1_000 + 95;
          expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(neededSeconds);
        }
        const budgets = ofKind(manifests(), 'PodDisruptionBudget');
        const own = budgets.filter((one) => matches(one.spec.selector, spec.template.metadata.labels));
        expect([metadata.name, own.length]).toEqual([metadata.name, 1]);
      }
    });

    test('denies all traffic that no policy of a component allows', () => {
      const policies = ofKind(manifests(), 'NetworkPolicy');
      const everything = policies.find(({ metadata }) => metadata.name === 'platform-default-deny');
      expect(everything?.spec.policyTypes).toEqual(['Ingress', 'Egress']);
      for (const { metadata, spec } of workloads(manifests())) {
        const own = policies.filter((policy) =>
          matches(policy.spec.podSelector, spec.template.metadata.labels),
        );
        const names = own.map((policy) => policy.metadata.name.replace('platform-', ''));
        // Each pod is denied everything, and one policy beside those for all is about it.
        expect([metadata.name, names]).toEqual([
          metadata.name,
          expect.arrayContaining(['default-deny', 'dns']),
        ]);
        expect(names.filter((name) => !['default-deny', 'dns', 'traces'].includes(name))).toHaveLength(1);
      }
      // Neighbours in the namespace are not concerned.
      for (const { spec } of policies) expect(matches(spec.podSelector, { app: 'neighbour' })).toBe(false);
    });

    test('migrates each database with the image that serves it', () => {
      const getImage = ({ spec }: Manifest): string => spec.template.spec.containers[0].image;
      for (const { name } of SERVICES) {
        const find = (kind: string, title: string) =>
          ofKind(manifests(), kind).find(({ metadata }) => metadata.name === title);
        const [job, service] = [
          find('Job', `platform-migrate-${name}`),
          find('Deployment', `platform-${name}`),
        ];
        expect(job?.spec.template.spec.containers[0].args).toEqual(['dist/cli.js', 'migrate']);
        // Only the deadline ends the job, not the number of restarts, whose delays grow.
        expect(job?.spec).toMatchObject({ backoffLimit: 2 ** 31 - 1, activeDeadlineSeconds: 7_200 });
        expect(getImage(job as Manifest)).toBe(getImage(service as Manifest));
      }
    });

    test('routes the paths that packages/local routes, and no internal ones', () => {
      const targets = listRoutes(manifests());
      for (const { name, prefixes, exact = [], internal } of SERVICES) {
        for (const path of [...prefixes, ...exact]) {
          const isApart =
            values === 'production' && ['/mcp', '/api/v1/mcp-servers', '/oauth2/upstream'].includes(path);
          expect([path, targets.get(path)]).toEqual([path, `platform-${isApart ? 'mcp' : name}`]);
        }
        // Another service answers 404, as it does to any path that it does not know.
        for (const path of internal) {
          expect(targets.get(path)).toMatch(/^platform-(?:identity|mail)$/);
          expect(targets.get(path)).not.toBe(`platform-${name}`);
        }
      }
      expect(targets.size).toBe(
        SERVICES.flatMap(({ prefixes, exact = [], internal }) => [...prefixes, ...exact, ...internal]).length,
      );
    });
  });

  test('an upgrade and a rollback migrate first, replace identity next, and the other services after it', async () => {
    const production = built.get('production') ?? [];
    // What is installed does not depend on how it came there, so a rollback to it repeats nothing else.
    expect(await render('production', { backup: { enabled: true } }, { isUpgrade: true })).toEqual(
      production,
    );
    const migrations = ofKind(production, 'Job');
    // The database may come with the chart, so an installation does not wait for them.
    expect(migrations.map(isHook)).toEqual([false, false, false, true, true, true]);
    for (const { metadata, spec } of migrations) {
      expect([
        undefined,
        {
          'helm.sh/hook': 'pre-upgrade,pre-rollback',
          'helm.sh/hook-delete-policy': 'before-hook-creation,hook-succeeded',
        },
      ]).toContainEqual(metadata.annotations);
      // A database that is newer than the image ends it at once.
      expect(spec.podFailurePolicy.rules).toEqual([
        { action: 'FailJob', onExitCodes: { operator: 'In', values: [78] } },
      ]);
    }
    const waiting = ofKind(production, 'Deployment').filter(({ spec }) =>
      spec.template.spec.initContainers?.some(({ name }: Tree) => name === 'await-identity'),
    );
    expect(waiting.map(({ metadata }) => metadata.name).toSorted()).toEqual([
      'platform-crawl',
      'platform-crawl-worker',
      'platform-mail',
    ]);
  });

  test('KEDA replaces the autoscaler of the workers', () => {
    const scaled = ofKind(built.get('production') ?? [], 'HorizontalPodAutoscaler').map(
      ({ metadata }) => metadata.name,
    );
    expect(scaled.toSorted()).toEqual(
      ['crawl', 'crawl-worker', 'identity', 'mail', 'mcp'].map((name) => `platform-${name}`),
    );
    expect(ofKind(withKeda, 'ScaledObject')).toHaveLength(1);
    const left = ofKind(withKeda, 'HorizontalPodAutoscaler').map(({ metadata }) => metadata.name);
    expect(left.toSorted()).toEqual(['crawl', 'identity', 'mail', 'mcp'].map((name) => `platform-${name}`));
    for (const { spec } of ofKind(withKeda, 'Deployment')) expect(spec).not.toHaveProperty('replicas');
  });

  test('the workers reach Kafka in its own namespace, which contains the topic', () => {
    const production = built.get('production') ?? [];
    const [topic] = ofKind(production, 'KafkaTopic') as [Tree];
    const worker = ofKind(production, 'Deployment').find(
      ({ metadata }) => metadata.name === 'platform-crawl-worker',
    );
    const env = toEnvironment(worker?.spec.template.spec.containers[0], production);
    const { name, namespace, labels } = topic.metadata;
    expect(env.KAFKA_BROKERS).toBe(`${labels['strimzi.io/cluster']}-kafka-bootstrap.${namespace}:9092`);
    expect([env.KAFKA_TOPIC, env.KAFKA_PARTITIONS]).toEqual([name, String(topic.spec.partitions)]);
    const policy = ofKind(production, 'NetworkPolicy').find(
      ({ metadata }) => metadata.name === 'platform-crawl-worker',
    );
    expect(policy?.spec.egress).toContainEqual({
      to: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } } }],
      ports: [{ protocol: 'TCP', port: 9092 }],
    });
  });

  test('AUD-11 facts have a separate topic, and identity its name, only where one is given', () => {
    const getTopics = (manifests: Parameters<typeof ofKind>[0]) =>
      ofKind(manifests, 'KafkaTopic').map(({ metadata }) => metadata.name);
    const getEnvironment = (manifests: Parameters<typeof ofKind>[0]) => {
      const identity = ofKind(manifests, 'Deployment').find(
        ({ metadata }) => metadata.name === 'platform-identity',
      );
      return toEnvironment(identity?.spec.template.spec.containers[0], manifests);
    };
    const production = built.get('production') ?? [];
    expect(getTopics(production)).toEqual(['sync-events']);
    expect(getEnvironment(production)).not.toHaveProperty('KAFKA_BROKERS');
    expect(getTopics(withFacts)).toEqual(['sync-events', 'platform-events']);
    const env = getEnvironment(withFacts);
    expect([env.KAFKA_FACTS_TOPIC, env.KAFKA_PARTITIONS]).toEqual(['platform-events', '12']);
    expect(env.KAFKA_BROKERS).toBe('kafka-kafka-bootstrap.kafka:9092');
    expect(env).not.toHaveProperty('KAFKA_TOPIC');
  });

  test('the alerts cover a service without targets and a relay without metrics', () => {
    const rules = ofKind(built.get('production') ?? [], 'PrometheusRule')[0]?.spec.groups[0].rules as Tree[];
    const getExpression = (alert: string): string => rules.find((rule) => rule.alert === alert)?.expr;
    const services = ofKind(built.get('production') ?? [], 'Deployment').map(({ metadata }) => metadata.name.replace('platform-', ''));
    expect(services).toHaveLength(5);
    for (const name of services)
      expect(getExpression('PlatformServiceDown')).toContain(`or absent(up{namespace="platform",release="platform",service='${name}'})`);
    expect(getExpression('PlatformNoRelay')).toContain('or vector(0)) < 1');
    for (const { alert, expr } of rules) {
      const selectors = [...expr.matchAll(/\b[a-z_0-9]{8,}(?=[{[])(\{[^}]*\})?|\bup(\{[^}]*\})/g)];
      expect([alert, selectors.length > 0]).toEqual([alert, true]);
      for (const [selector] of selectors) expect([alert, selector]).toEqual([alert, expect.stringContaining('{namespace="platform",release="platform"')]);
    }
  }); // oxfmt-ignore

  test('alerts, dashboard and scaling use existing metrics, and the guide describes each alert', async () => {
    const known = await knownMetrics();
    const production = built.get('production') ?? [];
    const rules = ofKind(production, 'PrometheusRule').flatMap(({ spec }) => spec.groups.flatMap((group: Tree) => group.rules));
    const dashboard = JSON.parse(ofKind(production, 'ConfigMap').find(({ metadata }) => metadata.labels?.['grafana_dashboard'])?.data?.['platform-platform.json'] ?? '');
    const [scaled] = ofKind(withKeda, 'ScaledObject') as [Tree];
    const scaling = scaled.spec.triggers[0].metadata.query;
    const expressions: string[] = [
      ...rules.map(({ expr }) => expr),
      ...dashboard.panels.flatMap((panel: Tree) => panel.targets.map(({ expr }: Tree) => expr)),
      scaling,
    ];
    expect(expressions.length).toBeGreaterThan(20);
    for (const expression of expressions) {
      const read = listMetrics(expression);
      expect([expression, read.length > 0, read.filter((name) => !known.has(name))]).toEqual([expression, true, []]);
    }
    for (const panel of dashboard.panels)
      for (const { expr } of panel.targets)
        for (const [selector] of expr.matchAll(/\{[^}]*\}/g)) expect(selector).toContain('namespace="$namespace",release="$release"');
    const guide = readFileSync(join(root, 'k8s/README.md'), 'utf8');
    for (const { alert, annotations } of rules) {
      expect(guide).toContain(`### ${alert}\n`);
      expect(annotations.description).toMatch(/\.$/);
    }
  }); // oxfmt-ignore
});

/** Returns the Service of each path prefix. */
function listRoutes(manifests: readonly Manifest[]): ReadonlyMap<string, string> {
  const fromRoutes = ofKind(manifests, 'HTTPRoute').flatMap(({ spec }) =>
    spec.rules.flatMap(({ matches: found, backendRefs }: Tree) =>
      found.map(({ path }: Tree) => [path.value, backendRefs[0].name]),
    ),
  );
  const fromIngress = ofKind(manifests, 'Ingress').flatMap(({ spec }) =>
    spec.rules[0].http.paths.map(({ path, backend }: Tree) => [path, backend.service.name]),
  );
  return new Map([...fromRoutes, ...fromIngress]);
}
