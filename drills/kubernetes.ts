/**
 * The chart on a real Kubernetes, under the restricted Pod Security Standard:
 * - `install`: installations that fail say why; then one with its secrets as files, `helm test`, and the journeys of a
 *   visitor and an owner in a browser, by the routes of the Ingress and of the HTTPRoute
 * - `change`: an upgrade, a killed pod, evictions, scaling and a rollback under load, then a stop without load. No
 *   answered signup may be lost; requests may fail only while the pod is killed.
 * - `earlier`: an upgrade from v0.2.0's chart by the stop of docs/upgrading.md
 *   npm run test:kubernetes [-- part…]
 * It takes any cluster by KUBECONFIG. Its nodes must have the images IMAGE and NEXT_IMAGE, two builds of this tree, and
 * EARLIER_IMAGE, the one of v0.2.0. TOOLS is the directory that deploy/install-tools prints. Addresses of Services must
 * be reachable from here, and this machine from pods. It needs kubectl, haproxy and openssl in PATH, and `npm run
 * web:install`. .ci/kubernetes sees to all that.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Answer, held } from '../test/support/api.js';
import { openDatabase } from '../test/support/database.js';
import { freePort, OWNER, until } from '../test/support/service-process.js';
import { verify } from './support/command-line.js';
import { DatabaseServer } from './support/database-server.js';
import { earlierBuild } from './support/earlier-build.js';
import { read, SETTINGS } from './support/traffic.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CHART = join(ROOT, 'deploy/chart');
const EARLIER_COMMIT = process.env.EARLIER_COMMIT ?? 'v0.2.0';
const HOST = 'lists.example.com';
/** Begins with a digit and has a dot: names of Services may not. */
const ODD_RELEASE = '9.lists';
const RELEASE = 'waitlist';
/** The Deployment and the Service that this chart and v0.2.0's create for RELEASE. */
const NAME = 'waitlist-waitlist-service';
const PODS = 'app.kubernetes.io/component=service';
const CLIENTS = 6;
const CLIENT_PAUSE_MS = 150;
const CALL_TIMEOUT_MS = 30_000;
/** Between two steps, so that each is under load. */
const LOAD_MS = 2_000;
const HELM_TIMEOUT = '4m';
const OUTPUT_MAX_BYTES = 64 * 1024 * 1024;
/** Marks the proxy's 404 for a request that no route matches. */
const UNROUTED = 'x-unrouted';
const INTERNAL_PATHS = ['/metrics', '/livez', '/readyz'];

type Values = Readonly<Record<string, unknown>>;

const run = promisify(execFile);
const startMs = performance.now();

function say(line: string): void {
  process.stdout.write(`${((performance.now() - startMs) / 1000).toFixed(0).padStart(4)} s  ${line}\n`);
}

function expect(condition: boolean, fault: string): asserts condition {
  if (!condition) throw new Error(fault);
}

function required(variable: string): string {
  const value = process.env[variable];
  expect(Boolean(value), `${variable} is needed: see the first lines of drills/kubernetes.ts`);
  return value as string;
}

async function output(program: string, args: readonly string[], input = ''): Promise<string> {
  const running = run(program, args, { maxBuffer: OUTPUT_MAX_BYTES });
  // A program that reads nothing may have ended.
  running.child.stdin?.on('error', () => undefined).end(input);
  return running.then(
    ({ stdout }) => stdout.trim(),
    ({ stdout, stderr }: { stdout: string; stderr: string }) => {
      throw new Error(`${[program, ...args].join(' ')} failed:\n${stdout}${stderr}`);
    },
  );
}

const kubectl = (...args: string[]) => output('kubectl', args);
const apply = (object: object) => output('kubectl', ['apply', '--filename', '-'], JSON.stringify(object));

/** What the parts share. */
interface Stage {
  readonly directory: string;
  /** Has helm, and the definition of HTTPRoutes. */
  readonly tools: string;
  /** This machine's address, for pods. */
  readonly address: string;
  /** A certificate of HOST and its key. */
  readonly certificate: string;
}

