import { randomBytes } from 'node:crypto';
import type { DoubleAnswer, DoubleRequest } from './http-double.ts';

// A double of Google's workload identity federation, which exchanges the token of another provider.

const audience = '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/provider';
const tokenType = 'urn:ietf:params:oauth:token-type:jwt';
const scope = 'https://www.googleapis.com/auth/cloud-platform';
const email = 'coffer@project.iam.gserviceaccount.com';
const impersonation = `/v1/projects/-/serviceAccounts/${email}:generateAccessToken`;

export class FederationDouble {
  /** The valid token of the provider. */
  subjectToken = `provider-token-${randomBytes(8).toString('hex')}`;
  exchanges = 0;
  impersonations = 0;
  readonly #federated = new Set<string>();
  readonly #issue: () => string;

  /** `issue` makes a token that the vault accepts. */
  constructor(issue: () => string) {
    this.#issue = issue;
  }

  /**
   * The file that `gcloud iam workload-identity-pools create-cred-config` writes.
   *
   * @see https://google.aip.dev/auth/4117
   */
  credentials(url: string, source: { readonly file: string } | 'url', impersonate = false): Record<string, unknown> {
    const fromUrl = {
      url: `${url}/provider/token`,
      headers: { 'x-provider': 'mine' },
      format: { type: 'json', subject_token_field_name: 'id_token' },
    };
    return {
      type: 'external_account',
      audience,
      subject_token_type: tokenType,
      token_url: `${url}/sts/v1/token`,
      credential_source: source === 'url' ? fromUrl : source,
      ...(impersonate ? { service_account_impersonation_url: `${url}${impersonation}` } : {}),
    };
  }

  /** Undefined for a request that is no login. */
  answer(request: DoubleRequest): DoubleAnswer | undefined {
    switch (request.url.pathname) {
      case '/provider/token':
        return request.headers['x-provider'] === 'mine'
          ? { status: 200, body: { id_token: this.subjectToken } }
          : { status: 403, body: 'no' };
      case '/sts/v1/token':
        return this.#exchange(request);
      case impersonation:
        return this.#impersonate(request);
      default:
        return undefined;
    }
  }

  /** @see https://cloud.google.com/iam/docs/reference/sts/rest/v1/TopLevel/token */
  #exchange({ method, headers, body }: DoubleRequest): DoubleAnswer {
    const asked = new URLSearchParams(body);
    const isForm = headers['content-type']?.startsWith('application/x-www-form-urlencoded') === true;
    const isRight =
      method === 'POST' &&
      isForm &&
      asked.get('grant_type') === 'urn:ietf:params:oauth:grant-type:token-exchange' &&
      asked.get('requested_token_type') === 'urn:ietf:params:oauth:token-type:access_token' &&
      asked.get('subject_token_type') === tokenType &&
      asked.get('scope') === scope;
    if (!isRight) return { status: 400, body: { error: 'invalid_request', error_description: 'Invalid request.' } };
    if (asked.get('audience') !== audience) return { status: 400, body: { error: 'invalid_target' } };
    if (asked.get('subject_token') !== this.subjectToken) {
      const error_description = `ID Token issued at ${asked.get('subject_token')} is stale to sign-in.`;
      return { status: 400, body: { error: 'invalid_grant', error_description } };
    }
    this.exchanges++;
    const access_token = this.#issue();
    this.#federated.add(access_token);
    const issued_token_type = 'urn:ietf:params:oauth:token-type:access_token';
    return { status: 200, body: { access_token, issued_token_type, token_type: 'Bearer', expires_in: 3599 } };
  }

  /** @see https://cloud.google.com/iam/docs/reference/credentials/rest/v1/projects.serviceAccounts/generateAccessToken */
  #impersonate({ method, headers, body }: DoubleRequest): DoubleAnswer {
    const token = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? '';
    if (!this.#federated.has(token)) return { status: 401, body: { error: { status: 'UNAUTHENTICATED' } } };
    const { scope: scopes, lifetime } = JSON.parse(body) as { scope?: unknown; lifetime?: unknown };
    if (method !== 'POST' || JSON.stringify(scopes) !== JSON.stringify([scope]) || lifetime !== '3600s') {
      return { status: 400, body: { error: { status: 'INVALID_ARGUMENT' } } };
    }
    this.impersonations++;
    const expireTime = new Date(Date.now() + 3_600_000).toISOString();
    return { status: 200, body: { accessToken: this.#issue(), expireTime } };
  }
}
