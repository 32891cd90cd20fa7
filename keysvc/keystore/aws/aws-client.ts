import { createHash } from 'node:crypto';
import { signRequest } from '../../../protocol/sigv4/sign-request.ts';
import type { Credentials } from '../../../protocol/sigv4/signed-request.ts';
import type { AwsKeyStoreSettings } from '../../config/keystore-settings.ts';
import type { KeyStoreError } from '../keystore.ts';
import type { Remote, RemoteAnswer } from '../remote/remote.ts';
import type { AwsCredentialSource } from './aws-credentials.ts';
import { awsError, isLoginRefused, isThrottled, readAwsFailure } from './aws-errors.ts';

export interface AwsCall {
  readonly action: 'CreateSecret' | 'GetSecretValue' | 'DeleteSecret' | 'ListSecrets';
  readonly body: object;
  readonly key?: string;
}

/**
 * Signed requests to AWS Secrets Manager.
 *
 * @see https://docs.aws.amazon.com/secretsmanager/latest/apireference/Welcome.html
 */
export class AwsClient {
  readonly endpoint: string;
  readonly remote: Remote;
  readonly #region: string;
  readonly #credentials: AwsCredentialSource;

  constructor(settings: AwsKeyStoreSettings, credentials: AwsCredentialSource, remote: Remote) {
    this.endpoint = settings.endpoint;
    this.remote = remote;
    this.#region = settings.region;
    this.#credentials = credentials;
  }

  /** The answer, where it is a success or its error one of those expected; otherwise errors with what it says. */
  async ask(call: AwsCall, ...expected: readonly string[]): Promise<RemoteAnswer> {
    let answer = await this.#send(call, await this.#credentials());
    if (isLoginRefused(answer)) answer = await this.#send(call, await this.#credentials({ fresh: true }));
    if (answer.status === 200 || expected.includes(readAwsFailure(answer).type)) return answer;
    throw this.error(call, answer);
  }

  error({ action, key }: AwsCall, answer: RemoteAnswer): KeyStoreError {
    return awsError({ action, endpoint: this.endpoint, ...(key === undefined ? {} : { key }) }, answer);
  }

  #send({ action, body }: AwsCall, credentials: Credentials): Promise<RemoteAnswer> {
    const text = JSON.stringify(body);
    const url = new URL('/', this.endpoint);
    const headers = {
      host: url.host,
      'content-type': 'application/x-amz-json-1.1',
      'x-amz-target': `secretsmanager.${action}`,
    };
    const signed = signRequest({ method: 'POST', rawPath: '/', rawQuery: '', headers }, credentials, {
      region: this.#region,
      service: 'secretsmanager',
      now: new Date(this.remote.clock.now()),
      payloadHash: createHash('sha256').update(text).digest('hex'),
    });
    return this.remote.ask({
      method: 'POST',
      url: url.href,
      // What is not signed may not differ either: `accept` is not.
      headers: { ...headers, ...signed },
      body: text,
      of: `AWS Secrets Manager at ${this.endpoint}`,
      isTransient: isThrottled,
    });
  }
}