/** A line for each pod that serves and is not about to end: its name and its image. */
const READY_PODS = `{{range .items}}{{if not .metadata.deletionTimestamp}}{{$pod := .}}{{range .status.conditions}}
  {{- if and (eq .type "Ready") (eq .status "True")}}{{$pod.metadata.name}} {{(index $pod.spec.containers 0).image}}
  {{- println}}{{end}}{{end}}{{end}}{{end}}`;

/** A namespace with one release of the chart and its database. */
class Installation {
  readonly database;
  revision = 0;

  private constructor(
    readonly stage: Stage,
    readonly namespace: string,
    readonly release: string,
    database: Awaited<ReturnType<typeof openDatabase>>,
  ) {
    this.database = database;
  }

  static async prepare(stage: Stage, namespace: string, release: string): Promise<Installation> {
    await kubectl('delete', 'namespace', namespace, '--ignore-not-found', '--timeout=2m');
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
    await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } });
    return new Installation(stage, namespace, release, await openDatabase(true));
  }

  async remove(): Promise<void> {
    await this.kubectl('delete', 'namespace', this.namespace, '--wait=false');
    await this.database.drop();
  }

  kubectl(...args: string[]): Promise<string> {
    return kubectl('--namespace', this.namespace, ...args);
  }

  helm(...args: string[]): Promise<string> {
    return output(join(this.stage.tools, 'helm'), ['--namespace', this.namespace, ...args]);
  }

  async secret(name: string, stringData: Readonly<Record<string, string>>): Promise<void> {
    await apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: this.namespace }, stringData });
  }

  /** The command of docs/operations.md. */
  async upgrade(
    image: string,
    values: Values,
    { chart = CHART, options = [] as readonly string[] } = {},
  ): Promise<string> {
    const [, repository, tag] = /^(.+):([^:/]+)$/.exec(image) ?? [];
    const { port } = new URL(this.database.url);
    const all = {
      image: { repository, tag },
      resources: { requests: { cpu: '100m' } },
      ingress: { enabled: true, hosts: [HOST] },
      httpRoute: { enabled: true, parentRefs: [{ name: 'public' }], hostnames: [HOST] },
      networkPolicy: { database: { ports: [Number(port)] } },
      migration: { backoffLimit: 0 },
      ...values,
      config: {
        PUBLIC_BASE_URL: `https://${HOST}`,
        TRUST_PROXY: '10.0.0.0/8,172.16.0.0/12,192.168.0.0/16',
        RATE_LIMIT_PUBLIC: '0',
        ...(values.config as Values | undefined),
      },
    };
    const file = join(this.stage.directory, 'values.json');
    await writeFile(file, JSON.stringify(all));
    const waiting = ['--wait', '--timeout', HELM_TIMEOUT];
    return this.helm('upgrade', '--install', this.release, chart, '--values', file, ...waiting, ...options);
  }

  /** The lines of an object's template, in fields. */
  async lines(kind: string, template: string, ...options: string[]): Promise<string[][]> {
    const printed = await this.kubectl('get', kind, ...options, '--output', `go-template=${template}`);
    return printed
      .split('\n')
      .filter(Boolean)
      .map((line) => line.split(' '));
  }

  async pods(): Promise<{ readonly name: string; readonly image: string }[]> {
    const lines = await this.lines('pods', READY_PODS, '--selector', PODS);
    return lines.map(([name = '', image = '']) => ({ name, image }));
  }

  /** Until the Deployment has so many pods, all of which serve. */
  async settled(count: number): Promise<void> {
    await this.kubectl('rollout', 'status', 'deployment', '--timeout', HELM_TIMEOUT);
    await until(async () => (await this.pods()).length === count);
  }
}

/** A line for each route: host, path, its type, the Service, and the name or number of its port. */
const ROUTES = {
  ingress: `{{range .items}}{{range .spec.rules}}{{$host := .host}}{{range .http.paths}}{{$host}} {{.path}} {{.pathType}}
    {{- with .backend.service}} {{.name}} {{or .port.name .port.number}}{{end}}{{println}}{{end}}{{end}}{{end}}`,
  httproute: `{{range .items}}{{$spec := .spec}}{{range $host := $spec.hostnames}}{{range $rule := $spec.rules}}
    {{- range .matches}}{{$host}} {{.path.value}} {{.path.type}}
    {{- range $rule.backendRefs}} {{.name}} {{.port}}{{end}}{{println}}{{end}}{{end}}{{end}}{{end}}`,
};
type RouteKind = keyof typeof ROUTES;
const SERVICE_PORTS = `{{range .items}}{{$service := .}}{{range .spec.ports}}
  {{- $service.metadata.name}} {{.name}} {{.port}} {{$service.spec.clusterIP}}{{println}}{{end}}{{end}}`;

