import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { Remote, RemoteAnswer, RemoteRequest, Outcome } from '../remote/remote.ts';
import { isThrottled, awsError, isLoginRejected, isSignatureRejected, readAwsFailure } from './aws-errors.ts';
import type { AwsKeyStoreSettings } from '../keystore-settings.ts';
import { KeyError } from '../keystore.ts';

/**
 * Returns the endpoint of a region from AWS's own client, which knows the partitions: China is below amazonaws.com.cn, the European cloud
 * below amazonaws.eu.
 */
function regionalEndpoint(region: string): string {
  const { config } = new SecretsManagerClient({ region });
  return config.endpointProvider({ Region: region, UseDualStack: false, UseFIPS: false }).url.origin;
}

/** The used fields of the client's request. */
interface HttpRequest {
  readonly method: string;
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** The HTTP transport of AWS's client. It uses `Remote`, which alone retries. */
class AwsTransport {
  readonly #remote: Remote;
  readonly #of: string;
  readonly #answers = new WeakMap<object, RemoteAnswer>();

  /** `of` names the service in errors. */
  constructor(remote: Remote, of: string) {
    this.#remote = remote;
    this.#of = of;
  }

  async handle({ method, protocol, hostname, port, path, headers, body }: HttpRequest) {
    const answer = await this.#remote.ask({
      method: method as RemoteRequest['method'],
      url: `${protocol}//${hostname}${port === undefined ? '' : `:${port}`}${path}`,
      headers,
      of: this.#of,
      isTransient: isThrottled,
      body: body === undefined ? undefined : textOf(body as string | Uint8Array),
    });
    const response = {
      statusCode: answer.status,
      headers: Object.fromEntries(answer.headers),
      body: Buffer.from(answer.text, 'utf8'),
    };
    this.#answers.set(response, answer);
    return { response };
  }

  /** Returns the answer behind an error of the client. Only it says whether an earlier attempt may have succeeded. */
  answerBehind(error: unknown): RemoteAnswer | undefined {
    const response = error instanceof Error && '$response' in error ? error.$response : undefined;
    return typeof response === 'object' && response !== null ? this.#answers.get(response) : undefined;
  }

  updateHttpClientConfig(): void {}

  httpHandlerConfigs(): object {
    return {};
  }
}

function textOf(body: string | Uint8Array): string {
  return typeof body === 'string' ? body : new TextDecoder().decode(body);
}

/** The name of a call, which is also that of its permission, and its key. */
interface AwsOperation {
  readonly action: 'CreateSecret' | 'GetSecretValue' | 'DeleteSecret' | 'ListSecrets';
  readonly key?: string;
}

/** AWS Secrets Manager, by AWS's own client. */
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
      // The environment may request these, and then the client ignores the endpoint.
      useFipsEndpoint: false,
      useDualstackEndpoint: false,
      systemClockOffset: remote.clock.now() - Date.now(),
      ...(credentials === undefined ? {} : { credentials: identityOf(credentials) }),
    });
  }

  /** Returns the value, or the answer with one of the expected errors; throws other errors. */
  async ask<T>(
    operation: AwsOperation,
    call: (client: SecretsManagerClient) => Promise<T>,
    ...expected: readonly string[]
  ): Promise<Outcome<T>> {
    await this.#findCredentials(false);
    let outcome = await this.#attempt(call);
    if ('refusal' in outcome && isLoginRejected(outcome.refusal)) {
      await this.#findCredentials(true);
      outcome = await this.#attempt(call);
    } else if ('refusal' in outcome && isSignatureRejected(outcome.refusal)) {
      // The client has corrected its clock by the date of the answer.
      outcome = await this.#attempt(call);
    }
    if ('value' in outcome || expected.includes(readAwsFailure(outcome.refusal).type)) return outcome;
    throw this.error(operation, outcome.refusal);
  }

  error({ action, key }: AwsOperation, answer: RemoteAnswer): KeyError {
    return awsError({ action, endpoint: this.endpoint, key }, answer);
  }

  async #attempt<T>(call: (client: SecretsManagerClient) => Promise<T>): Promise<Outcome<T>> {
    try {
      return { value: await call(this.#client) };
    } catch (error) {
      if (error instanceof KeyError) throw error;
      const answer = this.#transport.answerBehind(error);
      if (answer !== undefined && answer.status >= 400) return { refusal: answer };
      // The error of the client is not quoted, since it may hold a key.
      throw new KeyError(
        'unavailable',
        `${this.name} answers something that is not of its interface: is the endpoint right?`,
      );
    }
  }

  /**
   * Finds the credentials of the configuration, or those that AWS's own programs use: the environment, the profile, the role of the service
   * account (IRSA), Pod Identity, the role of the container or the machine. The client caches them; `fresh` replaces rejected ones.
   *
   * @see https://docs.aws.amazon.com/sdkref/latest/guide/standardized-credentials.html
   */
  async #findCredentials(fresh: boolean): Promise<void> {
    try {
      await this.#client.config.credentials({ forceRefresh: fresh });
    } catch (cause) {
      throw new KeyError(
        // The role's credentials come over the network, so a failure is not proof that there are none.
        'unavailable',
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
