import { explainFailure, createProviderFetch, type ProviderFetch } from './provider-fetch.ts';
import { parseJsonObject } from './claims.ts';
import { OpenIdError } from './errors.ts';

/** The checked result of discovery. */
export interface ProviderMetadata {
  readonly issuer: string;
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
  readonly fetch?: ProviderFetch;
  /** CA certificates (PEM) to trust in addition to those of the system. */
  readonly ca?: string;
  /** Milliseconds, 10,000 by default. */
  readonly timeoutMs?: number;
}

const wellKnown = '/.well-known/openid-configuration';

/**
 * Reads and checks the discovery document of a provider. Rejects with `OpenIdError`.
 *
 * @see https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderConfigurationValidation
 */
export async function discover(configUrl: string, options: DiscoverOptions = {}): Promise<ProviderMetadata> {
  const expected = issuerOf(configUrl);
  const fetch = options.fetch ?? createProviderFetch(options);
  const document = await readDocument(configUrl, fetch);
  return checkDocument(configUrl, expected, document);
}

/** Returns the issuer of a config URL: the URL without its well-known part. */
function issuerOf(configUrl: string): string {
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
  if (!pathname.endsWith(wellKnown) || search !== '' || hash !== '') {
    throw new OpenIdError('ConfigUrlInvalid', `config_url "${configUrl}" must end in ${wellKnown}.`);
  }
  return configUrl.slice(0, -wellKnown.length);
}

async function readDocument(configUrl: string, fetch: ProviderFetch): Promise<Record<string, unknown>> {
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

function checkDocument(configUrl: string, expected: string, document: Record<string, unknown>): ProviderMetadata {
  const issuer = document['issuer'];
  // An issuer may end in a slash (Auth0). The config URL then has one slash for two.
  if (typeof issuer !== 'string' || (issuer !== expected && issuer !== `${expected}/`)) {
    throw new OpenIdError(
      'IssuerMismatch',
      `the document at ${configUrl} names the issuer ${JSON.stringify(issuer)}, but its address stands for "${expected}"; ` +
        'use the address that the provider itself calls its issuer, or correct the host name set at the provider.',
    );
  }
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
  const userinfoEndpoint = document['userinfo_endpoint'];
  const endSessionEndpoint = document['end_session_endpoint'];
  return {
    issuer,
    authorizationEndpoint: endpoint('authorization_endpoint'),
    tokenEndpoint: endpoint('token_endpoint'),
    jwksUri: endpoint('jwks_uri'),
    ...(typeof userinfoEndpoint === 'string' ? { userinfoEndpoint } : {}),
    ...(typeof endSessionEndpoint === 'string' ? { endSessionEndpoint } : {}),
    scopesSupported: strings(document['scopes_supported']),
    tokenEndpointAuthMethods: strings(document['token_endpoint_auth_methods_supported'], ['client_secret_basic']),
    document,
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
export async function discoverCluster(address: ClusterAddress, fetch: ProviderFetch): Promise<ProviderMetadata> {
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

async function readClusterDocument(
  configUrl: string,
  fetch: ProviderFetch,
): Promise<Readonly<Record<string, unknown>>> {
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
