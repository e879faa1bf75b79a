import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { SERVICES } from '@platform/local/services';
import { describeWith } from '@platform/testing';
import { buildEdited, buildOverlay, type Manifest, root, type Tree } from './kustomize.js';
import { knownMetrics, listMetrics } from './metrics.js';
import { askConfig, mountSecrets } from './service-config.js';
import { unwrap, ofKind, workloads, matches, toEnvironment } from './workloads.js';

const overlays = ['dev', 'production', 'existing-services'] as const;

async function validate(manifests: readonly Manifest[]): Promise<string[]> {
  const child = spawn(process.execPath, [join(root, 'packages/e2e/validate-manifests.mjs')]);
  child.stdin.end(JSON.stringify(manifests));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout) as string[];
}

describeWith('kustomize', 'the manifests', () => {
  const built = new Map<string, Manifest[]>();
  const secrets = mountSecrets();
  beforeAll(async () => {
    for (const name of overlays) built.set(name, await buildOverlay(name));
  });
  afterAll(secrets.remove);

  describe.each(overlays)('overlay %s', (overlay) => {
    const manifests = (): Manifest[] => built.get(overlay) ?? [];

    test('is valid according to the schemas of Kubernetes and of the custom resources', async () => {
      expect(await validate(manifests().map(unwrap))).toEqual([]);
    });

    test('runs every pod restricted, without a token, within limits', () => {
      expect(workloads(manifests()).length).toBeGreaterThan(6);
      for (const { metadata, spec } of workloads(manifests())) {
        const pod = spec.template.spec;
        const { name } = metadata;
        expect([name, pod.automountServiceAccountToken, pod.hostNetwork, pod.hostPID]).toEqual([name, false, undefined, undefined]);
        const account = ofKind(manifests(), 'ServiceAccount').find((one) => one.metadata.name === pod.serviceAccountName) as Tree;
        expect([name, account?.automountServiceAccountToken]).toEqual([name, false]);
        expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
        for (const { securityContext, resources, image } of pod.containers) {
          expect(securityContext).toEqual({ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } });
          expect(resources).toMatchObject({ requests: { cpu: expect.any(String), memory: expect.any(String) }, limits: { memory: expect.any(String) } });
          expect(image).toMatch(/:(?!latest$)[\w.-]+$/);
        }
        for (const { hostPath } of pod.volumes ?? []) expect(hostPath).toBeUndefined();
      }
      const labels = ofKind(manifests(), 'Namespace')[0]?.metadata.labels;
      expect(labels?.['pod-security.kubernetes.io/enforce']).toBe('restricted');
    }); // prettier-ignore

    test('replaces and drains pods without dropping requests', () => {
      for (const { metadata, spec } of ofKind(manifests(), 'Deployment')) {
        const pod = spec.template.spec;
        expect(spec.strategy.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 });
        expect(pod.topologySpreadConstraints).toHaveLength(2);
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
      const everything = policies.find(({ metadata }) => metadata.name === 'default-deny');
      expect(everything?.spec).toEqual({ podSelector: {}, policyTypes: ['Ingress', 'Egress'] });
      for (const { metadata, spec } of workloads(manifests())) {
        const own = policies.filter(
          ({ spec: { podSelector } }) =>
            podSelector.matchLabels && matches(podSelector, spec.template.metadata.labels),
        );
        expect([metadata.name, own.length]).toEqual([metadata.name, 1]);
      }
    });

    test('starts every service with a valid environment', async () => {
      for (const { metadata, spec } of ofKind(manifests(), 'Deployment')) {
        const [container] = spec.template.spec.containers;
        const env = toEnvironment(container, manifests());
        // The operator has to name the proxies, because any default would let strangers forge an address.
        const { faults: asBuilt } = await askConfig(container.name, secrets.redirect(env));
        const missing = [...asBuilt.matchAll(/^ {2}- (\w+)/gm)].map(([, name]) => name);
        expect([metadata.name, missing]).toEqual([metadata.name, overlay === 'dev' ? [] : ['TRUST_PROXY']]);
        const ready = { ...env, ...(overlay !== 'dev' && { TRUST_PROXY: '10.4.7.0/24' }) };
        const { names, faults } = await askConfig(container.name, secrets.redirect(ready));
        expect([metadata.name, faults]).toEqual([metadata.name, '']);
        const unknown = Object.keys(env).filter((key) => !names.includes(key.replace(/_FILE$/, '')));
        expect([metadata.name, unknown]).toEqual([metadata.name, []]);
      }
    });

    test('migrates each database with the image that serves it', () => {
      const getImage = ({ spec }: Manifest): string => spec.template.spec.containers[0].image;
      for (const { name } of SERVICES) {
        const job = manifests().find(
          ({ kind, metadata }) => kind === 'Job' && metadata.name === `migrate-${name}`,
        );
        const service = manifests().find(
          ({ kind, metadata }) => kind === 'Deployment' && metadata.name === name,
        );
        expect(job?.spec.template.spec.containers[0].args).toEqual(['dist/cli.js', 'migrate']);
        // Only the deadline ends the job, not the number of restarts, whose delays grow.
        expect(job?.spec).toMatchObject({ backoffLimit: 2 ** 31 - 1, activeDeadlineSeconds: 7_200 });
        expect(getImage(job as Manifest)).toBe(getImage(service as Manifest));
      }
    });

    test('routes the paths that packages/local routes, and no internal ones', () => {
      const targets = listRoutes(manifests());
      for (const { name, prefixes, exact = [], internal } of SERVICES) {
        for (const path of [...prefixes, ...exact]) expect([path, targets.get(path)]).toEqual([path, name]);
        for (const path of internal) expect([path, targets.get(path)]).toEqual([path, 'nowhere']);
      }
      expect(targets.size).toBe(
        SERVICES.flatMap(({ prefixes, exact = [], internal }) => [...prefixes, ...exact, ...internal]).length,
      );
    });
  });

  test('the validation finds an unknown value, field and kind', async () => {
    const [deployment] = ofKind(built.get('production') ?? [], 'Deployment') as [Manifest];
    const wrongValue = { ...deployment, spec: { ...deployment.spec, replicas: 'three' } };
    const wrongField = { ...deployment, spec: { ...deployment.spec, replica: 3 } };
    expect((await validate([wrongValue])).join()).toContain('replicas must be integer');
    expect((await validate([wrongField])).join()).toContain(`'"replica"' does not exist`);
    expect((await validate([{ ...deployment, kind: 'Deploy' }])).join()).toContain('no such kind');
  });

  test('the KEDA component replaces the autoscaler of the workers', async () => {
    const scaled = ofKind(built.get('production') ?? [], 'HorizontalPodAutoscaler').map(
      ({ metadata }) => metadata.name,
    );
    expect(scaled.toSorted()).toEqual(['crawl', 'crawl-worker', 'identity', 'mail']);
    const withKeda = await buildEdited('production', [
      ['# - ../../components/keda', '- ../../components/keda'],
    ]);
    expect(await validate(withKeda)).toEqual([]);
    expect(ofKind(withKeda, 'ScaledObject')).toHaveLength(1);
    const left = ofKind(withKeda, 'HorizontalPodAutoscaler').map(({ metadata }) => metadata.name);
    expect(left.toSorted()).toEqual(['crawl', 'identity', 'mail']);
  });

  test('the workers reach Kafka in its own namespace, which contains the topic', async () => {
    const production = built.get('production') ?? [];
    expect(ofKind(production, 'KafkaTopic')).toEqual([]);
    const beside = await buildOverlay('production/kafka');
    expect(await validate(beside)).toEqual([]);
    const [topic] = ofKind(beside, 'KafkaTopic') as [Tree];
    const worker = ofKind(production, 'Deployment').find(({ metadata }) => metadata.name === 'crawl-worker');
    const env = toEnvironment(worker?.spec.template.spec.containers[0], production);
    const { name, namespace, labels } = topic.metadata;
    expect(env.KAFKA_BROKERS).toBe(`${labels['strimzi.io/cluster']}-kafka-bootstrap.${namespace}:9092`);
    expect([env.KAFKA_TOPIC, env.KAFKA_PARTITIONS]).toEqual([name, String(topic.spec.partitions)]);
    const policy = ofKind(production, 'NetworkPolicy').find(
      ({ metadata }) => metadata.name === 'crawl-worker',
    );
    expect(policy?.spec.egress).toContainEqual({
      to: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } } }],
      ports: [{ protocol: 'TCP', port: 9092 }],
    });
  });

  test('the alerts cover a service without targets and a relay without metrics', () => {
    const rules = ofKind(built.get('production') ?? [], 'PrometheusRule')[0]?.spec.groups[0].rules as Tree[];
    const getExpression = (alert: string): string => rules.find((rule) => rule.alert === alert)?.expr;
    const services = ofKind(built.get('production') ?? [], 'Deployment').map(({ metadata }) => metadata.name);
    expect(services).toHaveLength(4);
    for (const name of services)
      expect(getExpression('PlatformServiceDown')).toContain(`or absent(up{namespace="platform",service='${name}'})`);
    expect(getExpression('PlatformNoRelay')).toContain('or vector(0)) < 1');
    for (const { alert, expr } of rules) {
      const selectors = [...expr.matchAll(/\b[a-z_0-9]{8,}(?=[{[])(\{[^}]*\})?|\bup(\{[^}]*\})/g)];
      expect([alert, selectors.length > 0]).toEqual([alert, true]);
      for (const [selector] of selectors) expect([alert, selector]).toEqual([alert, expect.stringContaining('{namespace="platform"')]);
    }
  }); // prettier-ignore

  test('alerts, dashboard and scaling use existing metrics, and the guide describes each alert', async () => {
    const known = await knownMetrics();
    const production = built.get('production') ?? [];
    const rules = ofKind(production, 'PrometheusRule').flatMap(({ spec }) => spec.groups.flatMap((group: Tree) => group.rules));
    const dashboard = JSON.parse(ofKind(production, 'ConfigMap').find(({ data }) => data?.['dashboard.json'])?.data?.['dashboard.json'] ?? '');
    const scaling = readFileSync(join(root, 'k8s/components/keda/scaled-object.yaml'), 'utf8').match(/query: (.*)/)?.[1] ?? '';
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
    const guide = readFileSync(join(root, 'k8s/README.md'), 'utf8');
    for (const { alert } of rules) expect(guide).toContain(`\`${alert}\``);
  }); // prettier-ignore
});

/** Returns the Service of each path prefix; `nowhere` for those that the gateway refuses. */
function listRoutes(manifests: readonly Manifest[]): ReadonlyMap<string, string> {
  const fromRoutes = ofKind(manifests, 'HTTPRoute').flatMap(({ spec }) =>
    spec.rules.flatMap(({ matches: found, backendRefs }: Tree) =>
      found.map(({ path }: Tree) => [path.value, backendRefs?.[0].name ?? 'nowhere']),
    ),
  );
  const fromIngress = ofKind(manifests, 'Ingress').flatMap(({ spec }) =>
    spec.rules[0].http.paths.map(({ path, backend }: Tree) => [path, backend.service.name]),
  );
  return new Map([...fromRoutes, ...fromIngress]);
}