/** haproxy with the routes of an Ingress or HTTPRoute, as the API server stores them. */
class Proxy {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });

  private constructor(
    readonly port: number,
    private readonly certificate: string,
    private readonly process: ChildProcess,
  ) {}

  static async open(installation: Installation, kind: RouteKind): Promise<Proxy> {
    const { directory, certificate } = installation.stage;
    const addresses = new Map<string, string>();
    for (const [service, name, number, ip] of await installation.lines('services', SERVICE_PORTS))
      for (const one of [name, number]) addresses.set(`${service} ${one}`, `${ip}:${number}`);
    const rules: string[] = [];
    const backends = new Set<string>();
    for (const [host, path = '', type = '', service, to] of await installation.lines(kind, ROUTES[kind])) {
      // A prefix of whole segments.
      const paths = type.endsWith('Prefix') ? [`path ${path}`, `path_beg ${path}/`] : [`path ${path}`];
      for (const one of paths)
        rules.push(`use_backend ${service} if { hdr(host),field(1,:) -m str ${host} } { ${one} }`);
      const address = addresses.get(`${service} ${to}`);
      expect(address !== undefined, `A route of ${kind} leads to ${service}, port ${to}, which is missing`);
      backends.add(`backend ${service}\n  server service ${address}\n`);
    }
    const port = await freePort();
    const file = join(directory, `haproxy-${port}.cfg`);
    await writeFile(
      file,
      `defaults
  mode http
  option forwardfor
  option http-server-close
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend people
  bind 127.0.0.1:${port} ssl crt ${certificate}
  http-request set-header X-Forwarded-Proto https
${rules.map((rule) => `  ${rule}\n`).join('')}  default_backend none
backend none
  http-request return status 404 hdr ${UNROUTED} yes
${[...backends].join('')}`,
    );
    const balancer = spawn('haproxy', ['-db', '-q', '-f', file], { stdio: 'inherit' });
    const proxy = new Proxy(port, await readFile(certificate, 'utf8'), balancer);
    try {
      await until(() =>
        proxy.call('GET', '/api/v1/').then(
          () => true,
          () => false,
        ),
      );
    } catch (error) {
      proxy.close();
      throw error;
    }
    return proxy;
  }

  async call(method: string, path: string, body?: unknown, token?: string): Promise<Answer> {
    const headers = {
      host: HOST,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    };
    const { port, certificate: ca, agent } = this;
    const target = { host: '127.0.0.1', port, method, path, headers, agent, ca, servername: HOST };
    const sent = request({ ...target, timeout: CALL_TIMEOUT_MS });
    sent.on('timeout', () => sent.destroy(new Error('no answer in time')));
    sent.end(body === undefined ? undefined : JSON.stringify(body));
    const [response] = await once(sent, 'response');
    const answer = { status: response.statusCode as number, headers: response.headers, text: await text(response) };
    // A 404 without a route and any 5xx may be the proxy's own, which follow no contract.
    if (UNROUTED in answer.headers || answer.status >= 500) return { ...answer, body: undefined };
    return held(method, path, answer);
  }

  async openWaitlist(settings: object = {}): Promise<{ readonly id: number; readonly token: string }> {
    const { access_token: token } = read(await this.call('POST', '/api/v1/auth/create_tokens', OWNER));
    const { id } = read(await this.call('POST', '/api/v1/waitlist', { ...SETTINGS, ...settings }, token));
    return { id, token };
  }

  close(): void {
    this.agent.destroy();
    this.process.kill();
  }
}

