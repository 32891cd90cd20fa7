import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { EndpointRotation } from '../../platform/key-service/endpoint-rotation.ts';
import { readAuthorities } from '../../platform/tls/tls-files.ts';
import { keyNameError } from '../../protocol/key-service/names.ts';
import type { KesKeyStoreSettings } from './keystore-settings.ts';
import { KeyError, type KeyStore } from './keystore.ts';
import { confirmCreated } from './remote/confirm-created.ts';
import { confirmDeleted } from './remote/confirm-deleted.ts';
import { quoted, readJson, tryJson } from './remote/json-answer.ts';
import { Remote, type RemoteAnswer, type RemoteOptions, type RemoteRequest } from './remote/remote.ts';

const setAsideMs = 30_000;

const secret = z.object({ bytes: z.base64() });
const failure = z.object({ message: z.string() });
const line = z.object({ name: z.string().optional(), error: z.string().optional() });

interface KesCall {
  readonly method: RemoteRequest['method'];
  /** `/v1/secret/read/my-key` */
  readonly path: string;
  readonly body?: object;
  readonly key?: string;
}

/**
 * Reads the certificates, to detect wrong ones at the start.
 *
 * @throws KeyError `refused`
 */
export async function openKesKeyStore(settings: KesKeyStoreSettings): Promise<KesKeyStore> {
  const store = new KesKeyStore(settings);
  await store.checkFiles();
  return store;
}

/**
 * Stores keys as secrets of another, stateful key service, by the calls of the protocol's first generation. A key service that stores its
 * keys in a vault does not have these calls.
 *
 * @see https://pkg.go.dev/github.com/minio/kes-go#Enclave.CreateSecret
 */
export class KesKeyStore implements KeyStore {
  readonly #settings: KesKeyStoreSettings;
  readonly #options: RemoteOptions;
  readonly #rotation: EndpointRotation;
  #made: { readonly of: string; readonly remote: Remote } | undefined;

