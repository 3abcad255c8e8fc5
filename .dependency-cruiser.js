/**
 * The modules and what each may import besides itself. All may import `platform`, which imports none of them.
 * A module that is not named here imports nothing.
 */
const ARROWS = {
  fraud: [],
  outbox: ['fraud'],
  queue: ['fraud', 'outbox'],
  account: ['outbox'],
  auth: ['account', 'outbox'],
  waitlist: ['fraud', 'queue', 'account', 'auth'],
  signup: ['fraud', 'waitlist', 'queue'],
  waiter: ['fraud', 'waitlist', 'queue', 'auth'],
  legacy: ['signup', 'waitlist', 'queue'],
  pages: ['mail', 'signup', 'waitlist', 'queue'],
  transfer: ['fraud', 'waitlist', 'queue', 'auth'],
  webhook: ['outbox', 'queue', 'account', 'auth'],
  mail: ['fraud', 'outbox', 'waitlist', 'queue', 'account', 'auth'],
};
/** The folders of the queue, and what each may import besides itself. */
const QUEUE_ARROWS = {
  settings: [],
  offers: ['settings'],
  order: ['settings', 'record'],
  record: ['settings', 'order'],
  read: ['settings', 'order', 'record'],
  write: ['settings', 'offers', 'order', 'record', 'read'],
  import: ['settings', 'order', 'record', 'write'],
  release: ['settings', 'offers', 'write'],
  maintenance: ['settings', 'offers', 'order', 'record', 'write', 'import'],
};
const modules = Object.keys(ARROWS).join('|');
const spec = '\\.spec\\.ts$';

const arrow = ([module, targets]) => ({
  name: `${module}-imports-only-${[...targets, 'platform'].join('-')}`,
  severity: 'error',
  from: { path: `^src/${module}/` },
  to: { path: '^src/', pathNot: `^src/(${[module, ...targets, 'platform'].join('|')})/` },
});

const queueArrow = ([folder, targets]) => ({
  name: `queue-${folder}-imports-only-${targets.join('-') || 'itself'}`,
  severity: 'error',
  from: { path: `^src/queue/${folder}/` },
  to: { path: '^src/queue/[^/]+/', pathNot: `^src/queue/(${[folder, ...targets].join('|')})/` },
});

/** Within a module, imports point down: controller and dto, service, store, entity. */
const layer = (name, from, to) => ({
  name: `${name}-points-down`,
  severity: 'error',
  from: { path: `^src/(${modules})/.*\\.(${from})\\.ts$` },
  to: { path: `^src/(${modules})/.*\\.(${to})\\.ts$` },
});

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...Object.entries(ARROWS).map(arrow),
    ...Object.entries(QUEUE_ARROWS).map(queueArrow),
    {
      name: 'platform-imports-no-module',
      severity: 'error',
      from: { path: '^src/platform/' },
      to: { path: '^src/', pathNot: '^src/platform/' },
    },
    {
      name: 'modules-are-named-here',
      severity: 'error',
      from: { path: '^src/[^/]+/', pathNot: `^src/(${modules}|platform|boot|cli)/` },
      to: { path: '^src/' },
    },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'controllers-belong-to-their-module',
      severity: 'error',
      from: { path: '^src/', pathNot: `\\.module\\.ts$|${spec}` },
      to: { path: '\\.controller\\.ts$' },
    },
    {
      // The outbox has no service: its stores make the queries of other modules' transactions.
      name: 'modules-are-entered-through-their-service',
      severity: 'error',
      from: { path: '^src/([^/]+)/' },
      to: { path: `^src/(${modules})/.*\\.(controller|store)\\.ts$`, pathNot: '^src/($1|outbox)/' },
    },
    {
      name: 'a-dto-of-another-module-is-for-dtos-and-entry-points',
      severity: 'error',
      from: { path: '^src/([^/]+)/', pathNot: '^src/boot/|\\.dto\\.ts$' },
      to: { path: `^src/(${modules})/.*\\.dto\\.ts$`, pathNot: '^src/$1/' },
    },
    {
      name: 'entry-points-see-modules-and-services',
      severity: 'error',
      from: { path: '^src/([^/]+|(boot|cli)/[^/]+)\\.ts$' },
      to: { path: `^src/(${modules})/`, pathNot: '\\.(module|service|dispatcher|dto)\\.ts$|^src/queue/maintenance/' },
    },
    {
      name: 'main-handles-signals-before-it-imports-the-rest',
      severity: 'error',
      from: { path: '^src/main\\.ts$' },
      to: { dynamic: false, pathNot: '^src/boot/shutdown\\.ts$' },
    },
    {
      name: 'cli-reads-a-command-before-it-imports-the-rest',
      severity: 'error',
      from: { path: '^src/cli(/|\\.ts$)' },
      to: {
        dynamic: false,
        dependencyTypesNot: ['type-only'],
        path: '^src/',
        pathNot: '^src/cli/|^src/platform/(config/version|contract/(formats|password-rule)|problems/problem)\\.ts$',
      },
    },
    {
      name: 'signal-handlers-import-nothing-slow',
      severity: 'error',
      from: { path: '^src/boot/shutdown\\.ts$' },
      to: { pathNot: '^node:|^os$' },
    },
    layer('controller', 'controller|dto', 'store'),
    layer('service', 'service', 'controller|dto'),
    layer('store', 'store', 'controller|dto|service'),
    layer('entity', 'entity', 'controller|dto|service|store'),
    {
      name: 'the-program-imports-no-test',
      severity: 'error',
      from: { path: '^src/', pathNot: spec },
      to: { path: `^test/|${spec}` },
    },
    {
      name: 'the-program-needs-no-dev-dependency',
      severity: 'error',
      from: { path: '^src/', pathNot: spec },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'without-tracing-its-sdk-is-not-loaded',
      severity: 'error',
      from: { path: '^src/', pathNot: spec },
      to: { path: 'node_modules/@opentelemetry/(?!api/)', dynamic: false, dependencyTypesNot: ['type-only'] },
    },
    {
      // Its preview draws the page and the widget, which share components that know nothing of the service. It shows
      // how an import reads the names of columns before the file is sent.
      name: 'the-desk-uses-only-the-public-api',
      severity: 'error',
      from: { path: '^web/desk/' },
      to: { path: '^(src|test|drills)/', pathNot: '^src/transfer/column-names\\.ts$' },
    },
    {
      name: 'imports-resolve',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'require', 'node', 'default'] },
  },
};
