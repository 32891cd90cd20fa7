import type { SecretManagerServiceClient } from '@google-cloud/secret-manager';
import { z } from 'zod';
import type { GcpKeyStoreSettings } from '../keystore-settings.ts';
import { KeyError } from '../keystore.ts';
import { quoted, tryJson } from '../remote/json-answer.ts';
import type { Outcome, Remote, RemoteAnswer } from '../remote/remote.ts';
import { currentToken, loginError, logInToGcp, type LoggedIn } from './gcp-login.ts';
import { GcpTransport } from './gcp-transport.ts';

interface GcpOperation {
  /** `secretmanager.versions.access` without its prefix. */
  readonly permission: 'secrets.create' | 'versions.add' | 'versions.access' | 'secrets.delete' | 'secrets.list';
  readonly key?: string;
}

const failure = z.object({ error: z.object({ message: z.string().optional(), status: z.string().optional() }) });

/**
 * Reports whether the Secret Manager itself says that it has no such secret. Its answer for a missing project or a wrong path, and that of a
 * proxy, name no secret.
 */
function isSecretMissing(answer: RemoteAnswer): boolean {
  const { error } = tryJson(answer.text, failure) ?? {};
  return error?.status === 'NOT_FOUND' && /\bSecret(?: Version)? \[/.test(error.message ?? '');
}

/** Options of each call: the client does not retry. */
export const once = { retry: null } as const;

/** Google's Secret Manager, by Google's own client over HTTP, which needs no native code and one connection for each request. */
export class GcpClient {
  readonly endpoint: string;
  readonly name: string;
  readonly parent: string;
  readonly remote: Remote;
  readonly #settings: GcpKeyStoreSettings;
  readonly #transport: GcpTransport;
  #client: Promise<LoggedIn> | undefined;

  constructor(settings: GcpKeyStoreSettings, remote: Remote) {
    this.endpoint = settings.endpoint;
    this.name = `the Secret Manager of the project ${settings.projectId} at ${settings.endpoint}`;
    this.parent = `projects/${settings.projectId}`;
    this.remote = remote;
    this.#settings = settings;
    this.#transport = new GcpTransport(remote, settings.endpoint, this.name);
  }

  /** Returns the value, or the answer with one of the expected statuses; throws other errors. A 404 counts only as one about a secret. */
  async ask<T>(
    operation: GcpOperation,
    call: (client: SecretManagerServiceClient) => Promise<T>,
    ...expected: readonly number[]
  ): Promise<Outcome<T>> {
    const client = (this.#client ??= logInToGcp(this.#settings, this.#transport));
    let outcome = await this.#attempt(client, call);
    if ('refusal' in outcome && outcome.refusal.status === 401) {
      // A new client requests a new token. The old client would use a rejected one until it ends.
      if (this.#client === client) this.#client = logInToGcp(this.#settings, this.#transport);
      outcome = await this.#attempt(this.#client ?? client, call);
    }
    if ('value' in outcome) return outcome;
    const { refusal } = outcome;
    if (expected.includes(refusal.status) && (refusal.status !== 404 || isSecretMissing(refusal))) return outcome;
    throw this.#error(operation, refusal);
  }

  async #attempt<T>(
    client: Promise<LoggedIn>,
    call: (client: SecretManagerServiceClient) => Promise<T>,
  ): Promise<Outcome<T>> {
    let isLoggedIn = false;
    const outcome = await this.#transport.trace(async () => {
      const { login, secrets } = await client;
      await currentToken(login);
      isLoggedIn = true;
      return call(secrets);
    });
    if ('value' in outcome) return outcome;
    const { answer, failure, error } = outcome;
    // The next call logs in again.
    if (!isLoggedIn && this.#client === client) this.#client = undefined;
    if (failure !== undefined) throw failure;
    if (!isLoggedIn) throw loginError(error);
    if (answer === undefined) throw this.#nonsense();
    if (answer.status >= 400) return { refusal: answer };
    throw this.#nonsense();
  }

  /** The error of the client is not quoted, since it may hold a key. */
  #nonsense(): KeyError {
    return new KeyError(
      'unavailable',
      `${this.name} answers something that is not of its interface: is the endpoint right?`,
    );
  }

  /** @see https://cloud.google.com/apis/design/errors#handling_errors */
  #error({ permission, key }: GcpOperation, answer: RemoteAnswer): KeyError {
    const { error } = tryJson(answer.text, failure) ?? {};
    const says = quoted(error?.message ?? answer.text);
    const about = key === undefined ? '' : ` for the key "${key}"`;
    if (error === undefined) {
      return new KeyError(
        'unavailable',
        `${this.name} answers ${answer.status}${about}, and not in its own words: is a proxy before it? (${says})`,
      );
    }
    switch (answer.status) {
      case 401:
        return new KeyError(
          'refused',
          `${this.name} does not take the token of this server${about}: is the service account enabled, its key not deleted, ` +
            `and the clock right? (${says})`,
        );
      case 403:
        return new KeyError(
          'refused',
          /has not been used|is disabled|billing/i.test(says)
            ? `${this.name} is not switched on${about}: enable the API and its billing in the project (${says})`
            : `${this.name} refuses this server${about}: its roles lack the permission "secretmanager.${permission}" (${says})`,
          { lacksPermission: !/has not been used|is disabled|billing/i.test(says) },
        );
      case 429:
        return new KeyError('unavailable', `${this.name} throttles its callers${about}: ${says}`);
      default:
        return new KeyError(
          error.status === 'FAILED_PRECONDITION' ? 'refused' : 'unavailable',
          `${this.name} answers ${answer.status}${error.status === undefined ? '' : ` ${error.status}`}${about}: ${says}`,
        );
    }
  }
}
