import { createLimitedFetch, type LimitedFetch } from '../http/limited-fetch.ts';
import { explainFailure } from './explain-failure.ts';
import { parseJsonObject } from './claims.ts';
import { OpenIdError } from './errors.ts';

/** The checked result of discovery. */
export interface ProviderMetadata {
  readonly issuer: string;
  /** Empty, as the next one, for an issuer of tokens for programs, at which no user signs in. */
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  readonly jwksUri: string;
  readonly userinfoEndpoint?: string;
  readonly endSessionEndpoint?: string;
  readonly scopesSupported: readonly string[];
  readonly tokenEndpointAuthMethods: readonly string[];
  /** The complete document, for libraries that need it. */
  readonly document: Readonly<Record<string, unknown>>;
  /** Warnings, such as an issuer without TLS off loopback. */
  readonly warnings: readonly string[];
}

interface DiscoverOptions {
  /** Replaces the fetch that `ca` and `timeoutMs` would make. */
  readonly fetch?: LimitedFetch;
  /** CA certificates (PEM) to trust in addition to those of the system. */
  readonly ca?: string;
  /** Milliseconds, 10,000 by default. */
  readonly timeoutMs?: number;
  /** The issuer that the document must name, if it differs from its address. */
  readonly issuer?: string | undefined;
}

const wellKnown = '/.well-known/openid-configuration';

/**
 * Reads and checks the discovery document of a provider. Rejects with `OpenIdError`.
 *
 * @see https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderConfigurationValidation
 */
export async function discover(configUrl: string, options: DiscoverOptions = {}): Promise<ProviderMetadata> {
  const own = issuerOf(configUrl, options.issuer);
  const fetch = options.fetch ?? createLimitedFetch(options);
  const document = await readDocument(configUrl, fetch);
  return checkDocument(configUrl, { own, expected: options.issuer }, document);
}

/** Returns the issuer that the address of a document stands for: the address without its well-known part. */
function issuerOf(configUrl: string, expected: string | undefined): string {
  if (!URL.canParse(configUrl)) {
    throw new OpenIdError(
      'ConfigUrlInvalid',
      `config_url "${configUrl}" is not a URL; it looks like https://PROVIDER/realms/REALM${wellKnown}.`,
    );
  }
  const { protocol, pathname, search, hash } = new URL(configUrl);
  if (protocol !== 'https:' && protocol !== 'http:') {
    throw new OpenIdError('ConfigUrlInvalid', `config_url "${configUrl}" must begin with https:// (or http://).`);
  }
  // Azure AD B2C has its user flow in the query, and then the issuer has to be named.
  if (!pathname.endsWith(wellKnown) || (search !== '' && expected === undefined) || hash !== '') {
    throw new OpenIdError('ConfigUrlInvalid', `config_url "${configUrl}" must end in ${wellKnown}.`);
  }
  return configUrl.slice(0, configUrl.indexOf(wellKnown));
}

async function readDocument(configUrl: string, fetch: LimitedFetch): Promise<Record<string, unknown>> {
  let response: Response;
  try {
    response = await fetch(configUrl, { headers: { accept: 'application/json' } });
  } catch (error) {
    throw explainFailure('Unreachable', 'the discovery document', configUrl, error);
  }
  if (response.status === 404) {
    const said = parseJsonObject(await response.text())?.['error'];
    if (typeof said === 'string' && /realm does not exist/i.test(said)) {
      throw new OpenIdError(
        'NotFound',
        `${configUrl} answered 404 (${said.slice(0, 100)}); check the realm in config_url, in which upper and lower case count.`,
      );
    }
    throw new OpenIdError(
      'NotFound',
      `${configUrl} answered 404: there is no such document; check the realm and the path of config_url.`,
    );
  }
  if (response.status !== 200) throw unexpected(configUrl, response);
  const document = parseJsonObject(await response.text());
  if (document === undefined) {
    throw new OpenIdError(
      'NotJson',
      `${configUrl} answered something other than a JSON object; check that config_url names the provider itself.`,
    );
  }
  return document;
}