/** Clients that sign up and look up their signups, and repeat requests that fail. */
class Load {
  /** Emails and uuids of the signups that were answered. */
  private readonly answered = new Map<string, string>();
  private readonly failures: string[] = [];
  private isOver = false;
  private clients: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly proxy: Proxy,
    private readonly waitlist: { readonly id: number; readonly token: string },
  ) {}

  static async start(proxy: Proxy): Promise<Load> {
    const load = new Load(proxy, await proxy.openWaitlist());
    load.clients = Promise.all(Array.from({ length: CLIENTS }, () => load.runClient()));
    return load;
  }

  /**
   * Does the work under load, then lets the load continue for LOAD_MS. Reports the work's duration. Fails if no signup
   * was answered, or if a request failed and `mayFail` is not set.
   */
  async during(name: string, work: () => Promise<unknown>, { mayFail = false } = {}): Promise<void> {
    const [failures, signups, beginMs] = [this.failures.length, this.answered.size, performance.now()];
    await work();
    const seconds = ((performance.now() - beginMs) / 1000).toFixed(1);
    await setTimeout(LOAD_MS);
    const failed = this.failures.slice(failures);
    const count = this.answered.size - signups;
    say(`${name}: ${seconds} s, ${count} signups; failed requests: ${failed.length > 0 ? failed.join(', ') : 'none'}`);
    expect(mayFail || failed.length === 0, `Requests failed during: ${name}`);
    expect(count > 0, `No signup was answered during: ${name}`);
  }

  /** Ends the load. */
  async stop(): Promise<void> {
    this.isOver = true;
    await this.clients;
  }

  /** Everything that was answered must be there, and nothing else. */
  async check(proxy: Proxy): Promise<void> {
    const rest = this.answered.entries();
    const compare = async () => {
      for (const [email, uuid] of rest)
        expect(read(await this.lookUp(proxy, email)).uuid === uuid, `${email} was answered and is lost`);
    };
    await Promise.all(Array.from({ length: CLIENTS }, compare));
    const path = `/api/v1/waitlist/${this.waitlist.id}`;
    const { total_signups: stored } = read(await proxy.call('GET', path, undefined, this.waitlist.token)).statistics;
    expect(stored === this.answered.size, `${this.answered.size} signups were answered, ${stored} are stored`);
    say(`looked up: all of ${stored} answered signups`);
  }

  private async runClient(): Promise<void> {
    while (!this.isOver) {
      const email = `${randomUUID()}@example.com`;
      const join = () => this.proxy.call('POST', '/api/v1/signup', { waitlist_id: this.waitlist.id, email });
      const { uuid } = await this.retry(join);
      this.answered.set(email, uuid);
      await this.retry(() => this.lookUp(this.proxy, email));
      await setTimeout(CLIENT_PAUSE_MS);
    }
  }

  private lookUp(proxy: Proxy, email: string): Promise<Answer> {
    return proxy.call('GET', `/api/v1/signup?waitlist_id=${this.waitlist.id}&email=${email}`);
  }

  private async retry(send: () => Promise<Answer>): Promise<{ readonly uuid: string }> {
    for (;;) {
      const answer = await send().catch((error: NodeJS.ErrnoException) => error);
      if (!(answer instanceof Error) && answer.status === 200) return answer.body;
      this.failures.push(String(answer instanceof Error ? (answer.code ?? answer.message) : answer.status));
      // Whoever never succeeds must not keep the drill from its end.
      expect(this.failures.length < 1000, 'Too many requests failed');
      await setTimeout(CLIENT_PAUSE_MS);
    }
  }
}

const newSecret = () => randomBytes(36).toString('base64url');

/** The Secret that the chart reads as it is. */
function plainSecret({ database }: Installation): Record<string, string> {
  return { DATABASE_URL: database.url, JWT_SECRET: newSecret(), OWNER_PASSWORD: OWNER.password };
}

const ownerValues = { config: { OWNER_EMAIL: OWNER.email } };

/** Installations that must fail, and the setting that helm must name. */
const REFUSALS: readonly {
  readonly fault: string;
  readonly secret: Readonly<Record<string, string>>;
  readonly setting: string;
}[] = [
  { fault: 'no JWT_SECRET', secret: { JWT_SECRET: '' }, setting: 'JWT_SECRET' },
  { fault: 'a short JWT_SECRET', secret: { JWT_SECRET: 'short' }, setting: 'JWT_SECRET' },
  { fault: 'mails without a sender', secret: { SMTP_URL: 'smtp://mail.example.com' }, setting: 'MAIL_FROM' },
  { fault: 'a guessable password', secret: { OWNER_PASSWORD: 'passwordpassword' }, setting: 'OWNER_PASSWORD' },
];

