import type { StructuredLog } from '../../platform/output/structured-log.ts';
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { OpenIdError } from '../../platform/openid/errors.ts';
import type { OpenIdProviderSettings } from '../../platform/settings/server-settings.ts';
import { type LimitedFetch, createLimitedFetch } from '../../platform/http/limited-fetch.ts';
import { bearerFetch } from '../../platform/openid/bearer-fetch.ts';
import { discoverCluster, discover, isForPrograms, type ProviderMetadata } from '../../platform/openid/discovery.ts';
import { createKeySet, type KeySet } from '../../platform/openid/key-set.ts';
import { checkKeys } from '../../platform/openid/prove-keys.ts';
import { scopesOfSignIn } from '../../platform/openid/sign-in-scopes.ts';
import { roleArn } from '../auth/principal.ts';
import { backoffMs, type Backoff } from '../../platform/async/backoff.ts';

/** Reads the CA certificates (PEM) of the provider, in addition to those of the system. Rejects with `OpenIdError`. */
export async function providerCa({
  ca,
  caFile,
}: Pick<OpenIdProviderSettings, 'ca' | 'caFile'>): Promise<string | undefined> {
  if (ca !== undefined) checkPem('The ca of the provider', ca);
  if (caFile === undefined) return ca;
  let pem: string;
  try {
    pem = await readFile(caFile, 'utf8');
  } catch (error) {
    throw new OpenIdError('CaUnusable', `CA_FILE ${caFile} cannot be read (${String(error)}).`, { cause: error });
  }
  checkPem(`CA_FILE ${caFile}`, pem);
  return ca === undefined ? pem : `${ca}\n${pem}`;
}

function checkPem(what: string, pem: string): void {
  const certificates = pem.match(/-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs) ?? [];
  if (certificates.length === 0) {
    throw new OpenIdError('CaUnusable', `${what} holds no certificate in PEM form.`);
  }
  for (const certificate of certificates) {
    try {
      void new X509Certificate(certificate);
    } catch (error) {
      const message = `${what} holds a certificate that cannot be read: ${String(error)}.`;
      throw new OpenIdError('CaUnusable', message, { cause: error });
    }
  }
}

/** Reads the metadata of the provider in the way of its vendor. Rejects with `OpenIdError`. */
export function discoverProvider(settings: OpenIdProviderSettings, fetch: LimitedFetch): Promise<ProviderMetadata> {
  if (settings.vendor === 'kubernetes') return discoverCluster(settings, fetch);
  return discover(settings.configUrl, { fetch, issuer: settings.issuer });
}

/** Adds the configured bearer token to requests. */
export function authorizedFetch(
  { tokenFile, configUrl }: Pick<OpenIdProviderSettings, 'tokenFile' | 'configUrl'>,
  fetch: LimitedFetch,
): LimitedFetch {
  return tokenFile === undefined ? fetch : bearerFetch(fetch, { tokenFile, address: configUrl });
}

export type ProviderStatus =
  | { readonly kind: 'ready'; readonly metadata: ProviderMetadata; readonly keys: KeySet }
  /** Discovery has not run yet or failed; retries run in the background. */
  | { readonly kind: 'unavailable'; readonly issue: OpenIdError | undefined };

export interface OpenIdProvider {
  /** The name of the configuration, e.g. `PRIMARY_IAM`. */
  readonly id: string;
  readonly settings: OpenIdProviderSettings;
  /** The label of the sign-in button. */
  readonly displayName: string;
  /** `arn:minio:iam:<region>::role/…`; undefined without a role policy. */
  readonly roleArn: string | undefined;
  readonly status: ProviderStatus;
  /** Calls the provider with bounds and with its CA, for code exchange and userinfo. */
  readonly fetch: LimitedFetch;
}

/** Reports whether users can sign in. They cannot at the issuer of a cluster or a CI system, which gives tokens to programs alone. */
export function isSignedInAt({ settings, status }: Pick<OpenIdProvider, 'settings' | 'status'>): boolean {
  return settings.vendor !== 'kubernetes' && !(status.kind === 'ready' && isForPrograms(status.metadata));
}

/** Returns the scopes of a sign-in. */
export function signInScopes({ settings, status }: Pick<OpenIdProvider, 'settings' | 'status'>): string[] {
  return [...scopesOfSignIn(settings, status.kind === 'ready' ? status.metadata.scopesSupported : [])];
}

export interface ProviderOptions {
  /** '' if none is set. */
  readonly region: string;
  readonly log: ProvidersLog;
  /** Milliseconds before retry n, from 1. */
  readonly retryDelay?: (attempt: number) => number;
  /** Milliseconds for one call to a provider. */
  readonly timeoutMs?: number;
}

/** The logger methods that providers call. */
type ProvidersLog = Pick<StructuredLog, 'info' | 'warn' | 'error'>;

