import { randomBytes } from 'node:crypto';
import { issueCertificate } from '../../../platform/tls/issue-certificate.ts';
import {
  type DoubleAnswer,
  type DoubleRequest,
  type HttpDouble,
  startHttpDouble,
  type VirtualClock,
} from './http-double.ts';
import { EntraDouble } from './entra-double.ts';

// A double of a key vault after Microsoft's documentation. It refuses requests that are not documented.

interface Version {
  readonly id: string;
  readonly value: string;
  readonly tags: object;
  readonly attributes: { created: number; updated: number; enabled: boolean; nbf?: number; exp?: number };
}

interface Secret {
  /** The original name. The vault ignores case. */
  readonly name: string;
  readonly versions: Version[];
  /** The time of the deletion in virtual milliseconds. */
  deletedAt?: number;
  purgedAt?: number;
}

type Permission = 'get' | 'list' | 'set' | 'delete' | 'purge';

const tenant = '11111111-1111-1111-1111-111111111111';
/** The duration of a deletion or a purge in virtual milliseconds. */
const backgroundMs = 1500;

export class AzureDouble {
  readonly clock: VirtualClock;
  readonly entra: EntraDouble;
  readonly #secrets = new Map<string, Secret>();
  readonly denied = new Set<Permission>();
  /** The only secret that the role is for; undefined for a role on the vault. */
  onlySecret: string | undefined;
  /** @see https://learn.microsoft.com/azure/key-vault/general/soft-delete-overview#purge-protection */
  purgeProtected = false;
  /** Whether errors have the inner code. Older vaults and emulators send only the text. */
  tellsInnerCodes = true;
  /** The ID of the next version, which decides between versions of one second. */
  nextVersionId: (() => string) | undefined;
  /** The authority (PEM) of the certificate. Azure's clients demand TLS. */
  ca = '';
  #http: HttpDouble | undefined;

  private constructor(clock: VirtualClock) {
    this.clock = clock;
    this.entra = new EntraDouble(tenant, clock);
  }

  static async start(clock: VirtualClock): Promise<AzureDouble> {
    const double = new AzureDouble(clock);
    const { certPem: cert, keyPem: key } = await certificate();
    double.ca = cert;
    const answer = (request: DoubleRequest) =>
      double.entra.answer(request) ?? double.#withInnerCode(double.#answer(request));
    double.#http = await startHttpDouble(clock, answer, { cert, key });
    return double;
  }

  get http(): HttpDouble {
    if (this.#http === undefined) throw new Error('not started');
    return this.#http;
  }

  /** The environment of the store, as Azure's webhook and machines set it. */
  get environment(): Record<string, string> {
    return { AZURE_AUTHORITY_HOST: this.http.url, AZURE_POD_IDENTITY_AUTHORITY_HOST: this.http.url };
  }

  /** Writes a version without the store. */
  put(name: string, value: string, at: Partial<Version['attributes']> = {}): void {
    const created = Math.floor(this.clock.now() / 1000);
    const attributes = { created, updated: created, enabled: true, ...at };
    const secret = this.#secrets.get(name.toLowerCase()) ?? { name, versions: [] };
    this.#secrets.set(name.toLowerCase(), secret);
    const id = this.nextVersionId?.() ?? randomBytes(16).toString('hex');
    secret.versions.push({ id, value, tags: {}, attributes });
  }

  /** Deleted some time ago, so that it can be recovered. */
  deleteInPortal(name: string): void {
    const secret = this.#secrets.get(name.toLowerCase());
    if (secret !== undefined) secret.deletedAt = this.clock.now() - backgroundMs;
  }

  /** Acts like `az keyvault secret recover`. */
  recover(name: string): void {
    const secret = this.#secrets.get(name.toLowerCase());
    if (secret !== undefined) delete secret.deletedAt;
  }

  versionsOf(name: string): number {
    return this.#secrets.get(name.toLowerCase())?.versions.length ?? 0;
  }

  #answer(request: DoubleRequest): DoubleAnswer {
    const { url, method } = request;
    if (url.pathname === '/') return failure(404, 'NotFound', 'no such path');
    if (!this.entra.takes(request.headers.authorization)) return this.#challenge(request);
    // @see https://learn.microsoft.com/azure/key-vault/general/common-parameters-and-headers
    if (!/^7\.\d$/.test(url.searchParams.get('api-version') ?? '')) {
      return failure(400, 'BadParameter', 'The request URI contains an invalid api-version');
    }
    const [kind = '', name = '', part = ''] = url.pathname.slice(1).split('/');
    if (kind !== 'secrets' && kind !== 'deletedsecrets') return failure(404, 'NotFound', 'no such path');
    const refused = this.#refusedName(name);
    if (refused !== undefined) return refused;
    const secret = this.#find(name);
    if (kind === 'deletedsecrets')
      return method === 'DELETE' ? this.#purge(name, secret) : this.#readDeleted(method, name, secret);
    if (method === 'PUT') return this.#set(request, name, secret);
    if (method === 'DELETE') return this.#delete(name, secret);
    if (method !== 'GET') return failure(405, 'BadMethod', method);
    return part === '' || part === 'versions' ? this.#list(url, name, secret) : this.#read(name, secret, part);
  }

