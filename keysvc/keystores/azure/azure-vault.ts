import { SecretClient } from '@azure/keyvault-secrets';
import { type AzureKeyStoreSettings, isLoopback } from '../keystore-settings.ts';
import { KeyStoreError } from '../keystore.ts';
import type { Outcome, Remote, RemoteAnswer } from '../remote/remote.ts';
import { TokenSource } from '../remote/token-source.ts';
import { azureError, readFailure, type AzurePermission } from './azure-errors.ts';
import { describeLogin, logInToAzure, type Environment } from './azure-login.ts';
import { AzureTransport, carriedToken, withoutRetries } from './azure-transport.ts';

/** The oldest that has all that is used here, so that every cloud of Azure has it. */
const serviceVersion = '7.4';

interface AzureOperation {
  readonly permission: AzurePermission;
  readonly key?: string;
}

/** One key vault, behind Azure's own client. */
export class AzureVault {
  readonly endpoint: string;
  readonly who: string;
  readonly remote: Remote;
  readonly #settings: AzureKeyStoreSettings;
  readonly #transport: AzureTransport;
  readonly #secrets: SecretClient;

  constructor(settings: AzureKeyStoreSettings, remote: Remote, environment: Environment) {
    this.endpoint = settings.endpoint;
    this.who = describeLogin(settings.login);
    this.remote = remote;
    this.#settings = settings;
    this.#transport = new AzureTransport(remote, `the key vault ${settings.endpoint}`);
    let scope = '';
    const tokens = new TokenSource(() => logInToAzure({ ...settings, scope }, remote, environment), remote.clock);
    const credential = {
      // Neither the challenge's tenant nor its authority is followed, or a false vault could have the secret sent to itself.
      getToken: async (scopes: string | readonly string[]) => {
        // The challenge's own audience, unless the configuration names one: then no challenge is asked what the token is for.
        scope = settings.audience === undefined ? String(scopes) : `${settings.audience}/.default`;
        // As if it ended now: the client asks before each request, and `tokens` alone decides how long one serves.
        return { token: await tokens.current(), expiresOnTimestamp: 0 };
      },
    };
    this.#secrets = new SecretClient(settings.endpoint, credential, {
      ...withoutRetries,
      serviceVersion,
      disableChallengeResourceVerification: settings.audience !== undefined || isLoopback(settings.endpoint),
      httpClient: {
        sendRequest: async (request) => {
          const response = await this.#transport.sendRequest(request);
          // The client asks for a token and sends once more: it must not get the one that was taken no more.
          if (response.status === 401) tokens.drop(bearerOf(request.headers.get('authorization')));
          return response;
        },
      },
    });
  }

  /** Errors where no answer comes, one that is none of a vault, or one that takes no token. */
  async attempt<T>(call: (secrets: SecretClient) => Promise<T>): Promise<Outcome<T>> {
    try {
      return { value: await call(this.#secrets) };
    } catch (error) {
      if (error instanceof KeyStoreError) throw error;
      const answer = this.#transport.answerBehind(error);
      if (answer === undefined || answer.status < 400) throw this.#nonsense(error);
      if (answer.status === 401) throw carriedToken(error) ? this.#notTaken(answer) : this.#noVault();
      return { refusal: answer };
    }
  }

  error({ permission, key }: AzureOperation, answer: RemoteAnswer): KeyStoreError {
    const operation = { permission, who: this.who, endpoint: this.endpoint, ...(key === undefined ? {} : { key }) };
    return azureError(operation, readFailure(answer));
  }

  /** The client's own errors are never quoted, since they may hold a key. */
  #nonsense(error: unknown): KeyStoreError {
    const wanted = /^The challenge (?:resource|origin) '([^']+)'/.exec(
      error instanceof Error ? error.message : '',
    )?.[1];
    if (wanted === undefined) {
      return new KeyStoreError(
        'unavailable',
        `the key vault ${this.endpoint} answers something that is not of its interface: is the endpoint right?`,
      );
    }
    return new KeyStoreError(
      'refused',
      `${this.endpoint} asks for a token of ${wanted}, which is not its own domain: none was sent. Check keystore.azure.keyvault.endpoint.`,
    );
  }

  #noVault(): KeyStoreError {
    return new KeyStoreError(
      'refused',
      `${this.endpoint} asks for no token that Azure Key Vault would ask for: is it the address of a key vault?`,
    );
  }

  #notTaken(answer: RemoteAnswer): KeyStoreError {
    const { login } = this.#settings;
    const challenge = answer.headers.get('www-authenticate') ?? '';
    const authority = /authorization(?:_uri)?="([^"]*)"/.exec(challenge)?.[1] ?? 'another authority';
    const tenant = 'tenantId' in login && login.tenantId !== undefined ? `, not of ${login.tenantId}` : '';
    return new KeyStoreError(
      'refused',
      `the key vault ${this.endpoint} does not take the token of ${this.who}: it wants one of ${authority}${tenant} (${readFailure(answer).message})`,
    );
  }
}

function bearerOf(authorization: string | undefined): string {
  return authorization?.replace(/^Bearer /, '') ?? '';
}