  constructor(settings: KesKeyStoreSettings, options: RemoteOptions = {}) {
    this.#settings = settings;
    this.#options = options;
    this.#rotation = new EndpointRotation(
      settings.endpoints,
      setAsideMs,
      options.clock?.now.bind(options.clock) ?? (() => performance.now()),
    );
  }

  async create(name: string, record: Buffer): Promise<void> {
    const body = { type: 'generic', bytes: record.toString('base64') };
    const call = { method: 'POST', path: `/v1/secret/create/${name}`, body, key: name } as const;
    const answer = await this.#ask(call);
    const isTaken = answer.status === 400 && /exist/.test(tryJson(answer.text, failure)?.message ?? '');
    if (answer.status !== 200 && !isTaken) throw this.#error(call, answer);
    const outcome = answer.status === 200 ? 'written' : answer.repeated ? 'in-doubt' : 'taken';
    await confirmCreated(this, name, record, outcome);
  }

  async get(name: string): Promise<Buffer> {
    const call = { method: 'GET', path: `/v1/secret/read/${name}`, key: name } as const;
    const answer = await this.#ask(call);
    if (isMissing(answer)) throw this.#notFound(name);
    if (answer.status !== 200) throw this.#error(call, answer);
    return Buffer.from(readJson(answer.text, secret, this.#name).bytes, 'base64');
  }

  async delete(name: string): Promise<void> {
    const call = { method: 'DELETE', path: `/v1/secret/delete/${name}`, key: name } as const;
    const answer = await this.#ask(call);
    if (isMissing(answer)) {
      if (answer.repeated) return;
      throw this.#notFound(name);
    }
    if (answer.status !== 200) throw this.#error(call, answer);
    await confirmDeleted(this, name);
  }

  async *list(): AsyncIterable<string> {
    const call = { method: 'GET', path: '/v1/secret/list/*' } as const;
    const answer = await this.#ask(call);
    if (answer.status !== 200) throw this.#error(call, answer);
    for (const text of answer.text.split('\n').filter((text) => text.trim() !== '')) {
      const { name, error } = readJson(text, line, this.#name);
      if (error !== undefined) throw new KeyError('unavailable', `${this.#name} cannot list: ${quoted(error)}`);
      if (name !== undefined && keyNameError(name) === undefined) yield name;
    }
  }

  async probe(): Promise<void> {
    const remote = await this.#remote();
    let issue: KeyError | undefined;
    for (const endpoint of this.#rotation.candidates()) {
      const of = `the key service ${endpoint}`;
      try {
        const answer = await remote.ask({ method: 'GET', url: `${endpoint}/version`, of, once: true });
        if (answer.status === 200) return;
        issue = new KeyError('unavailable', `${of} answers ${answer.status}`);
      } catch (error) {
        if (!(error instanceof KeyError)) throw error;
        issue = error;
      }
    }
    throw issue ?? this.#nobody();
  }

  async close(): Promise<void> {}

  async checkFiles(): Promise<void> {
    await this.#remote();
  }

  get #name(): string {
    return `the key service ${this.#settings.endpoints.join(', ')}`;
  }

  /** Tries each endpoint in turn. The last one has the full time. */
  async #ask({ method, path, body }: KesCall): Promise<RemoteAnswer> {
    const remote = await this.#remote();
    const candidates = this.#rotation.candidates();
    let repeated = false;
    for (const [at, endpoint] of candidates.entries()) {
      const url = new URL(path, endpoint);
      if (this.#settings.enclave !== undefined) url.searchParams.set('enclave', this.#settings.enclave);
      const isLast = at === candidates.length - 1;
      try {
        const answer = await remote.ask({
          method,
          url: url.href,
          of: `the key service ${endpoint}`,
          once: !isLast,
          ...(body === undefined
            ? {}
            : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
        });
        if (isLast || isOwnAnswer(answer)) {
          this.#rotation.worked(endpoint);
          return { ...answer, repeated: answer.repeated || repeated };
        }
      } catch (error) {
        if (isLast) throw error;
      }
      repeated = true;
      this.#rotation.failed(endpoint);
    }
    throw this.#nobody();
  }

  /** Reads the files again, since certificates are renewed in place. */
  async #remote(): Promise<Remote> {
    const { certFile, keyFile, caFile } = this.#settings;
    try {
      const [cert, key] = [await readFile(certFile, 'utf8'), await readFile(keyFile, 'utf8')];
      const ca = caFile === undefined ? undefined : (await readAuthorities(caFile)).toString();
      const of = [cert, key, ca].join('\n');
      if (this.#made?.of !== of) {
        const options = { ...this.#options, client: { cert, key }, ca };
        this.#made = { of, remote: new Remote(options) };
      }
      return this.#made.remote;
    } catch (cause) {
      throw new KeyError('refused', `keystore.kes.tls: ${(cause as Error).message}`, { cause });
    }
  }

  #error({ path, key }: KesCall, answer: RemoteAnswer): KeyError {
    const about = key === undefined ? '' : ` for the key "${key}"`;
    const says = messageOf(answer);
    if (answer.status === 403 && says.startsWith('not authorized')) {
      return new KeyError(
        'refused',
        `${this.#name} refuses this server${about}: no policy there allows its identity "${path}" (${says})`,
      );
    }
    if (answer.status === 501 && says === 'not implemented') {
      return new KeyError(
        'refused',
        `${this.#name} keeps no secrets of others${about}: only a key service that keeps state itself does`,
      );
    }
    const isRefusal = answer.status < 500 && /^(enclave does not exist|insecure connection:)/.test(says);
    return new KeyError(
      isRefusal ? 'refused' : 'unavailable',
      `${this.#name} answers ${answer.status}${about}: ${says}`,
    );
  }

  #notFound(name: string): KeyError {
    return new KeyError('not-found', `${this.#name} has no key "${name}"`);
  }

  #nobody(): KeyError {
    return new KeyError('unreachable', `${this.#name} has no endpoint`);
  }
}

function messageOf(answer: RemoteAnswer): string {
  return quoted(tryJson(answer.text, failure)?.message ?? answer.text);
}

/** Reports whether an endpoint decides the call: it did it, or refuses it in the words of the protocol. Else the next endpoint is asked. */
function isOwnAnswer(answer: RemoteAnswer): boolean {
  if (answer.status === 200) return true;
  const isRefusal = answer.status < 500 || answer.status === 501;
  return isRefusal && answer.status !== 429 && tryJson(answer.text, failure) !== undefined;
}

function isMissing(answer: RemoteAnswer): boolean {
  const message = tryJson(answer.text, failure)?.message ?? '';
  return answer.status === 404 && /^(secret|key) does not exist/.test(message);
}