async function install(stage: Stage): Promise<void> {
  const installation = await Installation.prepare(stage, 'drill-install', ODD_RELEASE);
  const name = 'w9-lists-waitlist-service';
  const image = required('IMAGE');
  for (const { fault, secret, setting } of REFUSALS) {
    await installation.secret('waitlist-service', { ...plainSecret(installation), ...secret });
    const told = await installation.upgrade(image, ownerValues).then(
      () => 'nothing',
      (error: Error) => error.message,
    );
    // The command of docs/operations.md.
    const logged = await installation.kubectl('logs', `job/${name}-migrate`);
    for (const reason of [told, logged])
      expect(reason.includes(`${setting}: `), `An installation with ${fault} must fail and say why, not: ${reason}`);
    expect((await installation.pods()).length === 0, `Pods run with ${fault}`);
    say(`refused, ${fault}: ${logged.split('\n').at(-1)}`);
    await installation.kubectl('delete', 'secret', 'waitlist-service');
  }

  const mailPort = await freePort();
  const url = new URL(installation.database.url);
  await installation.secret('app', { username: url.username, password: url.password });
  url.username = '';
  url.password = '';
  await installation.secret('settings', {
    address: url.href,
    signing: newSecret(),
    owner: OWNER.password,
    mail: `smtp://${stage.address}:${mailPort}`,
  });
  const keys = {
    DATABASE_URL: { key: 'address' },
    DATABASE_USER: { name: 'app', key: 'username' },
    DATABASE_PASSWORD: { name: 'app', key: 'password' },
    JWT_SECRET: { key: 'signing' },
    OWNER_PASSWORD: { key: 'owner' },
    SMTP_URL: { key: 'mail' },
  };
  await installation.upgrade(image, {
    secret: { name: 'settings', keys, asFiles: true },
    networkPolicy: { database: { ports: [Number(url.port)] }, mail: { ports: [mailPort] } },
    config: { ...ownerValues.config, MAIL_FROM: 'Launch <launch@example.com>' },
  });
  await installation.settled(2);
  say(`installed as ${ODD_RELEASE}, with secrets as files, and user and password apart`);
  await installation.helm('test', ODD_RELEASE, '--timeout', HELM_TIMEOUT);
  say('helm test: passed');

  const exposed = (await readFile(join(ROOT, 'deploy/routes.txt'), 'utf8')).trim().split('\n');
  for (const kind of Object.keys(ROUTES) as RouteKind[]) {
    const proxy = await Proxy.open(installation, kind);
    try {
      const routes = exposed.filter((one) => one.toLowerCase().startsWith(kind));
      for (const line of routes) {
        const [, , path] = line.split(' ') as [string, string, string];
        const { status, headers } = await proxy.call('GET', path);
        expect(!(UNROUTED in headers) && status < 500, `${kind}: ${path} leads nowhere: ${status}`);
      }
      for (const path of INTERNAL_PATHS) {
        const { headers } = await proxy.call('GET', path);
        expect(UNROUTED in headers, `${kind}: ${path} leads to the service`);
      }
      say(`${kind}: ${routes.length} routes lead to the service, ${INTERNAL_PATHS.join(' ')} do not`);
      const { id } = await proxy.openWaitlist({ verification: 'required', fraud: { minimum_seconds: null } });
      const program = ['--import', 'tsx', join(ROOT, 'tools/web/journey.ts')];
      const targets = [`https://${HOST}`, `127.0.0.1:${proxy.port}`, String(id), `${stage.address}:${mailPort}`];
      await output(process.execPath, [...program, ...targets]);
      say(`${kind}: a visitor joined by the page, another by the widget, both verified; the owner imported a list`);
    } finally {
      proxy.close();
    }
  }
  await verify(installation.database.url);
  await uninstall(installation, name);
}

