import { SecretClient } from '@azure/keyvault-secrets';
import { type AzureKeyStoreSettings, isLoopback } from '../keystore-settings.ts';
import { KeyError } from '../keystore.ts';
import type { Outcome, Remote, RemoteAnswer } from '../remote/remote.ts';
import { TokenSource } from '../remote/token-source.ts';
import { azureError, readFailure, type AzurePermission } from './azure-errors.ts';
import { describeLogin, logInToAzure, type Environment } from './azure-login.ts';
import { AzureTransport, carriedToken, withoutRetries } from './azure-transport.ts';

/** The oldest version of the API with all used calls, so that every cloud of Azure supports it. */
const serviceVersion = '7.4';

interface AzureOperation {
  readonly permission: AzurePermission;
  readonly key?: string;
}

/** One key vault, by Azure's own client. */
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
      // The tenant and the authority of a challenge are ignored, since a false vault could request the secret.
      getToken: async (scopes: string | readonly string[]) => {
        // Uses the audience of the challenge, unless the configuration has one.
        scope = settings.audience === undefined ? String(scopes) : `${settings.audience}/.default`;
        // Reports an expired token, so that the client asks before each request and `tokens` alone decides its lifetime.
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
          // The client requests a token and sends the request again. It must not get the rejected token.
          if (response.status === 401) tokens.drop(bearerOf(request.headers.get('authorization')));
          return response;
        },
      },
    });
  }

  /** Throws when the answer is not that of a vault, or rejects the token. */
  async attempt<T>(call: (secrets: SecretClient) => Promise<T>): Promise<Outcome<T>> {
    try {
      return { value: await call(this.#secrets) };
    } catch (error) {
      if (error instanceof KeyError) throw error;
      const answer = this.#transport.answerBehind(error);
      if (answer === undefined || answer.status < 400) throw this.#nonsense(error);
      if (answer.status === 401) throw carriedToken(error) ? this.#notTaken(answer) : this.#noVault();
      return { refusal: answer };
    }
  }

  error({ permission, key }: AzureOperation, answer: RemoteAnswer): KeyError {
    const operation = { permission, who: this.who, endpoint: this.endpoint, key };
    return azureError(operation, readFailure(answer));
  }

  /** The error of the client is not quoted, since it may hold a key. */
  #nonsense(error: unknown): KeyError {
    const wanted = /^The challenge (?:resource|origin) '([^']+)'/.exec(
      error instanceof Error ? error.message : '',
    )?.[1];
    if (wanted === undefined) {
      return new KeyError(
        'unavailable',
        `the key vault ${this.endpoint} answers something that is not of its interface: is the endpoint right?`,
      );
    }
    return new KeyError(
      'refused',
      `${this.endpoint} asks for a token of ${wanted}, which is not its own domain: none was sent. Check keystore.azure.keyvault.endpoint.`,
    );
  }

  #noVault(): KeyError {
    return new KeyError(
      'unavailable',
      `${this.endpoint} asks for no token that Azure Key Vault would ask for: is it the address of a key vault?`,
    );
  }

  #notTaken(answer: RemoteAnswer): KeyError {
    const { login } = this.#settings;
    const challenge = answer.headers.get('www-authenticate') ?? '';
    const isChallenge = /authorization(?:_uri)?="/.test(challenge);
    const authority = /authorization(?:_uri)?="([^"]*)"/.exec(challenge)?.[1] ?? 'another authority';
    const tenant = 'tenantId' in login && login.tenantId !== undefined ? `, not of ${login.tenantId}` : '';
    return new KeyError(
      isChallenge ? 'refused' : 'unavailable',
      `the key vault ${this.endpoint} does not take the token of ${this.who}: it wants one of ${authority}${tenant} (${readFailure(answer).message})`,
    );
  }
}

function bearerOf(authorization: string | undefined): string {
  return authorization?.replace(/^Bearer /, '') ?? '';
}
