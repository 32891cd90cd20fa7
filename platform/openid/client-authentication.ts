import { OpenIdError } from './errors.ts';

/** The ways in which this client authenticates with its secret: in the header, or in the form. */
const clientMethods = ['client_secret_basic', 'client_secret_post'] as const;
export type ClientMethod = (typeof clientMethods)[number];

/** A client without a secret is public: it only names itself. */
export interface OAuthClient {
  readonly clientId: string;
  readonly clientSecret?: string | undefined;
  /** The configured way; without it each is tried. */
  readonly clientMethod?: ClientMethod | undefined;
}

/** The used part of the metadata of a provider. Its identity is that of the provider: what a provider accepted is remembered for it. */
interface ClientMethods {
  readonly tokenEndpointAuthMethods: readonly string[];
}

const accepted = new WeakMap<ClientMethods, ClientMethod>();

/**
 * Calls the token endpoint with each way of authentication until the provider does not refuse the client. A provider lists what it can, and not
 * what the client is registered for: Authelia lists four ways, and takes one of them. The accepted way is the first one next time.
 *
 * Rejects with `OpenIdError` (`ClientRefused`) if the provider takes neither way.
 */
export async function withClientMethod<T>(
  provider: ClientMethods,
  client: OAuthClient,
  attempt: (method: ClientMethod) => Promise<T>,
  isRefused: (result: T) => boolean,
): Promise<T> {
  const [first, second] = methodsToTry(provider, client);
  const result = await attempt(first);
  if (second === undefined || !isRefused(result)) return result;
  const other = await attempt(second);
  // If both are refused, the first answer is that of the way which the provider prefers.
  if (isRefused(other)) return result;
  accepted.set(provider, second);
  return other;
}

function methodsToTry(
  provider: ClientMethods,
  { clientId, clientSecret, clientMethod }: OAuthClient,
): readonly [ClientMethod, ClientMethod?] {
  // The method does not matter without a secret.
  if (clientSecret === undefined) return ['client_secret_post'];
  if (clientMethod !== undefined) return [clientMethod];
  const listed = clientMethods.filter((method) => provider.tokenEndpointAuthMethods.includes(method));
  if (listed.length === 0 && provider.tokenEndpointAuthMethods.length > 0) {
    throw new OpenIdError(
      'ClientRefused',
      `the provider takes clients by ${provider.tokenEndpointAuthMethods.slice(0, 10).join(', ')} alone, and this server has ` +
        `${clientMethods.join(' and ')}: allow one of them for the client "${clientId}" there, or set client_auth (CLIENT_AUTH) if the list is wrong.`,
    );
  }
  const [first = 'client_secret_basic'] = listed;
  const other = first === 'client_secret_basic' ? 'client_secret_post' : 'client_secret_basic';
  return accepted.get(provider) === other ? [other, first] : [first, other];
}

/** Names the ways that were tried, for an error about a refused client. */
export function triedMethods({ clientMethod }: OAuthClient): string {
  return clientMethod === undefined
    ? `accepted neither by ${clientMethods.join(' nor by ')}`
    : `not accepted by ${clientMethod} (client_auth)`;
}

/**
 * Returns the headers and the form that authenticate the client at an endpoint of the provider. The form also has the parameters of the call.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6749#section-2.3.1
 */
export function clientAuthentication(
  method: ClientMethod,
  { clientId, clientSecret }: OAuthClient,
): { readonly headers: Readonly<Record<string, string>>; readonly form: URLSearchParams } {
  const headers = { accept: 'application/json' };
  if (clientSecret === undefined) return { headers, form: new URLSearchParams({ client_id: clientId }) };
  switch (method) {
    case 'client_secret_basic': {
      const pair = `${formEncode(clientId)}:${formEncode(clientSecret)}`;
      const authorization = `Basic ${Buffer.from(pair).toString('base64')}`;
      return { headers: { ...headers, authorization }, form: new URLSearchParams() };
    }
    case 'client_secret_post':
      return { headers, form: new URLSearchParams({ client_id: clientId, client_secret: clientSecret }) };
    default:
      return method satisfies never;
  }
}

/** OAuth form-encodes Basic credentials first. */
function formEncode(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1);
}
