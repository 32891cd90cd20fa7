import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  startHttpDouble,
  VirtualClock,
  type DoubleAnswer,
  type DoubleRequest,
  type HttpDouble,
} from '../support/keysvc/http-double.ts';
import type { Capability, VaultUnderTest } from '../support/keysvc/vault.conformance.ts';
import type { CertificateAndKey } from '../../platform/tls/certificate-and-key.ts';
import { issueCertificate, makeCa } from '../../platform/tls/issue-certificate.ts';
import { createLimitedFetch } from '../../platform/http/limited-fetch.ts';
import type { LimitedFetch } from '../../platform/http/limited-fetch.ts';
import { writePair } from '../support/server/keysvc-process.ts';
import { freePort } from '../support/process/free-port.ts';
import { tool } from '../support/process/run-command.ts';

const role = 'coffer';
const account = { namespace: 'coffer', name: 'keysvc', uid: '00000000-0000-0000-0000-00000000000a' };

/** A token of a service account. The vault reads its claims, and Kubernetes (a stand-in here) says whether it is genuine. */
const jwt = [
  { alg: 'RS256', typ: 'JWT' },
  {
    iss: 'https://kubernetes.default.svc',
    sub: `system:serviceaccount:${account.namespace}:${account.name}`,
    // Without the two a vault takes a time shortly before the end.
    iat: 1_700_000_000,
    nbf: 1_700_000_000,
    exp: 4_000_000_000,
    'kubernetes.io': { namespace: account.namespace, serviceaccount: { name: account.name, uid: account.uid } },
  },
  'signature',
]
  .map((part) => Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url'))
  .join('.');

/** Capabilities by path, as the guide gives them. */
type Rules = Readonly<Record<string, readonly Capability[]>>;
const guideRules: Readonly<Record<'v1' | 'v2', Rules>> = {
  v1: { 'kv/*': ['create', 'read', 'list', 'delete'] },
  v2: { 'kv/data/*': ['create', 'read'], 'kv/metadata/*': ['read', 'list', 'delete'] },
};

interface Answered {
  readonly status: number;
  readonly body: { readonly data?: Record<string, unknown>; readonly errors?: readonly string[] } & Record<
    string,
    unknown
  >;
}

type Program = 'vault' | 'openbao';

interface RealVaultOptions {
  /** An IPv4 address of this machine. */
  readonly host?: string;
  readonly program?: Program;
}

const usual: Required<RealVaultOptions> = {
  host: '127.0.0.1',
  program: process.env['COFFER_VAULT'] === 'openbao' ? 'openbao' : 'vault',
};

/** A real HashiCorp Vault or OpenBao, with its storage in memory, TLS by an authority of its own, and AppRole and Kubernetes as logins. */
export class RealVault {
  readonly endpoint: string;
  /** Wants the certificate of a client. */
  readonly mutualEndpoint: string;
  readonly ca: CertificateAndKey;
  readonly caFile: string;
  readonly folder: string;
  readonly #program: Program;
  #child: ChildProcess;
  readonly #kubernetes: HttpDouble;
  readonly #fetch: LimitedFetch;
  #token = '';
  #unsealKey = '';

  private constructor(
    { host, program }: Required<RealVaultOptions>,
    ports: readonly [number, number],
    folder: string,
    ca: CertificateAndKey,
    kubernetes: HttpDouble,
  ) {
    this.#program = program;
    this.endpoint = `https://${host}:${ports[0]}`;
    this.mutualEndpoint = `https://${host}:${ports[1]}`;
    this.folder = folder;
    this.ca = ca;
    this.caFile = join(folder, 'ca.crt');
    this.#child = run(folder, program);
    this.#kubernetes = kubernetes;
    this.#fetch = createLimitedFetch({ ca: ca.certPem, timeoutMs: 30_000, keepMs: 1000 });
  }

  /** Running, and not initialised yet. */
  static async start(options: RealVaultOptions = {}): Promise<RealVault> {
    const where = { ...usual, ...options };
    const { host } = where;
    const folder = await mkdtemp(join(tmpdir(), 'coffer-vault-'));
    const ca = await makeCa({ commonName: 'vault authority', validForMs: 3_600_000 });
    const own = await issueCertificate({
      commonName: 'vault',
      ipAddresses: [...new Set(['127.0.0.1', host])],
      validForMs: 3_600_000,
      issuer: ca,
    });
    const { certFile, keyFile } = await writePair(folder, 'vault', own);
    const caFile = join(folder, 'ca.crt');
    await writeFile(caFile, ca.certPem);
    const ports = [await freePort(), await freePort()] as const;
    const clusterPorts = [await freePort(), await freePort()] as const;
    const listener = (port: number, clusterPort: number, more: object) => ({
      tcp: {
        address: `${host}:${port}`,
        // The default is the next port, which may be in use.
        cluster_address: `127.0.0.1:${clusterPort}`,
        tls_cert_file: certFile,
        tls_key_file: keyFile,
        ...more,
      },
    });
    const configuration = {
      // On the disk, so that a vault can be started again with what it had, or with nothing.
      storage: { raft: { path: join(folder, 'storage'), node_id: 'one' } },
      disable_mlock: true,
      // The tests log in wrongly more often than a vault lets a role by default.
      user_lockout: { all: { disable_lockout: 'true' } },
      api_addr: `https://${host}:${ports[0]}`,
      cluster_addr: `https://127.0.0.1:${clusterPorts[0]}`,
      listener: [
        listener(ports[0], clusterPorts[0], {}),
        listener(ports[1], clusterPorts[1], { tls_require_and_verify_client_cert: true, tls_client_ca_file: caFile }),
      ],
    };
    await writeFile(join(folder, 'vault.json'), JSON.stringify(configuration));
    await mkdir(join(folder, 'storage'));
    const reviews = await startHttpDouble(new VirtualClock(), reviewToken, { cert: own.certPem, key: own.keyPem });
    const vault = new RealVault(where, ports, folder, ca, reviews);
    await vault.#until(async () => (await vault.call('GET', 'sys/health')).status === 501);
    return vault;
  }

  async initialise(): Promise<void> {
    const { keys, root_token } = (await this.call('PUT', 'sys/init', { secret_shares: 1, secret_threshold: 1 }))
      .body as unknown as { keys: [string]; root_token: string };
    this.#unsealKey = keys[0];
    this.#token = root_token;
    await this.unseal();
    await this.must('POST', 'sys/auth/approle', { type: 'approle' });
    await this.must('POST', 'sys/auth/kubernetes', { type: 'kubernetes' });
    await this.must('POST', 'auth/kubernetes/config', {
      kubernetes_host: this.#kubernetes.url,
      kubernetes_ca_cert: this.ca.certPem,
      disable_local_ca_jwt: true,
    });
    await this.must('POST', `auth/kubernetes/role/${role}`, {
      bound_service_account_names: account.name,
      bound_service_account_namespaces: account.namespace,
      token_policies: role,
      token_ttl: '20m',
    });
    await this.appRole({});
  }

  /** Sets the role up; the secret ID is a new one. */
  async appRole(settings: Record<string, unknown>): Promise<{ readonly roleId: string; readonly secretId: string }> {
    const path = `auth/approle/role/${role}`;
    const defaults = { token_policies: role, token_ttl: '20m', token_max_ttl: '2h', secret_id_num_uses: 0 };
    await this.must('POST', path, { ...defaults, ...settings });
    const id = await this.must('GET', `${path}/role-id`);
    const secret = await this.must('POST', `${path}/secret-id`, {});
    return { roleId: String(id['role_id']), secretId: String(secret['secret_id']) };
  }

  async unseal(): Promise<void> {
    await this.call('PUT', 'sys/unseal', { key: this.#unsealKey });
    await this.#until(async () => (await this.call('GET', 'sys/health')).status === 200);
  }

  /** Starts it again without what it had, as after the loss of its volume, and not initialised. */
  async restartEmpty(): Promise<void> {
    await this.#kill();
    await rename(join(this.folder, 'storage'), join(this.folder, 'kept'));
    await mkdir(join(this.folder, 'storage'));
    this.#child = run(this.folder, this.#program);
    await this.#until(async () => (await this.call('GET', 'sys/health')).status === 501);
  }

  /** Starts it again with what it had before `restartEmpty`. */
  async restartWhole(): Promise<void> {
    await this.#kill();
    await rm(join(this.folder, 'storage'), { recursive: true, force: true });
    await rename(join(this.folder, 'kept'), join(this.folder, 'storage'));
    this.#child = run(this.folder, this.#program);
    await this.#until(async () => (await this.call('GET', 'sys/health')).status === 503);
    await this.unseal();
  }

  async #kill(): Promise<void> {
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }

  async seal(): Promise<void> {
    await this.must('PUT', 'sys/seal');
  }

  async setRules(rules: Rules, denied: ReadonlySet<Capability> = new Set()): Promise<void> {
    const policy = Object.entries(rules)
      .map(([path, all]) => {
        const capabilities = all.filter((capability) => !denied.has(capability));
        return `path "${path}" { capabilities = ${JSON.stringify(capabilities)} }`;
      })
      .join('\n');
    await this.must('PUT', `sys/policies/acl/${role}`, { policy });
  }

  /** An empty engine at `kv`, the policy of the guide, and a way to the vault of this test's own. */
  async emptied(version: 'v1' | 'v2'): Promise<VaultUnderTest> {
    if ((await this.call('GET', 'sys/health')).status === 503) await this.unseal();
    await this.must('DELETE', 'sys/mounts/kv');
    await this.mount(version);
    const denied = new Set<Capability>();
    await this.setRules(guideRules[version]);
    const login = await this.appRole({});
    const clock = new FastClock();
    const data = version === 'v1' ? 'kv' : 'kv/data';
    return {
      clock,
      http: await startHttpDouble(clock, (request) => this.#forward(request)),
      login: { ...login, role, jwt },
      revokeTokens: () => this.revokeTokens(),
      put: async (path, value) => {
        await this.must('POST', `${data}/${path}`, version === 'v1' ? value : { data: value });
      },
      softDelete: async (path, destroyed) => {
        if (destroyed === true) await this.must('PUT', `kv/destroy/${path}`, { versions: [1] });
        else await this.must('DELETE', `kv/data/${path}`);
      },
      undelete: async (path) => {
        await this.must('PUT', `kv/undelete/${path}`, { versions: [1] });
      },
      paths: () => this.#paths(version === 'v1' ? 'kv/' : 'kv/metadata/', ''),
      deny: async (capability) => {
        denied.add(capability);
        await this.setRules(guideRules[version], denied);
      },
      seal: () => this.seal(),
    };
  }

  /** Makes an empty engine. */
  async mount(version: 'v1' | 'v2', path = 'kv'): Promise<void> {
    await this.must('POST', `sys/mounts/${path}`, { type: 'kv', options: { version: version.slice(1) } });
    // A fresh engine of version 2 answers 400 until it is set up.
    const asked = version === 'v2' ? `${path}/config` : `${path}/none`;
    await this.#until(async () => (await this.call('GET', asked)).status !== 400);
  }

  /** Gives an engine another path. */
  async move(from: string, to: string): Promise<void> {
    await this.must('POST', 'sys/remount', { from, to });
    await this.#until(async () => (await this.call('GET', `sys/mounts/${to}`)).status === 200);
  }

  async revokeTokens(): Promise<void> {
    await this.must('PUT', 'sys/leases/revoke-prefix/auth/approle/login', { sync: true });
  }

  /** As the administrator. */
  async call(method: string, path: string, body?: unknown): Promise<Answered> {
    const answer = await this.#fetch(`${this.endpoint}/v1/${path}`, {
      method,
      headers: { 'x-vault-token': this.#token, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? {} : (JSON.parse(text) as Answered['body']) };
  }

  /** As `call`; fails where the vault refuses. */
  async must(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
    const { status, body: told } = await this.call(method, path, body);
    if (status >= 300) throw new Error(`the vault answers ${method} ${path} by ${status}: ${JSON.stringify(told)}`);
    return told.data ?? {};
  }

  async stop(): Promise<void> {
    await this.#kill();
    await this.#kubernetes.close();
    await rm(this.folder, { recursive: true });
  }

  async #paths(folder: string, under: string): Promise<string[]> {
    const { status, body } = await this.call('GET', `${folder}${under}?list=true`);
    if (status === 404) return [];
    const paths: string[] = [];
    for (const name of (body.data?.['keys'] ?? []) as string[]) {
      if (name.endsWith('/')) paths.push(...(await this.#paths(folder, under + name)));
      else paths.push(under + name);
    }
    return paths;
  }

  async #forward({ method, url, headers, body }: DoubleRequest): Promise<DoubleAnswer> {
    const answer = await this.#fetch(`${this.endpoint}${url.pathname}${url.search}`, {
      method,
      headers: Object.fromEntries(
        ['x-vault-token', 'x-vault-namespace', 'content-type'].flatMap((name) => {
          const value = headers[name];
          return typeof value === 'string' ? [[name, value]] : [];
        }),
      ),
      ...(body === '' ? {} : { body }),
    });
    return { status: answer.status, body: await answer.text() };
  }

  async #until(holds: () => Promise<boolean>): Promise<void> {
    const deadline = Date.now() + 30_000;
    for (;;) {
      if (await holds().catch(() => false)) return;
      if (this.#child.exitCode !== null) throw new Error(`the vault ended with exit code ${this.#child.exitCode}`);
      if (Date.now() > deadline) throw new Error('the vault is not ready within 30 s');
      await sleep(50);
    }
  }
}

function run(folder: string, name: Program): ChildProcess {
  const program = name === 'openbao' ? tool('bin/bao', 'openbao') : tool('bin/vault', 'vault');
  return spawn(program, ['server', `-config=${join(folder, 'vault.json')}`, '-log-level=warn'], {
    env: { PATH: process.env['PATH'] ?? '', HOME: folder },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

/** Five times as fast as the real one. A wait passes, so that requests under way come to their end within it. */
class FastClock extends VirtualClock {
  readonly #began = performance.now();

  override now(): number {
    return super.now() + (performance.now() - this.#began) * 5;
  }

  override async sleep(ms: number): Promise<void> {
    this.slept.push(ms);
    await sleep(ms / 5);
  }
}

/** @see https://kubernetes.io/docs/reference/kubernetes-api/authentication-resources/token-review-v1/ */
function reviewToken({ url, body }: DoubleRequest): DoubleAnswer {
  if (url.pathname !== '/apis/authentication.k8s.io/v1/tokenreviews') return { status: 404 };
  const authenticated = (JSON.parse(body) as { spec: { token: string } }).spec.token === jwt;
  const username = `system:serviceaccount:${account.namespace}:${account.name}`;
  return {
    status: 201,
    body: {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      status: { authenticated, ...(authenticated ? { user: { username, uid: account.uid } } : {}) },
    },
  };
}