function unexpected(configUrl: string, response: Response): OpenIdError {
  const location = response.headers.get('location');
  const hint = location === null ? 'see the log of the provider' : `it redirects to ${location}; give that address`;
  return new OpenIdError('UnexpectedStatus', `${configUrl} answered ${response.status} instead of 200; ${hint}.`);
}

interface Issuers {
  /** The issuer that follows from the address of the document. */
  readonly own: string;
  /** The issuer in the settings. */
  readonly expected: string | undefined;
}

/** Returns the checked issuer of a document. Throws `OpenIdError` (`IssuerMismatch`). */
function checkedIssuer(configUrl: string, { own, expected }: Issuers, found: unknown): string {
  const names = `the document at ${configUrl} names the issuer ${JSON.stringify(found ?? null)}`;
  const template = typeof found === 'string' && /\{tenant_?id\}/i.test(found);
  if (expected !== undefined) {
    // Entra's document for all tenants has a placeholder, and each token has its tenant.
    if (found === expected || (template && isOfTemplate(expected, found))) return expected;
    throw new OpenIdError(
      'IssuerMismatch',
      `${names}, and issuer (ISSUER) is "${expected}": set it to the one that the tokens have.`,
    );
  }
  // An issuer may end in a slash (Auth0). The config URL then has one slash for two.
  if (typeof found === 'string' && (found === own || found === `${own}/`)) return found;
  throw new OpenIdError(
    'IssuerMismatch',
    template
      ? `${names}, which stands for any tenant: write the ID of your tenant into config_url in place of "common" or "organizations".`
      : `${names}, but its address stands for "${own}"; use the address that the provider itself calls its issuer, or correct the host name ` +
          `set at the provider. If the provider is behind another address on purpose, set issuer (ISSUER) to ${JSON.stringify(found ?? null)}.`,
  );
}

function isOfTemplate(issuer: string, template: string): boolean {
  const [before = '', after = ''] = template.split(/\{tenant_?id\}/i);
  const tenant = issuer.slice(before.length, issuer.length - after.length);
  return issuer === before + tenant + after && /^[\w.-]+$/.test(tenant);
}

function checkDocument(configUrl: string, issuers: Issuers, document: Record<string, unknown>): ProviderMetadata {
  const issuer = checkedIssuer(configUrl, issuers, document['issuer']);
  const endpoint = (name: string): string => {
    const value = document[name];
    if (typeof value !== 'string' || !URL.canParse(value) || !/^https?:$/.test(new URL(value).protocol)) {
      throw new OpenIdError(
        'EndpointMissing',
        `the document at ${configUrl} has no usable ${name} (${value === undefined ? 'absent' : JSON.stringify(value)}); ` +
          'is this an OpenID Connect provider?',
      );
    }
    return value;
  };
  // The issuers of CI systems, SPIRE and clusters give tokens to programs alone.
  const withoutSignIn = document['authorization_endpoint'] === undefined && document['token_endpoint'] === undefined;
  const userinfoEndpoint = document['userinfo_endpoint'];
  const endSessionEndpoint = document['end_session_endpoint'];
  return {
    issuer,
    authorizationEndpoint: withoutSignIn ? '' : endpoint('authorization_endpoint'),
    tokenEndpoint: withoutSignIn ? '' : endpoint('token_endpoint'),
    jwksUri: endpoint('jwks_uri'),
    ...(typeof userinfoEndpoint === 'string' ? { userinfoEndpoint } : {}),
    ...(typeof endSessionEndpoint === 'string' ? { endSessionEndpoint } : {}),
    scopesSupported: strings(document['scopes_supported']),
    tokenEndpointAuthMethods: strings(document['token_endpoint_auth_methods_supported'], ['client_secret_basic']),
    // Libraries compare the issuer of tokens with this one.
    document: { ...document, issuer },
    warnings: transportWarnings(issuer),
  };
}

