import type { ProviderMetadata } from './discovery.ts';
import { explainFailure } from './explain-failure.ts';
import { parseJsonObject } from './json-object.ts';
import { OpenIdProblem } from './openid-problem.ts';
import type { ProviderFetch } from './provider-fetch.ts';

export interface ClusterAddress {
  readonly configUrl: string;
  readonly issuer?: string;
  readonly jwksUri?: string;
  readonly tokenFile?: string;
}

/**
 * The issuer of a cluster's service-account tokens. Its document has no endpoints at which anybody signs in, and an API server may be
 * asked at another address than its issuer's name: what it says by TLS counts.
 *
 * @see https://kubernetes.io/docs/tasks/configure-pod-container/configure-service-account/#service-account-issuer-discovery
 */
export async function discoverCluster(address: ClusterAddress, fetch: ProviderFetch): Promise<ProviderMetadata> {
  const { configUrl, issuer, jwksUri } = address;
  if (issuer !== undefined && jwksUri !== undefined) return metadata(issuer, jwksUri, {});
  const document = await readDocument(configUrl, fetch);
  const found = document['issuer'];
  if (typeof found !== 'string' || found === '' || (issuer !== undefined && found !== issuer)) {
    const expected = issuer === undefined ? '' : `, not "${issuer}"`;
    const message = `the document at ${configUrl} names the issuer ${JSON.stringify(found ?? null)}${expected}.`;
    throw new OpenIdProblem('IssuerMismatch', message);
  }
  return metadata(found, jwksUri ?? keysIn(document, address), document);
}

/** An API server names its keys by its outer address, which pods may not reach; it has them at its inner one too. */
function keysIn(document: Readonly<Record<string, unknown>>, { configUrl, tokenFile }: ClusterAddress): string {
  const named = document['jwks_uri'];
  if (typeof named !== 'string' || !URL.canParse(named)) {
    throw new OpenIdProblem('EndpointMissing', `the document at ${configUrl} has no usable jwks_uri; set JWKS_URI.`);
  }
  if (tokenFile === undefined || new URL(named).origin === new URL(configUrl).origin) return named;
  return new URL('/openid/v1/jwks', configUrl).href;
}

async function readDocument(configUrl: string, fetch: ProviderFetch): Promise<Readonly<Record<string, unknown>>> {
  let response: Response;
  try {
    response = await fetch(configUrl, { headers: { accept: 'application/json' } });
  } catch (error) {
    throw explainFailure('Unreachable', 'the discovery document', configUrl, error);
  }
  if (response.status === 401 || response.status === 403) {
    throw new OpenIdProblem(
      'UnexpectedStatus',
      `${configUrl} answered ${response.status}: the API server wants a token that may read it; set TOKEN_FILE, and see that the ` +
        'ClusterRole system:service-account-issuer-discovery is bound to its account.',
    );
  }
  const document = response.status === 200 ? parseJsonObject(await response.text()) : undefined;
  if (document !== undefined) return document;
  throw new OpenIdProblem(
    'UnexpectedStatus',
    `${configUrl} answered ${response.status}, and not a discovery document.`,
  );
}

function metadata(issuer: string, jwksUri: string, document: Readonly<Record<string, unknown>>): ProviderMetadata {
  const none = { authorizationEndpoint: '', tokenEndpoint: '', scopesSupported: [], tokenEndpointAuthMethods: [] };
  return { ...none, issuer, jwksUri, document, warnings: [] };
}
