import { randomBytes } from 'node:crypto';
import type { DoubleAnswer, DoubleRequest, VirtualClock } from './http-double.ts';

/** The only valid credentials of the double. */
export const entraLogin = {
  tenantId: '11111111-1111-1111-1111-111111111111',
  clientId: '22222222-2222-2222-2222-222222222222',
  clientSecret: 'client-secret-value',
  assertion: 'header.assertion-value.signature',
} as const;

const scope = 'https://vault.azure.net/.default';

/** A double of Azure's logins: Entra's token endpoint and the managed-identity service of a machine. */
export class EntraDouble {
  readonly #tenant: string;
  readonly #clock: VirtualClock;
  readonly #tokens = new Map<string, number>();
  /** The lifetime of a token in seconds. */
  lifetime = 3599;
  logins = 0;
  /** Whether the vault belongs to another tenant. */
  isForeign = false;

  constructor(tenant: string, clock: VirtualClock) {
    this.#tenant = tenant;
    this.#clock = clock;
  }

  takes(authorization: string | undefined): boolean {
    if (this.isForeign) return false;
    const token = /^Bearer (.+)$/.exec(authorization ?? '')?.[1] ?? '';
    return (this.#tokens.get(token) ?? 0) > this.#clock.now();
  }

  /** Acts like an administrator who revokes them. */
  revokeTokens(): void {
    this.#tokens.clear();
  }

  answer(request: DoubleRequest): DoubleAnswer | undefined {
    const { pathname } = request.url;
    if (pathname.endsWith('/.well-known/openid-configuration')) return this.#metadata(request);
    if (pathname.endsWith('/oauth2/v2.0/token')) return this.#token(request);
    // Microsoft's own library adds a slash, which the documentation does not have.
    if (/^\/metadata\/identity\/oauth2\/token\/?$/.test(pathname)) return this.#managedIdentity(request);
    return undefined;
  }

  /** @see https://learn.microsoft.com/entra/identity-platform/v2-protocols-oidc#fetch-the-openid-configuration-document */
  #metadata({ url }: DoubleRequest): DoubleAnswer {
    const authority = `https://${url.host}/${this.#tenant}`;
    if (url.pathname !== `/${this.#tenant}/v2.0/.well-known/openid-configuration`) {
      return refusal('invalid_tenant', "AADSTS90002: Tenant 'other' not found.");
    }
    return {
      status: 200,
      body: {
        issuer: `${authority}/v2.0`,
        authorization_endpoint: `${authority}/oauth2/v2.0/authorize`,
        token_endpoint: `${authority}/oauth2/v2.0/token`,
        jwks_uri: `${authority}/discovery/v2.0/keys`,
      },
    };
  }

  /** @see https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow#get-a-token */
  #token({ method, url, headers, body }: DoubleRequest): DoubleAnswer {
    const form = new URLSearchParams(body);
    if (method !== 'POST' || !headers['content-type']?.startsWith('application/x-www-form-urlencoded')) {
      return refusal(
        'invalid_request',
        'AADSTS900144: The request body must contain the following parameter: grant_type.',
      );
    }
    if (!url.pathname.startsWith(`/${this.#tenant}/`)) {
      return refusal('invalid_request', "AADSTS90002: Tenant 'other' not found.");
    }
    if (form.get('grant_type') !== 'client_credentials') return refusal('unsupported_grant_type', 'AADSTS70003');
    if (form.get('client_id') !== entraLogin.clientId) {
      return refusal('unauthorized_client', 'AADSTS700016: Application was not found in the directory.');
    }
    if (form.get('scope') !== scope) return refusal('invalid_scope', 'AADSTS70011: The provided scope is not valid.');
    const byAssertion =
      form.get('client_assertion_type') === 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer' &&
      form.get('client_assertion') === entraLogin.assertion;
    if (!byAssertion && form.get('client_secret') !== entraLogin.clientSecret) {
      return form.has('client_assertion')
        ? refusal('invalid_client', 'AADSTS70021: No matching federated identity record found.')
        : refusal('invalid_client', 'AADSTS7000215: Invalid client secret provided.');
    }
    return this.#issue(this.lifetime);
  }

  /** @see https://learn.microsoft.com/entra/identity/managed-identities-azure-resources/how-to-use-vm-token#get-a-token-using-http */
  #managedIdentity({ method, url, headers }: DoubleRequest): DoubleAnswer {
    const isRight =
      method === 'GET' &&
      headers['metadata'] === 'true' &&
      url.searchParams.get('api-version') === '2018-02-01' &&
      url.searchParams.get('resource') === 'https://vault.azure.net';
    if (!isRight) return refusal('bad_request_102', 'Required metadata header not specified');
    const clientId = url.searchParams.get('client_id');
    if (clientId !== null && clientId !== entraLogin.clientId) return refusal('invalid_request', 'Identity not found');
    return this.#issue(String(this.lifetime));
  }

  #issue(expires_in: number | string): DoubleAnswer {
    this.logins++;
    const token = `token-${randomBytes(8).toString('hex')}`;
    this.#tokens.set(token, this.#clock.now() + this.lifetime * 1000);
    return { status: 200, body: { token_type: 'Bearer', access_token: token, expires_in } };
  }
}

function refusal(error: string, error_description: string): DoubleAnswer {
  return { status: error === 'invalid_client' ? 401 : 400, body: { error, error_description } };
}
