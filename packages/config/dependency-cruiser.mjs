/**
 * Lists which module may import which. The rules go from the outside in: packages first, then the inside of a
 * service.
 */
// Without this parser dependency-cruiser silently passes over TypeScript, and no rule is ever broken.
import.meta.resolve('@swc/core');

const generatedClient = '^services/[^/]+/src/generated/prisma/';

/**
 * The parts of a service, from the bottom up, and which of its other parts each may import. The files beside the parts
 * put them together: parts import none of them but those in `shared`.
 */
function onlyLowerParts(service, parts, shared) {
  const src = `^services/${service}/src/`;
  return Object.entries(parts).map(([part, others]) => ({
    name: `${service}-${part.replace('/', '-')}-imports-lower-parts-only`,
    severity: 'error',
    comment: `The parts of ${service} import one way: ${Object.keys(parts).join(' ← ')}.`,
    from: { path: `${src}${part}/` },
    to: {
      path: src,
      pathNot: [part, ...others]
        .map((allowed) => `${src}${allowed}/`)
        .concat(shared.map((file) => src + file)),
    },
  }));
}

const crawlRules = onlyLowerParts(
  'crawl',
  {
    domain: [],
    db: ['domain'],
    queue: ['domain', 'db'],
    'engine/tasks': ['domain'],
    engine: ['domain', 'db', 'queue'],
    api: ['domain', 'db', 'queue'],
  },
  ['generated/'],
);

const domains = [
  'base',
  'audit',
  'mails',
  'members',
  'facts',
  'groups',
  'credentials',
  'sign-in',
  'tokens',
  'destinations',
  'oauth',
  'mcp',
  'knowledge',
  'access',
];
const identityRules = onlyLowerParts(
  'identity',
  {
    ...Object.fromEntries(domains.map((domain, index) => [domain, domains.slice(0, index)])),
    commands: domains,
    jobs: domains,
    console: [],
  },
  ['generated/', 'resources[.]ts$', 'prisma[.]ts$'],
);

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      comment: 'Modules that import one another can only be understood, and loaded, together.',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-cycles-between-folders',
      severity: 'error',
      comment: 'Folders that import one another are one folder with a wall in it.',
      scope: 'folder',
      from: {},
      to: { circular: true },
    },
    {
      name: 'services-are-separate',
      severity: 'error',
      comment: 'Services meet over HTTP and events, never in code.',
      from: { path: '^services/([^/]+)/' },
      to: { path: '^services/', pathNot: '^services/$1/' },
    },
    {
      name: 'packages-know-no-service',
      severity: 'error',
      comment: 'Packages are below the services.',
      from: { path: '^packages/' },
      to: { path: '^services/' },
    },
    {
      name: 'service-kit-is-the-bottom',
      severity: 'error',
      comment: 'service-kit imports no workspace package; only its tests use packages/testing.',
      from: { path: '^packages/service-kit/src/' },
      to: { path: '^(?:packages|services)/', pathNot: '^packages/service-kit/' },
    },
    {
      name: 'shared-packages-import-service-kit-only',
      severity: 'error',
      comment: 'auth, events and clients may import service-kit, and not one another.',
      from: { path: '^packages/(auth|events|clients)/src/' },
      to: { path: '^packages/', pathNot: '^packages/(?:$1|service-kit)/' },
    },
    {
      name: 'sources-import-no-tests',
      severity: 'error',
      comment: 'What is deployed holds neither tests nor their servers.',
      from: {
        path: '^(?:services|packages)/[^/]+/src/',
        pathNot: ['[.]test[.]ts$', '^packages/(?:testing|e2e|bench)/'],
      },
      to: { path: ['^(?:services|packages)/[^/]+/test/', '^packages/testing/', '[.]test[.]ts$'] },
    },
    {
      name: 'routes-go-through-the-service',
      severity: 'error',
      comment: 'Routes never touch the database: they ask the service of their feature.',
      from: { path: '^services/.+[/.]routes[.]ts$' },
      to: { path: ['[/.]queries[.]ts$', '[.]sql[.]ts$', '^services/[^/]+/src/db/', generatedClient] },
    },
    {
      name: 'services-know-no-fastify',
      severity: 'error',
      comment: 'service.ts is the same below HTTP, a job or a tool call.',
      from: { path: '^services/.+/service[.]ts$' },
      to: { path: '/node_modules/(?:fastify|@fastify/[^/]+|fastify-plugin)/' },
    },
    {
      name: 'database-behind-queries',
      severity: 'error',
      comment:
        'Only queries.ts, the files of db/ and those that open the client import the generated client.',
      from: {
        path: '^services/[^/]+/src/',
        pathNot: ['[/.](?:queries|resources|prisma)[.]ts$', '^services/[^/]+/src/db/', generatedClient],
      },
      to: { path: generatedClient },
    },
    {
      name: 'queries-are-of-prisma',
      severity: 'error',
      comment: 'queries.ts goes through Prisma; statements for pg stand in a *.sql.ts beside it.',
      from: { path: '^services/.+[/.]queries[.]ts$' },
      to: { path: ['/node_modules/pg/', '/node_modules/@types/pg/', '/base/sql-client[.]ts$'] },
    },
    {
      name: 'sql-is-of-pg',
      severity: 'error',
      comment: '*.sql.ts holds statements for pg; what goes through Prisma stands in a queries.ts beside it.',
      from: { path: '^services/.+[.]sql[.]ts$' },
      to: { path: [generatedClient, '^services/[^/]+/src/prisma[.]ts$'] },
    },
    ...crawlRules,
    ...identityRules,
    {
      name: 'no-unresolvable',
      severity: 'error',
      comment: 'An import that leads nowhere would also hide from every other rule.',
      from: {},
      to: { couldNotResolve: true, pathNot: generatedClient },
    },
  ],
  options: {
    // TypeScript 7 has no compiler API; SWC parses instead, type imports included.
    parser: 'swc',
    tsPreCompilationDeps: true,
    // The parser can't read JSX; in the console, the linter looks for cycles.
    exclude: { path: ['(?:^|/)dist/', '/src/generated/.+/.+/', '^packages/console/src/'] },
    doNotFollow: { path: ['node_modules', generatedClient] },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['workspace', 'import', 'require', 'node', 'default', 'types'],
      extensions: ['.ts', '.js', '.mjs', '.cjs', '.json', '.node', '.d.ts'],
    },
  },
};