/** Leaves nothing but the settings of the migration, which have no secrets. */
async function uninstall(installation: Installation, name: string): Promise<void> {
  await installation.helm('uninstall', installation.release, '--wait', '--timeout', HELM_TIMEOUT);
  const kinds = 'deployment,job,service,configmap,ingress,httproute,hpa,pdb,networkpolicy';
  const selector = ['--selector', `app.kubernetes.io/instance=${installation.release}`];
  const left = await installation.kubectl('get', kinds, ...selector, '--output', 'name');
  expect(left === `configmap/${name}-migrate`, `helm uninstall left: ${left}`);
  say('uninstalled');
  await installation.remove();
}

async function change(stage: Stage): Promise<void> {
  const installation = await Installation.prepare(stage, 'drill-change', RELEASE);
  const [image, next] = [required('IMAGE'), required('NEXT_IMAGE')];
  await installation.secret('waitlist-service', plainSecret(installation));
  await installation.upgrade(image, ownerValues);
  await installation.settled(2);
  say('installed');
  const proxy = await Proxy.open(installation, 'ingress');
  try {
    const load = await Load.start(proxy);
    await load.during('upgrade', async () => {
      await installation.upgrade(next, ownerValues);
      await installation.settled(2);
      expect(
        (await installation.pods()).every((pod) => pod.image === next),
        'Pods of the earlier build run',
      );
    });
    await load.during('a pod is killed', () => kill(installation), { mayFail: true });
    await load.during('both pods are evicted', () => evictBoth(installation));
    await load.during('scaled up', async () => {
      await installation.kubectl('scale', `deployment/${NAME}`, '--replicas=4');
      await installation.settled(4);
    });
    const autoscaling = { enabled: true, minReplicas: 2, maxReplicas: 4 };
    const forced = { options: ['--force-conflicts'] };
    await load.during('autoscaling is turned on', async () => {
      let fewest = Infinity;
      const upgrading = installation.upgrade(next, { ...ownerValues, autoscaling }, forced);
      const watching = until(async () => {
        fewest = Math.min(fewest, (await installation.pods()).length);
        return Promise.race([upgrading.then(() => true), setTimeout(500, false)]);
      });
      await Promise.all([upgrading, watching]);
      expect(fewest === 4, `It left ${fewest} of 4 pods`);
    });
    await load.during('scaled down', async () => {
      await installation.upgrade(next, { ...ownerValues, autoscaling: { enabled: false } }, forced);
      await installation.settled(2);
    });
    await load.during('rollback', async () => {
      await installation.helm('rollback', RELEASE, '1', '--wait', '--timeout', HELM_TIMEOUT, '--force-conflicts');
      await installation.settled(2);
      expect(
        (await installation.pods()).every((pod) => pod.image === image),
        'Pods of the later build run',
      );
    });
    await load.stop();

    await installation.kubectl('scale', `deployment/${NAME}`, '--replicas=0');
    await installation.kubectl('wait', '--for=delete', 'pod', '--selector', PODS, '--timeout', HELM_TIMEOUT);
    await installation.upgrade(next, { ...ownerValues, autoscaling }, forced);
    await installation.settled(2);
    say('an upgrade with autoscaling after a stop: 2 pods serve');
    await load.check(proxy);
    await verify(installation.database.url);
    await uninstall(installation, NAME);
  } finally {
    proxy.close();
  }
}

/** Without a signal that it could handle. */
async function kill(installation: Installation): Promise<void> {
  const [{ name } = { name: '' }] = await installation.pods();
  // It kills its own shell too.
  await installation.kubectl('exec', name, '--', 'sh', '-c', 'kill -KILL -1').catch(() => '');
  const format = 'jsonpath={.status.containerStatuses[0].restartCount}';
  await until(async () => (await installation.kubectl('get', 'pod', name, '--output', format)) === '1');
  await installation.settled(2);
}

/** As when their nodes are drained: the disruption budget lets the second go once the first is replaced. */
async function evictBoth(installation: Installation): Promise<void> {
  const evict = (name: string) => {
    const path = `/api/v1/namespaces/${installation.namespace}/pods/${name}/eviction`;
    const eviction = {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name, namespace: installation.namespace },
    };
    return output('kubectl', ['create', '--raw', path, '--filename', '-'], JSON.stringify(eviction));
  };
  const [first = '', second = ''] = (await installation.pods()).map(({ name }) => name);
  await evict(first);
  const refusal = await evict(second).then(
    () => 'evicted',
    (error: Error) => error.message,
  );
  expect(refusal.includes('disruption budget'), `Two of two pods can be evicted: ${refusal}`);
  await installation.settled(2);
  await evict(second);
  await installation.settled(2);
}

