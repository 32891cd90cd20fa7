import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { jwtVerify } from 'jose';
import { FederationDouble } from './federation-double.ts';
import {
  type DoubleAnswer,
  type DoubleRequest,
  type HttpDouble,
  startHttpDouble,
  type VirtualClock,
} from './http-double.ts';

// A double of Google's Secret Manager and its logins after the documentation.

const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
export const gcpLogin = {
  clientEmail: 'coffer@project.iam.gserviceaccount.com',
  privateKeyId: 'key-id',
  privateKey: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }),
} as const;
const scope = 'https://www.googleapis.com/auth/cloud-platform';
const project = '/v1/projects/coffer/secrets';

interface Secret {
  readonly versions: string[];
  readonly disabled: Set<number>;
}

export class GcpDouble {
  readonly clock: VirtualClock;
  readonly #secrets = new Map<string, Secret>();
  readonly #tokens = new Map<string, number>();
  readonly denied = new Set<string>();
  /** The only secret that the role is for; undefined for a role on the project. */
  onlySecret: string | undefined;
  logins = 0;
  readonly federation = new FederationDouble(() => this.#newToken());
  #http: HttpDouble | undefined;

  private constructor(clock: VirtualClock) {
    this.clock = clock;
  }

  static async start(clock: VirtualClock): Promise<GcpDouble> {
    const double = new GcpDouble(clock);
    double.#http = await startHttpDouble(clock, (request) => double.#answer(request));
    return double;
  }

  get http(): HttpDouble {
    if (this.#http === undefined) throw new Error('not started');
    return this.#http;
  }

  /** The content of a key file of the service account. */
  get keyFile(): Record<string, string> {
    return {
      type: 'service_account',
      client_email: gcpLogin.clientEmail,
      private_key_id: gcpLogin.privateKeyId,
      private_key: gcpLogin.privateKey,
    };
  }

  revokeTokens(): void {
    this.#tokens.clear();
  }

  /** Makes a secret without a version, as a creator that failed leaves it. */
  putEmpty(name: string): void {
    this.#secrets.set(name, { versions: [], disabled: new Set() });
  }

  put(name: string, value: string): void {
    this.#secrets.get(name)?.versions.push(Buffer.from(value).toString('base64'));
  }

  disable(name: string, version: number): void {
    this.#secrets.get(name)?.disabled.add(version);
  }

  versionsOf(name: string): number {
    return this.#secrets.get(name)?.versions.length ?? 0;
  }

  async #answer(request: DoubleRequest): Promise<DoubleAnswer> {
    const { method, url, headers } = request;
    if (url.pathname.startsWith('/computeMetadata/')) return this.#metadata(request);
    const login = this.federation.answer(request);
    if (login !== undefined) return login;
    const token = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? '';
    const isTaken = (this.#tokens.get(token) ?? 0) > this.clock.now() || (await this.#isSignedByAccount(token));
    if (!isTaken) return failure(401, 'UNAUTHENTICATED', 'invalid authentication credentials');
    if (!url.pathname.startsWith(project)) return failure(404, 'NOT_FOUND', 'no such path');
    const rest = url.pathname.slice(project.length);
    if (rest === '') return method === 'POST' ? this.#create(url, request.body) : this.#list(url);
    return this.#ofSecret(rest, request);
  }

  #ofSecret(rest: string, { method, body }: DoubleRequest): DoubleAnswer {
    const [, name = '', action = ''] = /^\/([A-Za-z0-9_-]{1,255})(.*)$/.exec(rest) ?? [];
    if (method === 'POST' && action === ':addVersion') return this.#addVersion(name, body);
    if (method === 'DELETE' && action === '') return this.#delete(name);
    const version = /^\/versions\/(\d+):access$/.exec(action)?.[1];
    if (method === 'GET' && version !== undefined) return this.#access(name, Number(version));
    return failure(404, 'NOT_FOUND', 'no such path');
  }

  /**
   * A service account needs no token endpoint: its token is a JWT that it signs itself, for at most an hour.
   *
   * @see https://developers.google.com/identity/protocols/oauth2/service-account#jwt-auth
   * @see https://google.aip.dev/auth/4111
   */
  async #isSignedByAccount(token: string): Promise<boolean> {
    try {
      const { payload, protectedHeader } = await jwtVerify(token, pair.publicKey, {
        issuer: gcpLogin.clientEmail,
        subject: gcpLogin.clientEmail,
        // The client uses the clock of the machine.
        maxTokenAge: 3600,
        algorithms: ['RS256'],
      });
      return payload['scope'] === scope && protectedHeader.kid === gcpLogin.privateKeyId;
    } catch {
      return false;
    }
  }

