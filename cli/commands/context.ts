import type { Writable } from 'node:stream';
import { type Alias, allAliases } from '../config/aliases.ts';
import { type Folders, foldersOf, systemHome } from '../config/folders.ts';
import type { RateLimits, S3Client } from '../s3/client.ts';
import type { ConnectionSettings } from '../s3/connection/connections.ts';
import type { Io } from '../terminal/io.ts';
import { Output } from '../terminal/output.ts';

/** The options that every command has. */
export interface GlobalOptions {
  readonly configDir?: string;
  readonly quiet?: boolean;
  readonly json?: boolean;
  readonly debug?: boolean;
  readonly insecure?: boolean;
  readonly disablePager?: boolean;
  /** False with `--no-color`. */
  readonly color?: boolean;
  /** `NAME:VALUE`. */
  readonly customHeader?: readonly string[];
  /** `HOST[:PORT]=IP`. */
  readonly resolve?: readonly string[];
  /** Bytes per second, such as `10MiB`. */
  readonly limitUpload?: string;
  readonly limitDownload?: string;
}

function listOf(text: string | undefined): readonly string[] {
  return (text ?? '').split(',').filter((one) => one !== '');
}

/** Reports whether a variable of the environment turns a flag on. */
export function isSet(value: string | undefined): boolean {
  return value !== undefined && ['1', 'on', 't', 'true', 'yes'].includes(value.toLowerCase());
}

/** Attempts of a request after which the user learns why it takes long: one to three seconds. */
const quietAttempts = 3;

/** The dependencies of a command. */
export class Context {
  readonly io: Io;
  readonly output: Output;
  readonly folders: Folders;
  readonly quiet: boolean;
  readonly #options: GlobalOptions;
  readonly #clients = new Map<Alias, S3Client>();
  #aliases: Promise<Map<string, Alias>> | undefined;
  #limits: RateLimits | undefined;
  #readHeaders: Readonly<Record<string, string>> | undefined;

  /** `pager` takes the messages instead of standard output. */
  constructor(
    io: Io,
    options: GlobalOptions,
    { pager, quietable = false }: { readonly pager?: Writable | undefined; readonly quietable?: boolean } = {},
  ) {
    this.io = io;
    this.#options = options;
    this.quiet = options.quiet ?? isSet(io.env['MC_QUIET']);
    this.output = new Output(io, {
      json: options.json ?? isSet(io.env['MC_JSON']),
      color: options.color,
      pager,
      quiet: this.quiet && quietable,
    });
    this.folders = foldersOf(options.configDir, { platform: process.platform, env: io.env, home: systemHome() });
  }

  get signal(): AbortSignal {
    return this.io.signal;
  }

  /** The folder of config.json. */
  get folder(): string {
    return this.folders.config;
  }

  async connectionSettings(): Promise<ConnectionSettings> {
    // Imported on demand, as everything that connects.
    const { parseResolution } = await import('../s3/connection/resolve-hosts.ts');
    return {
      certs: this.folders.certs,
      insecure: this.#options.insecure ?? isSet(this.io.env['MC_INSECURE']),
      resolutions: (this.#options.resolve ?? listOf(this.io.env['MC_RESOLVE'])).map(parseResolution),
    };
  }

  /** Reads the aliases once. */
  async aliases(): Promise<ReadonlyMap<string, Alias>> {
    this.#aliases ??= allAliases(this.folder, this.io.env);
    return this.#aliases;
  }

  /** Sends these headers with each request that reads. Names are in lower case. */
  addReadHeaders(headers: Readonly<Record<string, string>>): void {
    this.#readHeaders = headers;
  }

  /** Returns one client for each alias, which keeps its connections. */
  async client(alias: Alias): Promise<S3Client> {
    const known = this.#clients.get(alias);
    if (known !== undefined) return known;
    const client = await this.newClient(alias, this.signal);
    this.#clients.set(alias, client);
    return client;
  }

  /** Makes a client with another signal, for clean-up after an interruption. */
  async newClient(alias: Alias, signal: AbortSignal): Promise<S3Client> {
    // Imported on demand, so that help and usage errors appear at once.
    const [{ S3Client }, { connectionsTo }, { parseHeader }] = await Promise.all([
      import('../s3/client.ts'),
      import('../s3/connection/connections.ts'),
      import('../s3/connection/resolve-hosts.ts'),
    ]);
    const { customHeader = [] } = this.#options;
    this.#limits ??= await this.#readLimits();
    const renew = await this.#renewalOf(alias, signal);
    return new S3Client({
      alias: renew === undefined ? alias : await renew(),
      renew,
      agent: await connectionsTo(alias.url, await this.connectionSettings()),
      signal,
      region: this.io.env['COFFER_REGION'] || this.io.env['MC_REGION'],
      headers: Object.fromEntries(customHeader.map(parseHeader)),
      readHeaders: this.#readHeaders,
      limits: this.#limits,
      onRetry: this.#sayRetry(alias),
      trace:
        (this.#options.debug ?? isSet(this.io.env['MC_DEBUG']))
          ? (line) => this.io.stderr.write(`coffer: <DEBUG> ${line}\n`)
          : undefined,
    });
  }

  /** Says once for each server why requests are sent again and again. */
  #sayRetry({ url }: Alias): (error: unknown, attempt: number) => void {
    let isSaid = false;
    return (error, attempt) => {
      if (isSaid || attempt < quietAttempts) return;
      isSaid = true;
      const reason = (error instanceof Error ? error.message : String(error)).replace(/\.+$/, '');
      this.output.warn('retry', `${url} is asked again: ${reason}`);
    };
  }

  /** Returns the function that keeps temporary credentials from expiring; undefined for keys. */
  async #renewalOf(alias: Alias, signal: AbortSignal): Promise<(() => Promise<Alias>) | undefined> {
    const { login, webIdentity } = alias;
    if (webIdentity !== undefined) {
      return (await import('./login/web-identity.ts')).webIdentityCredentials(this, alias, webIdentity);
    }
    return login && (await import('./login/renew-login.ts')).renewalOf(this, alias, signal);
  }

  async #readLimits(): Promise<RateLimits> {
    const { env } = this.io;
    const { limitUpload = env['MC_LIMIT_UPLOAD'] ?? '', limitDownload = env['MC_LIMIT_DOWNLOAD'] ?? '' } =
      this.#options;
    if (limitUpload === '' && limitDownload === '') return {};
    const { parseRate, RateLimit } = await import('../s3/connection/rate-limit.ts');
    const limitOf = (option: string, text: string) =>
      text === '' ? undefined : new RateLimit(parseRate(option, text));
    return { upload: limitOf('--limit-upload', limitUpload), download: limitOf('--limit-download', limitDownload) };
  }

  close(): void {
    for (const client of this.#clients.values()) client.close();
  }
}
