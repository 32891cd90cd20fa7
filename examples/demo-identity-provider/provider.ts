import { createServer, type Server, type ServerResponse } from 'node:http';
import { Provider, errors, type Configuration, type JWKS, type KoaContextWithOIDC } from 'oidc-provider';
import { handleLogin, authenticate, type DemoUser } from './login.ts';
import { timingSafeEqual } from '../../protocol/timing-safe-equal.ts';

export interface DemoProviderOptions {
  /** http://HOST:PORT without a path; the issuer is below it. */
  readonly origin: string;
  readonly realm: string;
  readonly clientId: string;
  /** The client's secret now: it may be rotated while the provider runs. */
  clientSecret(): string;
  readonly users: readonly DemoUser[];
  /** Private signing keys and cookie keys, so that tokens outlive a restart. */
  readonly jwks: JWKS;
  readonly cookieKey: string;
}

const tokenSeconds = 3600;
const authorizationPath = '/protocol/openid-connect/auth';
const scopes = ['openid', 'email', 'profile', 'policy', 'offline_access'];

/**
 * A DEMONSTRATION OpenID provider: two made-up people, passwords in a file, everything else in memory. Its paths are Keycloak's, so
 * that what is tried here looks the same against a real one. Never use it for anything but trying Coffer out.
 */
export function createDemoProvider(options: DemoProviderOptions): Server {
  const path = `/realms/${options.realm}`;
  const provider = new Provider(`${options.origin}${path}`, configuration(options, path));
  // The console's port is changed in the manifests: any port of this machine may be returned to, and nothing else.
  provider.Client.prototype.redirectUriAllowed = isLoopbackCallback;
  provider.Client.prototype.compareClientSecret = (actual) => timingSafeEqual(actual, options.clientSecret());
  provider.registerGrantType('password', (ctx) => passwordGrant(ctx, provider, options), [
    'username',
    'password',
    'scope',
  ]);
  provider.use(async (ctx, next) => {
    const refused = ctx.path === authorizationPath ? refusedScopes(ctx.query, options.clientId) : undefined;
    if (refused === undefined) await next();
    else ctx.redirect(refused);
  });
  const handle = provider.callback();
  return createServer((request, response) => {
    if (request.url?.startsWith(`${path}/`) !== true) return greet(response, `${options.origin}${path}`);
    // The provider is mounted below its issuer's path, as it would be in a framework.
    Object.assign(request, { originalUrl: request.url });
    request.url = request.url.slice(path.length);
    if (request.url.startsWith('/interaction/')) {
      handleLogin(provider, options.users, request, response).catch((error: unknown) => refuse(response, error));
      return;
    }
    void handle(request, response);
  });
}

function configuration(options: DemoProviderOptions, path: string): Configuration {
  return {
    clients: [
      {
        client_id: options.clientId,
        client_secret: options.clientSecret(),
        redirect_uris: ['http://127.0.0.1:9090/oauth_callback', 'http://localhost:9090/oauth_callback'],
        grant_types: ['authorization_code', 'refresh_token', 'password'],
        response_types: ['code'],
      },
    ],
    clientAuthMethods: ['client_secret_basic', 'client_secret_post'],
    scopes,
    claims: {
      openid: ['sub', 'policy', 'preferred_username'],
      email: ['email', 'email_verified'],
      profile: ['name', 'preferred_username'],
      policy: ['policy'],
    },
    // The console reads the policies from the ID token, as from Keycloak's.
    conformIdTokenClaims: false,
    jwks: options.jwks,
    cookies: { keys: [options.cookieKey] },
    features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: true } },
    interactions: { url: (_, interaction) => `${path}/interaction/${interaction.uid}` },
    routes: {
      authorization: authorizationPath,
      token: '/protocol/openid-connect/token',
      jwks: '/protocol/openid-connect/certs',
      userinfo: '/protocol/openid-connect/userinfo',
      end_session: '/protocol/openid-connect/logout',
    },
    pkce: { required: () => false },
    ttl: {
      AccessToken: tokenSeconds,
      IdToken: tokenSeconds,
      Session: tokenSeconds,
      Interaction: 600,
      Grant: tokenSeconds,
    },
    findAccount: (_, id) => account(options.users.find(({ name }) => name === id)),
    loadExistingGrant: grantEverything,
    extraTokenClaims: (_, token) => {
      const user = 'accountId' in token ? options.users.find(({ name }) => name === token.accountId) : undefined;
      return user && { policy: [...user.policy], preferred_username: user.name };
    },
    renderError: (ctx, out) => {
      ctx.type = 'text/plain';
      ctx.body = `Coffer demonstration identity provider: ${out.error}: ${out.error_description ?? ''}\n`;
    },
  };
}

