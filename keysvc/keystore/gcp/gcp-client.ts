import { z } from 'zod';
import type { GcpKeyStoreSettings } from '../../config/keystore-settings.ts';
import { KeyStoreError } from '../keystore.ts';
import { quoted, tryJson } from '../remote/json-answer.ts';
import type { Remote, RemoteAnswer, RemoteRequest } from '../remote/remote.ts';
import { TokenSource } from '../remote/token-source.ts';
import { logInToGcp } from './gcp-login.ts';
import type { GcpEnvironment } from './gcp-login.ts';

export interface GcpCall {
  readonly method: RemoteRequest['method'];
  /** After `/v1/projects/PROJECT/secrets`: `/NAME/versions/1:access`. */
  readonly path: string;
  readonly body?: object;
  /** `secretmanager.versions.access` without its beginning. */
  readonly permission: 'secrets.create' | 'versions.add' | 'versions.access' | 'secrets.delete' | 'secrets.list';
  readonly key?: string;
}

const failure = z.object({ error: z.object({ message: z.string().optional(), status: z.string().optional() }) });

/**
 * Requests to Google's Secret Manager, with a token.
 *
 * @see https://cloud.google.com/secret-manager/docs/reference/rest
 */
export class GcpClient {
  readonly endpoint: string;
  readonly project: string;
  readonly remote: Remote;
  readonly #tokens: TokenSource;

  constructor(settings: GcpKeyStoreSettings, remote: Remote, environment: GcpEnvironment) {
    this.endpoint = settings.endpoint;
    this.project = settings.projectId;
    this.remote = remote;
    this.#tokens = new TokenSource(() => logInToGcp(settings, remote, environment), remote.clock);
  }

  get name(): string {
    return `the Secret Manager of the project ${this.project} at ${this.endpoint}`;
  }

  /** The answer, where its status is one of those expected; otherwise errors with what it says. */
  async ask(call: GcpCall, ...statuses: readonly number[]): Promise<RemoteAnswer> {
    const token = await this.#tokens.current();
    let answer = await this.#send(call, token);
    if (answer.status === 401) {
      this.#tokens.drop(token);
      answer = await this.#send(call, await this.#tokens.current());
    }
    if (statuses.includes(answer.status)) return answer;
    throw this.error(call, answer);
  }

  /** @see https://cloud.google.com/apis/design/errors#handling_errors */
  error({ permission, key }: GcpCall, answer: RemoteAnswer): KeyStoreError {
    const { error } = tryJson(answer.text, failure) ?? {};
    const says = quoted(error?.message ?? answer.text);
    const about = key === undefined ? '' : ` for the key "${key}"`;
    switch (answer.status) {
      case 401:
        return new KeyStoreError('refused', `${this.name} does not take the token of this server${about}: ${says}`);
      case 403:
        return new KeyStoreError(
          'refused',
          /has not been used|is disabled|billing/i.test(says)
            ? `${this.name} is not switched on${about}: enable the API and its billing in the project (${says})`
            : `${this.name} refuses this server${about}: its roles lack the permission "secretmanager.${permission}" (${says})`,
        );
      case 429:
        return new KeyStoreError('unavailable', `${this.name} throttles its callers${about}: ${says}`);
      default:
        return new KeyStoreError(
          answer.status >= 500 ? 'unavailable' : 'refused',
          `${this.name} answers ${answer.status}${error?.status === undefined ? '' : ` ${error.status}`}${about}: ${says}`,
        );
    }
  }

  #send({ method, path, body }: GcpCall, token: string): Promise<RemoteAnswer> {
    return this.remote.ask({
      method,
      url: `${this.endpoint}/v1/projects/${encodeURIComponent(this.project)}/secrets${path}`,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      of: this.name,
    });
  }
}