function transportWarnings(issuer: string): string[] {
  const { protocol, hostname } = new URL(issuer);
  const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$|\.localhost$/.test(hostname);
  return protocol === 'https:' || loopback
    ? []
    : [`The issuer ${issuer} is reached without TLS: whoever sits between can read tokens and replace its keys.`];
}

function strings(value: unknown, otherwise: string[] = []): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : otherwise;
}

/** Reports whether an issuer gives tokens to programs alone: no user signs in there, and it knows no clients. */
export function isForPrograms({ authorizationEndpoint }: Pick<ProviderMetadata, 'authorizationEndpoint'>): boolean {
  return authorizationEndpoint === '';
}

interface ClusterAddress {
  readonly configUrl: string;
  readonly issuer?: string;
  readonly jwksUri?: string;
  readonly tokenFile?: string;
}

/**
 * Discovers the issuer of a cluster's service-account tokens. Its document has no sign-in endpoints, and the address of an API server may
 * differ from the name of its issuer: the connection by TLS proves who it is.
 *
 * @see https://kubernetes.io/docs/tasks/configure-pod-container/configure-service-account/#service-account-issuer-discovery
 */
export async function discoverCluster(address: ClusterAddress, fetch: LimitedFetch): Promise<ProviderMetadata> {
  const { configUrl, issuer, jwksUri } = address;
  if (issuer !== undefined && jwksUri !== undefined) return metadata(issuer, jwksUri, {});
  const document = await readClusterDocument(configUrl, fetch);
  const found = document['issuer'];
  if (typeof found !== 'string' || found === '' || (issuer !== undefined && found !== issuer)) {
    const expected = issuer === undefined ? '' : `, not "${issuer}"`;
    const message = `the document at ${configUrl} names the issuer ${JSON.stringify(found ?? null)}${expected}.`;
    throw new OpenIdError('IssuerMismatch', message);
  }
  return metadata(found, jwksUri ?? keysIn(document, address), document);
}

/**
 * Returns the address of the keys. An API server publishes its outer address, which pods may not reach; its inner address has the keys too.
 */
function keysIn(document: Readonly<Record<string, unknown>>, { configUrl, tokenFile }: ClusterAddress): string {
  const named = document['jwks_uri'];
  if (typeof named !== 'string' || !URL.canParse(named)) {
    throw new OpenIdError('EndpointMissing', `the document at ${configUrl} has no usable jwks_uri; set JWKS_URI.`);
  }
  if (tokenFile === undefined || new URL(named).origin === new URL(configUrl).origin) return named;
  return new URL('/openid/v1/jwks', configUrl).href;
}

async function readClusterDocument(configUrl: string, fetch: LimitedFetch): Promise<Readonly<Record<string, unknown>>> {
  let response: Response;
  try {
    response = await fetch(configUrl, { headers: { accept: 'application/json' } });
  } catch (error) {
    throw explainFailure('Unreachable', 'the discovery document', configUrl, error);
  }
  if (response.status === 401 || response.status === 403) {
    throw new OpenIdError(
      'UnexpectedStatus',
      `${configUrl} answered ${response.status}: the API server wants a token that may read it; set TOKEN_FILE, and see that the ` +
        'ClusterRole system:service-account-issuer-discovery is bound to its account.',
    );
  }
  const document = response.status === 200 ? parseJsonObject(await response.text()) : undefined;
  if (document !== undefined) return document;
  throw new OpenIdError('UnexpectedStatus', `${configUrl} answered ${response.status}, and not a discovery document.`);
}

function metadata(issuer: string, jwksUri: string, document: Readonly<Record<string, unknown>>): ProviderMetadata {
  const none = { authorizationEndpoint: '', tokenEndpoint: '', scopesSupported: [], tokenEndpointAuthMethods: [] };
  return { ...none, issuer, jwksUri, document, warnings: [] };
}