function account(user: DemoUser | undefined) {
  if (user === undefined) return undefined;
  const { name, policy } = user;
  return {
    accountId: name,
    claims: () => ({
      sub: name,
      policy: [...policy],
      preferred_username: name,
      name: `${name} (demonstration)`,
      email: `${name}@example.com`,
      email_verified: true,
    }),
  };
}

/** Nobody is asked for consent: there is one client, and it is the reader's own. */
async function grantEverything(ctx: KoaContextWithOIDC) {
  const { client, session, provider } = ctx.oidc;
  if (client === undefined || session?.accountId === undefined) return undefined;
  const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
  grant.addOIDCScope(scopes.join(' '));
  await grant.save();
  return grant;
}

async function passwordGrant(ctx: KoaContextWithOIDC, provider: Provider, options: DemoProviderOptions): Promise<void> {
  const { client, params } = ctx.oidc;
  if (client === undefined) throw new errors.InvalidClient('no client');
  const user = authenticate(options.users, params?.['username'], params?.['password']);
  if (user === undefined) throw new errors.InvalidGrant('invalid user credentials');
  const asked = typeof params?.['scope'] === 'string' ? params['scope'].split(' ') : [];
  const unknown = unknownScopes(asked);
  if (unknown.length > 0) throw new errors.InvalidScope(`Invalid scopes: ${asked.join(' ')}`, unknown.join(' '));
  const scope = [...new Set(['openid', ...asked])].join(' ');
  const grant = new provider.Grant({ clientId: client.clientId, accountId: user.name });
  grant.addOIDCScope(scope);
  const grantId = await grant.save();
  const token = new provider.AccessToken({ accountId: user.name, client, grantId, gty: 'password', scope });
  token.resourceServer = new provider.ResourceServer(`${provider.issuer}/api`, {
    scope,
    audience: client.clientId,
    accessTokenFormat: 'jwt',
    accessTokenTTL: tokenSeconds,
    jwt: { sign: { alg: 'RS256' } },
  });
  ctx.body = {
    access_token: await token.save(),
    expires_in: tokenSeconds,
    token_type: 'Bearer',
    scope,
  };
}

function unknownScopes(asked: readonly string[]): readonly string[] {
  return asked.filter((name) => name !== '' && !scopes.includes(name));
}

/**
 * Keycloak ends a sign-in that asks for a scope which the client does not have; `oidc-provider` would leave the scope out. Returns the
 * address to which the browser is sent back.
 */
function refusedScopes(
  query: Readonly<Record<string, string | string[] | undefined>>,
  clientId: string,
): string | undefined {
  const { scope, state, redirect_uri: redirectUri, client_id: client } = query;
  if (typeof scope !== 'string' || unknownScopes(scope.split(' ')).length === 0) return undefined;
  if (client !== clientId || typeof redirectUri !== 'string' || !isLoopbackCallback(redirectUri)) return undefined;
  const back = new URL(redirectUri);
  back.searchParams.set('error', 'invalid_scope');
  back.searchParams.set('error_description', `Invalid scopes: ${scope}`);
  if (typeof state === 'string') back.searchParams.set('state', state);
  return back.href;
}

function isLoopbackCallback(uri: string): boolean {
  const url = URL.parse(uri);
  if (url === null || url.protocol !== 'http:' || url.pathname !== '/oauth_callback') return false;
  return ['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname) && url.search === '' && url.hash === '';
}

function greet(response: ServerResponse, issuer: string): void {
  response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' });
  response.end(`Coffer DEMONSTRATION identity provider, not for real use.\nIssuer: ${issuer}\n`);
}

function refuse(response: ServerResponse, error: unknown): void {
  if (response.headersSent) return;
  response.writeHead(400, { 'content-type': 'text/plain; charset=utf-8' });
  const message = error instanceof Error ? error.message : String(error);
  response.end(`This sign-in cannot go on (${message}): go back to the console and start again.\n`);
}
