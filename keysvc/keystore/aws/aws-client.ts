import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { AwsKeyStoreSettings } from '../../config/keystore-settings.ts';
import { KeyStoreError } from '../keystore.ts';
import type { Outcome } from '../remote/outcome.ts';
import type { Remote, RemoteAnswer } from '../remote/remote.ts';
import { awsError, isLoginRefused, isSignatureRefused, readAwsFailure } from './aws-errors.ts';
import { regionalEndpoint } from './regional-endpoint.ts';
import { AwsTransport } from './aws-transport.ts';

/** A call's name, which is also that of its permission, and the key that it is about. */
export interface AwsOperation {
  readonly action: 'CreateSecret' | 'GetSecretValue' | 'DeleteSecret' | 'ListSecrets';
  readonly key?: string;
}

/** AWS Secrets Manager, behind AWS's own client. */
export class AwsClient {
  readonly endpoint: string;
  readonly name: string;
  readonly remote: Remote;
  readonly #transport: AwsTransport;
  readonly #client: SecretsManagerClient;

  constructor({ endpoint, region, credentials }: AwsKeyStoreSettings, remote: Remote) {
    this.endpoint = endpoint ?? regionalEndpoint(region);
    this.name = `AWS Secrets Manager at ${this.endpoint}`;
    this.remote = remote;
    this.#transport = new AwsTransport(remote, this.name);
    this.#client = new SecretsManagerClient({
      endpoint: this.endpoint,
      region,
      requestHandler: this.#transport,
      maxAttempts: 1,
      // The environment may ask for them, and the client then takes no endpoint.
      useFipsEndpoint: false,
      useDualstackEndpoint: false,
      systemClockOffset: remote.clock.now() - Date.now(),
      ...(credentials === undefined ? {} : { credentials: identityOf(credentials) }),
    });
  }

  /** The value, or the answer where its error is one of those expected; otherwise errors with what it says. */
  async ask<T>(
    operation: AwsOperation,
    call: (client: SecretsManagerClient) => Promise<T>,
    ...expected: readonly string[]
  ): Promise<Outcome<T>> {
    await this.#findCredentials(false);
    let outcome = await this.#attempt(call);
    if ('refusal' in outcome && isLoginRefused(outcome.refusal)) {
      await this.#findCredentials(true);
      outcome = await this.#attempt(call);
    } else if ('refusal' in outcome && isSignatureRefused(outcome.refusal)) {
      // By the date of the answer the client has set its clock.
      outcome = await this.#attempt(call);
    }
    if ('value' in outcome || expected.includes(readAwsFailure(outcome.refusal).type)) return outcome;
    throw this.error(operation, outcome.refusal);
  }

  error({ action, key }: AwsOperation, answer: RemoteAnswer): KeyStoreError {
    return awsError({ action, endpoint: this.endpoint, ...(key === undefined ? {} : { key }) }, answer);
  }

  async #attempt<T>(call: (client: SecretsManagerClient) => Promise<T>): Promise<Outcome<T>> {
    try {
      return { value: await call(this.#client) };
    } catch (error) {
      if (error instanceof KeyStoreError) throw error;
      const answer = this.#transport.answerBehind(error);
      if (answer !== undefined && answer.status >= 400) return { refusal: answer };
      // The client's own error is never quoted, since it may hold a key.
      throw new KeyStoreError(
        'unavailable',
        `${this.name} answers something that is not of its interface: is the endpoint right?`,
      );
    }
  }

  /**
   * Those of the configuration, else what AWS's own programs find: the environment, the profile, the service account's role (IRSA),
   * Pod Identity, the container's or the machine's role. The client keeps them until they end; `fresh` ones where they are taken no
   * more.
   *
   * @see https://docs.aws.amazon.com/sdkref/latest/guide/standardized-credentials.html
   */
  async #findCredentials(fresh: boolean): Promise<void> {
    try {
      await this.#client.config.credentials({ forceRefresh: fresh });
    } catch (cause) {
      throw new KeyStoreError(
        'refused',
        `no credentials for AWS Secrets Manager are found, neither in keystore.aws.secretsmanager.credentials nor in the environment, ` +
          `the profile, or a role of the pod or machine: ${(cause as Error).message}`,
        { cause },
      );
    }
  }
}

function identityOf({ accessKey, secretKey, sessionToken }: NonNullable<AwsKeyStoreSettings['credentials']>) {
  return {
    accessKeyId: accessKey,
    secretAccessKey: secretKey,
    ...(sessionToken === undefined ? {} : { sessionToken }),
  };
}