/** Doubles from 1 s to 30 s, so that a provider that starts with the server is found soon and a missing one gets few requests. */
const retryBackoff: Backoff = { firstMs: 1_000, maxMs: 30_000, jitter: 0 };

/** A provider that retries discovery until it succeeds. */
export class ReconnectingProvider implements OpenIdProvider {
  readonly settings: OpenIdProviderSettings;
  readonly roleArn: string | undefined;
  readonly #options: ProviderOptions;
  readonly #closed = new AbortController();
  #status: ProviderStatus = { kind: 'unavailable', issue: undefined };
  #made: { readonly ca: string | undefined; readonly fetch: LimitedFetch } | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(settings: OpenIdProviderSettings, options: ProviderOptions) {
    this.settings = settings;
    this.#options = options;
    this.roleArn = settings.rolePolicy.length === 0 ? undefined : roleArn(options.region, settings.clientId);
  }

  get id(): string {
    return this.settings.id;
  }

  get displayName(): string {
    const { displayName, id } = this.settings;
    return displayName ?? (id === '_' ? 'Login with SSO' : `Login with SSO (${id})`);
  }

  get status(): ProviderStatus {
    return this.#status;
  }

  readonly fetch: LimitedFetch = async (url, init) => (await this.#trusting())(url, init);

  start(): Promise<void> {
    return this.#try(1);
  }

  close(): void {
    this.#closed.abort(new Error('the server is stopping'));
    clearTimeout(this.#timer);
  }

  async #try(attempt: number): Promise<void> {
    try {
      const { metadata, keys } = await this.#open();
      this.#status = { kind: 'ready', metadata, keys };
      this.#logReady(metadata);
    } catch (error) {
      if (this.#closed.signal.aborted) return;
      const issue =
        error instanceof OpenIdError ? error : new OpenIdError('Unreachable', String(error), { cause: error });
      this.#failed(issue, attempt);
    }
  }

  async #open(): Promise<{ metadata: ProviderMetadata; keys: KeySet }> {
    const metadata = await discoverProvider(this.settings, this.fetch);
    const keys = createKeySet(metadata.jwksUri, { fetch: this.fetch });
    await keys.load();
    // Keys that can be read and verify nothing would refuse every token later.
    await checkKeys(keys.published(), metadata, this.settings);
    return { metadata, keys };
  }

  #failed(issue: OpenIdError, attempt: number): void {
    const before = this.#status.kind === 'unavailable' ? this.#status.issue : undefined;
    this.#status = { kind: 'unavailable', issue };
    // Logs each reason once, because retries would fill the log.
    if (before?.message !== issue.message) {
      const fields = { provider: this.id, code: issue.code };
      this.#options.log.error(fields, `OpenID provider ${this.id} cannot be used: ${issue.message}`);
    }
    const delay = this.#options.retryDelay?.(attempt) ?? backoffMs(attempt, retryBackoff);
    this.#timer = setTimeout(() => void this.#try(attempt + 1), delay);
    this.#timer.unref();
  }

  #logReady(metadata: ProviderMetadata): void {
    const { issuer, warnings } = metadata;
    const { log } = this.#options;
    const { rolePolicy, claimName } = this.settings;
    const rights = this.roleArn === undefined ? `claim "${claimName}"` : `role policy ${rolePolicy.join(', ')}`;
    const fields = { provider: this.id, issuer, ...(this.roleArn === undefined ? {} : { roleArn: this.roleArn }) };
    const users = isForPrograms(metadata) ? ', for programs alone' : '';
    log.info(fields, `OpenID provider ${this.id} is ready: issuer ${issuer}${users}, policies by ${rights}`);
    for (const warning of warnings) log.warn({ provider: this.id }, `OpenID provider ${this.id}: ${warning}`);
  }

  /** Reads the CA before each call, so that a renewed CA needs no restart. Calls are rare. */
  async #trusting(): Promise<LimitedFetch> {
    let ca: string | undefined;
    try {
      ca = await providerCa(this.settings);
    } catch (error) {
      if (this.#made === undefined) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      const fields = { provider: this.id };
      this.#options.log.warn(fields, `OpenID provider ${this.id} goes on with the CA it was given before: ${reason}`);
      return this.#made.fetch;
    }
    if (this.#made === undefined || this.#made.ca !== ca) this.#made = { ca, fetch: this.#newFetch(ca) };
    return this.#made.fetch;
  }

  #newFetch(ca: string | undefined): LimitedFetch {
    const { timeoutMs } = this.#options;
    const fetch = createLimitedFetch({
      ...(ca === undefined ? {} : { ca }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    });
    const closed = this.#closed.signal;
    const bearing = authorizedFetch(this.settings, fetch);
    return (url, init = {}) =>
      bearing(url, { ...init, signal: init.signal ? AbortSignal.any([closed, init.signal]) : closed });
  }
}