  /** @see https://learn.microsoft.com/azure/key-vault/general/about-keys-secrets-certificates#vault-name-and-object-name */
  #refusedName(name: string): DoubleAnswer | undefined {
    if (name !== '' && !/^[0-9A-Za-z-]{1,127}$/.test(name))
      return failure(400, 'BadParameter', `The request URI contains an invalid name: ${name}`);
    return this.onlySecret === undefined || name === this.onlySecret ? undefined : forbiddenByRole(name);
  }

  #withInnerCode(answer: DoubleAnswer): DoubleAnswer {
    if (this.tellsInnerCodes || answer.status < 400) return answer;
    const { error } = answer.body as { error: { code: string; message: string } };
    return { ...answer, body: { error: { code: error.code, message: error.message } } };
  }

  #list(url: URL, name: string, secret: Secret | undefined): DoubleAnswer {
    if (name === '') {
      const live = [...this.#secrets.values()].filter(({ deletedAt }) => deletedAt === undefined);
      const items = live.map((found) => this.#item(found, found.versions.at(-1), false));
      return this.#page(url, items);
    }
    if (secret === undefined || secret.deletedAt !== undefined) return this.#lacks('list') ?? notFound(name);
    const items = secret.versions.map((version) => this.#item(secret, version, true));
    return this.#page(url, items);
  }

  /** @see https://learn.microsoft.com/azure/key-vault/general/authentication-requests-and-responses */
  #challenge({ headers }: DoubleRequest): DoubleAnswer {
    const message =
      headers.authorization === undefined
        ? 'AKV10000: Request is missing a Bearer or PoP token.'
        : 'AKV10022: Invalid token.';
    const header = `Bearer authorization="https://login.microsoftonline.com/${tenant}", resource="https://vault.azure.net"`;
    return { ...failure(401, 'Unauthorized', message), headers: { 'www-authenticate': header } };
  }

  /** @see https://learn.microsoft.com/azure/key-vault/general/rest-error-codes#http-403-insufficient-permissions */
  #lacks(permission: Permission): DoubleAnswer | undefined {
    if (!this.denied.has(permission)) return undefined;
    const message = `The user, group or application 'appid=app' does not have secrets ${permission} permission on key vault 'double;location=north'.`;
    // A purge without permission has the inner code of purge protection too.
    return failure(403, 'Forbidden', message, permission === 'purge' ? 'ForbiddenByPolicy' : 'AccessDenied');
  }

  /** @see https://learn.microsoft.com/rest/api/keyvault/secrets/set-secret/set-secret */
  #set(request: DoubleRequest, name: string, secret: Secret | undefined): DoubleAnswer {
    const lacking = this.#lacks('set');
    if (lacking !== undefined) return lacking;
    if (request.headers['content-type'] !== 'application/json')
      return failure(415, 'UnsupportedMediaType', 'JSON is wanted');
    const { value, tags, attributes } = JSON.parse(request.body) as {
      value?: string;
      tags?: object;
      attributes?: object;
    };
    if (typeof value !== 'string' || value === '' || Buffer.byteLength(value) > 25_000) {
      return failure(400, 'BadParameter', 'value is missing or too long');
    }
    if (secret?.deletedAt !== undefined) return this.#stillThere(name, secret, secret.deletedAt);
    const created = Math.floor(this.clock.now() / 1000);
    const version: Version = {
      id: this.nextVersionId?.() ?? randomBytes(16).toString('hex'),
      value,
      tags: tags ?? {},
      attributes: { enabled: true, ...attributes, created, updated: created },
    };
    // A set always makes a version, since the vault has no condition.
    const kept = secret ?? { name, versions: [] };
    kept.versions.push(version);
    this.#secrets.set(name.toLowerCase(), kept);
    return { status: 200, body: { value, ...this.#item(kept, version, true) } };
  }

  /** @see https://learn.microsoft.com/rest/api/keyvault/secrets/get-secret/get-secret */
  #read(name: string, secret: Secret | undefined, id: string): DoubleAnswer {
    const lacking = this.#lacks('get');
    if (lacking !== undefined) return lacking;
    const version = secret?.versions.find((version) => version.id === id);
    if (secret === undefined || secret.deletedAt !== undefined || version === undefined) return notFound(name);
    if (!version.attributes.enabled) {
      const message = 'Operation get is not allowed on a disabled secret.';
      return failure(403, 'Forbidden', message, 'SecretDisabled');
    }
    return { status: 200, body: { value: version.value, ...this.#item(secret, version, true) } };
  }

  /** @see https://learn.microsoft.com/rest/api/keyvault/secrets/delete-secret/delete-secret */
  #delete(name: string, secret: Secret | undefined): DoubleAnswer {
    const lacking = this.#lacks('delete');
    if (lacking !== undefined) return lacking;
    if (secret === undefined || secret.deletedAt !== undefined) return notFound(name);
    secret.deletedAt = this.clock.now();
    return { status: 200, body: this.#deletedItem(secret) };
  }

  /**
   * Not found until the deletion has ended.
   *
   * @see https://learn.microsoft.com/rest/api/keyvault/secrets/get-deleted-secret/get-deleted-secret
   */
  #readDeleted(method: string, name: string, secret: Secret | undefined): DoubleAnswer {
    if (method !== 'GET') return failure(405, 'BadMethod', method);
    const lacking = this.#lacks('get');
    if (lacking !== undefined) return lacking;
    const isThere = secret?.deletedAt !== undefined && this.clock.now() >= secret.deletedAt + backgroundMs;
    return isThere ? { status: 200, body: this.#deletedItem(secret) } : notFound(name);
  }

  #deletedItem(secret: Secret): object {
    const recoveryLevel = this.purgeProtected ? 'Recoverable' : 'Recoverable+Purgeable';
    const { attributes } = secret.versions.at(-1) ?? {};
    return {
      ...this.#item(secret, secret.versions.at(-1), true),
      recoveryId: `${this.http.url}/deletedsecrets/${secret.name}`,
      attributes: { ...attributes, recoveryLevel },
    };
  }

  /** @see https://learn.microsoft.com/rest/api/keyvault/secrets/purge-deleted-secret/purge-deleted-secret */
  #purge(name: string, secret: Secret | undefined): DoubleAnswer {
    const lacking = this.#lacks('purge');
    if (lacking !== undefined) return lacking;
    if (secret?.deletedAt === undefined || secret.purgedAt !== undefined) return notFound(name);
    if (this.clock.now() < secret.deletedAt + backgroundMs) return beingDeleted(name);
    if (this.purgeProtected) {
      const message = 'Operation "purge" is not allowed because purge protection is enabled for this vault.';
      return failure(403, 'Forbidden', message, 'ForbiddenByPolicy');
    }
    secret.purgedAt = this.clock.now();
    return { status: 204 };
  }

  /** @see https://learn.microsoft.com/azure/key-vault/general/soft-delete-overview#key-vault-recovery */
  #stillThere(name: string, secret: Secret, deletedAt: number): DoubleAnswer {
    if (secret.purgedAt !== undefined || this.clock.now() < deletedAt + backgroundMs) return beingDeleted(name);
    const message = `Secret ${name} is currently in a deleted but recoverable state, and its name cannot be reused; in this state, the secret can only be recovered or purged.`;
    return failure(409, 'Conflict', message, 'ObjectIsDeletedButRecoverable');
  }

  /** @see https://learn.microsoft.com/rest/api/keyvault/secrets/get-secret-versions/get-secret-versions */
  #page(url: URL, items: readonly object[]): DoubleAnswer {
    const lacking = this.#lacks('list');
    if (lacking !== undefined) return lacking;
    const size = Number(url.searchParams.get('maxresults') ?? 25);
    if (!(size >= 1 && size <= 25)) return failure(400, 'BadParameter', 'maxresults must be 1 to 25');
    const start = Number(url.searchParams.get('$skiptoken') ?? 0);
    const more = start + size < items.length;
    const next = new URL(url);
    next.searchParams.set('$skiptoken', String(start + size));
    return { status: 200, body: { value: items.slice(start, start + size), nextLink: more ? next.href : null } };
  }

  #item(secret: Secret, version: Version | undefined, withVersion: boolean): object {
    const id = `${this.http.url}/secrets/${secret.name}${withVersion ? `/${version?.id ?? ''}` : ''}`;
    return { id, attributes: { ...version?.attributes, recoveryLevel: 'Recoverable+Purgeable' }, tags: version?.tags };
  }

  #find(name: string): Secret | undefined {
    const secret = this.#secrets.get(name.toLowerCase());
    // A purge ends some time after its answer.
    if (secret?.purgedAt === undefined || this.clock.now() < secret.purgedAt + backgroundMs) return secret;
    this.#secrets.delete(name.toLowerCase());
    return undefined;
  }
}

/** One certificate for each process, since making it takes longer than a test. */
let issued: ReturnType<typeof issueCertificate> | undefined;
function certificate(): ReturnType<typeof issueCertificate> {
  issued ??= issueCertificate({ commonName: 'vault', ipAddresses: ['127.0.0.1'], validForMs: 3_600_000 });
  return issued;
}

function failure(status: number, code: string, message: string, inner?: string): DoubleAnswer {
  return {
    status,
    body: { error: { code, message, ...(inner === undefined ? {} : { innererror: { code: inner } }) } },
  };
}

/** @see https://learn.microsoft.com/azure/key-vault/general/rbac-guide */
function forbiddenByRole(name: string): DoubleAnswer {
  const message = `Caller is not authorized to perform action on resource. Resource: '/secrets/${name}'`;
  return failure(403, 'Forbidden', message, 'ForbiddenByRbac');
}

function notFound(name: string): DoubleAnswer {
  return failure(404, 'SecretNotFound', `A secret with (name/id) ${name} was not found in this key vault.`);
}

function beingDeleted(name: string): DoubleAnswer {
  return failure(409, 'Conflict', `Secret ${name} is currently being deleted.`, 'ObjectIsBeingDeleted');
}
