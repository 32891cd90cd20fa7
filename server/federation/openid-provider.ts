import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { OpenIdProblem } from '../../platform/openid/errors.ts';
import type { OpenIdProviderSettings } from '../../platform/settings/server-settings.ts';
import { bearerFetch, type ProviderFetch, createProviderFetch } from '../../platform/openid/provider-fetch.ts';
import { discoverCluster, discover, type ProviderMetadata } from '../../platform/openid/discovery.ts';
import { createKeySet, type KeySet } from '../../platform/openid/key-set.ts';
import { roleArn } from '../auth/principal.ts';

/** The certificates (PEM) that this provider is trusted by besides those of the system, as they are now. Rejects with `OpenIdProblem`. */
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
    throw new OpenIdProblem('CaUnusable', `CA_FILE ${caFile} cannot be read (${String(error)}).`, { cause: error });
  }
  checkPem(`CA_FILE ${caFile}`, pem);
  return ca === undefined ? pem : `${ca}\n${pem}`;
}

function checkPem(what: string, pem: string): void {
  const certificates = pem.match(/-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs) ?? [];
  if (certificates.length === 0) {
    throw new OpenIdProblem('CaUnusable', `${what} holds no certificate in PEM form.`);
  }
  for (const certificate of certificates) {
    try {
      void new X509Certificate(certificate);
    } catch (error) {
      const message = `${what} holds a certificate that cannot be read: ${String(error)}.`;
      throw new OpenIdProblem('CaUnusable', message, { cause: error });
    }
  }
}

/** What the provider says of itself, by the way of its vendor. Rejects with `OpenIdProblem`. */
export function discoverProvider(settings: OpenIdProviderSettings, fetch: ProviderFetch): Promise<ProviderMetadata> {
  if (settings.vendor === 'kubernetes') return discoverCluster(settings, fetch);
  return discover(settings.configUrl, { fetch });
}

/** With the token that the provider wants to see, where one is set. */
export function bearingFetch(
  { tokenFile, configUrl }: Pick<OpenIdProviderSettings, 'tokenFile' | 'configUrl'>,
  fetch: ProviderFetch,
): ProviderFetch {
  return tokenFile === undefined ? fetch : bearerFetch(fetch, { tokenFile, address: configUrl });
}

export type ProviderStatus =
  | { readonly kind: 'ready'; readonly metadata: ProviderMetadata; readonly keys: KeySet }
  /** Discovery was not done yet, or failed; it is tried again in the background. */
  | { readonly kind: 'unavailable'; readonly problem: OpenIdProblem | undefined };

export interface OpenIdProvider {
  /** The name of the configuration, e.g. `PRIMARY_IAM`. */
  readonly id: string;
  readonly settings: OpenIdProviderSettings;
  /** Label of the sign-in button. */
  readonly displayName: string;
  /** `arn:minio:iam:<region>::role/…`, where the provider has a role policy. */
  readonly roleArn: string | undefined;
  readonly status: ProviderStatus;
  /** Bounded, and trusting the provider's CA: for every other call to this provider (code exchange, userinfo). */
  readonly fetch: ProviderFetch;
}

/** Nobody signs in at the issuer of a cluster's service-account tokens. */
export function isSignedInAt({ settings }: Pick<OpenIdProvider, 'settings'>): boolean {
  return settings.vendor !== 'kubernetes';
}

export interface ProviderOptions {
  /** '' where none was set. */
  readonly region: string;
  readonly log: ProvidersLog;
  readonly clock?: () => Date;
  /** Milliseconds before the nth try after a failure, n from 1. */
  readonly retryDelay?: (attempt: number) => number;
  /** Of one call to a provider. Milliseconds. */
  readonly timeoutMs?: number;
}

/** The part of the logger that is used here. */
export interface ProvidersLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** 1 s, 2 s, 4 s, … up to half a minute: a provider that starts beside the server is found soon, one that is gone is not pestered. */
function backoff(attempt: number): number {
  return Math.min(30_000, 1_000 * 2 ** (attempt - 1));
}

/** A provider that is looked for until it is found. */
export class KeptProvider implements OpenIdProvider {
  readonly settings: OpenIdProviderSettings;
  readonly roleArn: string | undefined;
  readonly #options: ProviderOptions;
  readonly #closed = new AbortController();
  #status: ProviderStatus = { kind: 'unavailable', problem: undefined };
  #made: { readonly ca: string | undefined; readonly fetch: ProviderFetch } | undefined;
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

  readonly fetch: ProviderFetch = async (url, init) => (await this.#trusting())(url, init);

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
      const problem =
        error instanceof OpenIdProblem ? error : new OpenIdProblem('Unreachable', String(error), { cause: error });
      this.#failed(problem, attempt);
    }
  }

  async #open(): Promise<{ metadata: ProviderMetadata; keys: KeySet }> {
    const metadata = await discoverProvider(this.settings, this.fetch);
    const { clock } = this.#options;
    const keys = createKeySet(metadata.jwksUri, { fetch: this.fetch, ...(clock === undefined ? {} : { clock }) });
    await keys.load();
    return { metadata, keys };
  }

  #failed(problem: OpenIdProblem, attempt: number): void {
    const before = this.#status.kind === 'unavailable' ? this.#status.problem : undefined;
    this.#status = { kind: 'unavailable', problem };
    // Once for each reason: retries would fill the log.
    if (before?.message !== problem.message) {
      const fields = { provider: this.id, code: problem.code };
      this.#options.log.error(fields, `OpenID provider ${this.id} cannot be used: ${problem.message}`);
    }
    const delay = (this.#options.retryDelay ?? backoff)(attempt);
    this.#timer = setTimeout(() => void this.#try(attempt + 1), delay);
    this.#timer.unref();
  }

  #logReady({ issuer, warnings }: ProviderMetadata): void {
    const { log } = this.#options;
    const { rolePolicy, claimName } = this.settings;
    const rights = this.roleArn === undefined ? `claim "${claimName}"` : `role policy ${rolePolicy.join(', ')}`;
    const fields = { provider: this.id, issuer, ...(this.roleArn === undefined ? {} : { roleArn: this.roleArn }) };
    log.info(fields, `OpenID provider ${this.id} is ready: issuer ${issuer}, policies by ${rights}`);
    for (const warning of warnings) log.warn({ provider: this.id }, `OpenID provider ${this.id}: ${warning}`);
  }

  /** Calls are few: what they trust is looked at before each, so that a CA that was renewed needs no restart. */
  async #trusting(): Promise<ProviderFetch> {
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

  #newFetch(ca: string | undefined): ProviderFetch {
    const { timeoutMs } = this.#options;
    const fetch = createProviderFetch({
      ...(ca === undefined ? {} : { ca }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    });
    const closed = this.#closed.signal;
    const bearing = bearingFetch(this.settings, fetch);
    return (url, init = {}) =>
      bearing(url, { ...init, signal: init.signal ? AbortSignal.any([closed, init.signal]) : closed });
  }
}