  /** @see https://cloud.google.com/compute/docs/access/authenticate-workloads#applications */
  #metadata({ url, headers }: DoubleRequest): DoubleAnswer {
    if (headers['metadata-flavor'] !== 'Google') return { status: 403, body: 'Missing Metadata-Flavor:Google header.' };
    const flavored = { headers: { 'metadata-flavor': 'Google' } };
    // The client detects whether it runs on a machine of Google.
    if (url.pathname === '/computeMetadata/v1/instance') return { status: 200, ...flavored, body: '{}' };
    const isRight =
      url.pathname === '/computeMetadata/v1/instance/service-accounts/default/token' &&
      url.searchParams.get('scopes') === scope;
    return isRight ? { ...this.#issue(), ...flavored } : { status: 404, ...flavored, body: 'not found' };
  }

  #issue(): DoubleAnswer {
    this.logins++;
    return { status: 200, body: { access_token: this.#newToken(), expires_in: 3599, token_type: 'Bearer' } };
  }

  #newToken(): string {
    const token = `ya29.${randomBytes(8).toString('hex')}`;
    this.#tokens.set(token, this.clock.now() + 3_599_000);
    return token;
  }

  /** @see https://cloud.google.com/secret-manager/docs/access-control */
  #lacks(permission: string, name: string): DoubleAnswer | undefined {
    const isForOther = this.onlySecret !== undefined && name !== this.onlySecret;
    if (!isForOther && !this.denied.has(permission)) return undefined;
    const message = `Permission 'secretmanager.${permission}' denied for resource 'projects/coffer/secrets/${name}' (or it may not exist).`;
    return failure(403, 'PERMISSION_DENIED', message);
  }

  /** @see https://cloud.google.com/secret-manager/docs/reference/rest/v1/projects.secrets/create */
  #create(url: URL, body: string): DoubleAnswer {
    const name = url.searchParams.get('secretId') ?? '';
    const lacking = this.#lacks('secrets.create', name);
    if (lacking !== undefined) return lacking;
    if (!/^[A-Za-z0-9_-]{1,255}$/.test(name) || !('replication' in (JSON.parse(body) as object))) {
      return failure(400, 'INVALID_ARGUMENT', 'secretId or replication is invalid');
    }
    if (this.#secrets.has(name))
      return failure(409, 'ALREADY_EXISTS', `Secret [projects/1/secrets/${name}] already exists.`);
    this.putEmpty(name);
    return { status: 200, body: { name: `projects/1/secrets/${name}` } };
  }

  /** @see https://cloud.google.com/secret-manager/docs/reference/rest/v1/projects.secrets/addVersion */
  #addVersion(name: string, body: string): DoubleAnswer {
    const lacking = this.#lacks('versions.add', name);
    if (lacking !== undefined) return lacking;
    const secret = this.#secrets.get(name);
    if (secret === undefined) return notFound(name);
    secret.versions.push((JSON.parse(body) as { payload: { data: string } }).payload.data);
    return {
      status: 200,
      body: { name: `projects/1/secrets/${name}/versions/${secret.versions.length}`, state: 'ENABLED' },
    };
  }

  /** @see https://cloud.google.com/secret-manager/docs/reference/rest/v1/projects.secrets.versions/access */
  #access(name: string, version: number): DoubleAnswer {
    const lacking = this.#lacks('versions.access', name);
    if (lacking !== undefined) return lacking;
    const secret = this.#secrets.get(name);
    const data = secret?.versions[version - 1];
    if (secret === undefined || data === undefined) return notFound(name);
    if (secret.disabled.has(version)) {
      return failure(400, 'FAILED_PRECONDITION', `Secret Version [${name}] is in DISABLED state.`);
    }
    return { status: 200, body: { name: `projects/1/secrets/${name}/versions/${version}`, payload: { data } } };
  }

  #delete(name: string): DoubleAnswer {
    const lacking = this.#lacks('secrets.delete', name);
    if (lacking !== undefined) return lacking;
    return this.#secrets.delete(name) ? { status: 200, body: {} } : notFound(name);
  }

  /** @see https://cloud.google.com/secret-manager/docs/reference/rest/v1/projects.secrets/list */
  #list(url: URL): DoubleAnswer {
    const lacking = this.#lacks('secrets.list', '');
    if (lacking !== undefined) return lacking;
    const start = Number(url.searchParams.get('pageToken') ?? 0);
    // Pages may be shorter than requested.
    const end = start + Math.min(3, Number(url.searchParams.get('pageSize') ?? 3));
    const names = [...this.#secrets.keys()];
    const secrets = names.slice(start, end).map((name) => ({ name: `projects/1/secrets/${name}` }));
    return {
      status: 200,
      body: {
        ...(secrets.length === 0 ? {} : { secrets }),
        ...(end < names.length ? { nextPageToken: String(end) } : {}),
      },
    };
  }
}

function failure(code: number, status: string, message: string): DoubleAnswer {
  return { status: code, body: { error: { code, message, status } } };
}

function notFound(name: string): DoubleAnswer {
  return failure(404, 'NOT_FOUND', `Secret [projects/1/secrets/${name}] not found or has no versions.`);
}