async function earlier(stage: Stage): Promise<void> {
  const installation = await Installation.prepare(stage, 'drill-earlier', RELEASE);
  const image = required('IMAGE');
  const { root } = await earlierBuild(EARLIER_COMMIT);
  // v0.2.0 takes the owner's address from the Secret.
  await installation.secret('waitlist-service', { ...plainSecret(installation), OWNER_EMAIL: OWNER.email });
  await installation.upgrade(required('EARLIER_IMAGE'), {}, { chart: join(root, 'deploy/chart') });
  await installation.settled(2);
  say('installed v0.2.0');
  const proxy = await Proxy.open(installation, 'ingress');
  try {
    const load = await Load.start(proxy);
    await load.during('an upgrade without a stop is refused', async () => {
      const told = await installation.upgrade(image, {}).then(
        () => '',
        (error: Error) => error.message,
      );
      expect(told.includes('Stop all replicas'), `It must fail and say why: ${told}`);
      expect((await installation.pods()).length === 2, 'The pods must go on');
    });
    await load.stop();
    await load.check(proxy);
    await installation.kubectl('scale', `deployment/${NAME}`, '--replicas=0');
    const selector = `app.kubernetes.io/instance=${RELEASE},${PODS}`;
    await installation.kubectl('wait', '--for=delete', 'pod', '--timeout=5m', '--selector', selector);
    await installation.upgrade(image, {}, { options: ['--force-conflicts'] });
    await installation.settled(2);
    say('upgraded by a stop');
    await load.check(proxy);
    await verify(installation.database.url);
    await uninstall(installation, NAME);
  } finally {
    proxy.close();
  }
}

/** This machine's source address for packets to a node: pods can reach it. */
async function addressForPods(): Promise<string> {
  const format = 'jsonpath={.items[0].status.addresses[?(@.type=="InternalIP")].address}';
  const node = await kubectl('get', 'nodes', '--output', format);
  const socket = createSocket('udp4');
  await new Promise<void>((resolve) => socket.connect(9, node, resolve));
  const { address } = socket.address();
  socket.close();
  return address;
}

async function certify(directory: string): Promise<string> {
  const file = join(directory, 'certificate.pem');
  const names = ['-subj', `/CN=${HOST}`, '-addext', `subjectAltName=DNS:${HOST}`];
  const options = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-noenc', '-days', '2'];
  await output('openssl', ['req', '-x509', ...options, ...names, '-keyout', file, '-out', `${file}.crt`]);
  await writeFile(file, await readFile(`${file}.crt`), { flag: 'a' });
  return file;
}

const PARTS = { install, change, earlier };
const chosen = process.argv.slice(2);
for (const name of chosen) expect(name in PARTS, `No part is named ${name}: ${Object.keys(PARTS).join(', ')}`);
const directory = await mkdtemp(join(tmpdir(), 'waitlist-kubernetes-'));
const database = join(directory, 'database');
try {
  const address = await addressForPods();
  const port = String(await freePort());
  const url = new URL(await output(DatabaseServer.program, ['start', database, port, `--bind-address=${address}`]));
  url.hostname = address;
  process.env.TEST_DATABASE_URL = url.href;
  const tools = required('TOOLS');
  const definition = join(tools, 'crds/gateway.networking.k8s.io_httproutes.yaml');
  // A given cluster may have its own.
  await kubectl('get', '--filename', definition).catch(() =>
    kubectl('apply', '--server-side', '--filename', definition),
  );
  await kubectl('wait', '--for=condition=Established', '--filename', definition, '--timeout=1m');
  const stage = { directory, tools, address, certificate: await certify(directory) };
  for (const [name, part] of Object.entries(PARTS)) {
    if (chosen.length > 0 && !chosen.includes(name)) continue;
    say(`--- ${name}`);
    await part(stage);
  }
  say('kubernetes: no findings');
} finally {
  await output(DatabaseServer.program, ['wipe', database]);
  await rm(directory, { recursive: true, force: true });
}
