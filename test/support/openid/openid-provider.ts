import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { JWTPayload } from 'jose';
import { DeviceLogins, deviceGrant, authorize } from './logins.ts';
import {
  newClient,
  newUser,
  type Fault,
  type FaultPoint,
  type Realm,
  type RealmClient,
  type RealmUser,
  ProviderKeys,
  type SigningAlgorithm,
} from './realm.ts';
import { OAuthError, grantFor, type Grant, type IssuedCode } from './token-endpoint.ts';

export type { Fault, FaultPoint, RealmClient, RealmUser } from './realm.ts';

interface OpenIdProviderOptions {
  /** 0, any, without it. */
  readonly port?: number;
  readonly realm?: string;
  readonly algorithm?: SigningAlgorithm;
  /** PEM; then the provider speaks https. */
  readonly tls?: { readonly key: string; readonly cert: string };
  readonly users?: readonly (Partial<RealmUser> & { username: string })[];
  /** `coffer` with the secret `coffer-secret` without it. */
  readonly clients?: readonly (Partial<RealmClient> & { id: string })[];
}

/**
 * A provider in this process, laid out as Keycloak (`/realms/R`, `/admin/realms/R/users/ID`), strict about clients, redirect
 * addresses, PKCE and bearer tokens. `realm` holds users, clients and faults, which tests change while it runs.
 */
export class OpenIdProviderDouble {
  /** The ID tokens of sign-outs, '' where one named none. */
  readonly signedOut: string[] = [];
  readonly realm: Realm;
  readonly keys: ProviderKeys;
  /** `METHOD /path` of every request, in order. */
  readonly requests: string[] = [];
  readonly issuer: string;
  readonly #server: Server;
  readonly #codes = new Map<string, IssuedCode>();
  readonly #refreshTokens = new Map<string, IssuedCode>();
  readonly #bearers = new Map<string, Grant>();
  readonly #deviceLogins = new DeviceLogins();

  private constructor(server: Server, issuer: string, realm: Realm, keys: ProviderKeys) {
    this.#server = server;
    this.issuer = issuer;
    this.realm = realm;
    this.keys = keys;
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.#serve(request, response).catch((error: unknown) => {
        sendJson(response, 500, { error: 'server_error', error_description: String(error) });
      });
    });
  }

  static async start(options: OpenIdProviderOptions = {}): Promise<OpenIdProviderDouble> {
    const keys = await ProviderKeys.create(options.algorithm ?? 'ES256');
    const users = (options.users ?? []).map(newUser);
    const clients = (options.clients ?? [{ id: 'coffer' }]).map(newClient);
    const realm: Realm = {
      users: new Map(users.map((user) => [user.id, user])),
      clients: new Map(clients.map((client) => [client.id, client])),
      faults: new Map(),
      discovery: {},
      tokenLifetime: 300,
      audienceInAccessToken: false,
      refreshTokens: false,
    };
    const server: Server = options.tls === undefined ? createServer() : createTlsServer(options.tls);
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(options.port ?? 0, '127.0.0.1', resolve);
    });
    const { port } = server.address() as AddressInfo;
    const scheme = options.tls === undefined ? 'http' : 'https';
    const issuer = `${scheme}://127.0.0.1:${port}/realms/${options.realm ?? 'demo'}`;
    return new OpenIdProviderDouble(server, issuer, realm, keys);
  }

  get configUrl(): string {
    return `${this.issuer}/.well-known/openid-configuration`;
  }

  /** Ends in `/admin`, as the setting wants it. */
  get adminUrl(): string {
    return `${new URL(this.issuer).origin}/admin`;
  }

  user(username: string): RealmUser {
    const user = [...this.realm.users.values()].find((known) => known.username === username);
    if (user === undefined) throw new Error(`the realm has no user ${username}`);
    return user;
  }

  addUser(user: Partial<RealmUser> & { username: string }): RealmUser {
    const added = newUser(user);
    this.realm.users.set(added.id, added);
    return added;
  }

  fail(point: FaultPoint, fault: Fault): void {
    this.realm.faults.set(point, fault);
  }

  /** Ends every access token given so far for userinfo and the admin interface, as a restart of the provider would. */
  forgetBearers(): void {
    this.#bearers.clear();
  }

  /** As a person does at the page for codes; false where no device shows this code. */
  enterCode(userCode: string, username: string): boolean {
    return this.#deviceLogins.enter(userCode, this.user(username));
  }

  /** Those that devices show now. */
  userCodes(): string[] {
    return this.#deviceLogins.userCodes();
  }

  heal(): void {
    this.realm.faults.clear();
    this.realm.discovery = {};
  }

  /** The access token that a password grant would give, without the round trip; `claims` replaces any of it. */
  accessToken(username: string, claims: JWTPayload = {}, clientId = 'coffer'): Promise<string> {
    const user = this.user(username);
    return this.keys.sign(defined({ ...this.#claims(user, clientId, 'Bearer'), ...claims }));
  }

  idToken(username: string, claims: JWTPayload = {}, clientId = 'coffer'): Promise<string> {
    const user = this.user(username);
    return this.keys.sign(defined({ ...this.#claims(user, clientId, 'ID'), ...claims }));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }

  #claims(user: RealmUser, clientId: string, typ: 'Bearer' | 'ID'): JWTPayload {
    const now = Math.floor(Date.now() / 1000);
    const audience = typ === 'ID' || this.realm.audienceInAccessToken ? clientId : 'account';
    return {
      iss: this.issuer,
      sub: user.id,
      aud: audience,
      azp: clientId,
      typ,
      iat: now + Math.min(0, this.realm.tokenLifetime - 1),
      exp: now + this.realm.tokenLifetime,
      preferred_username: user.username,
      ...user.claims,
    };
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.issuer);
    this.requests.push(`${request.method} ${url.pathname}`);
    const base = new URL(this.issuer).pathname;
    const path = url.pathname.startsWith(`${base}/`) ? url.pathname.slice(base.length) : `!${url.pathname}`;
    const oidc = '/protocol/openid-connect';
    if (path === '/.well-known/openid-configuration') {
      return this.#unless('discovery', response, () => sendJson(response, 200, this.#discoveryDocument()));
    }
    if (path === `${oidc}/certs`) {
      return this.#unless('jwks', response, () => sendJson(response, 200, this.keys.published));
    }
    const form = request.method === 'POST' ? new URLSearchParams(await readText(request)) : undefined;
    if (path === `${oidc}/token`) return this.#unless('token', response, () => this.#token(request, response, form));
    if (path === `${oidc}/auth/device`) return this.#beginDeviceLogin(request, response, form);
    if (path === `${oidc}/auth`) return this.#login(url, response, form);
    if (path === `${oidc}/userinfo`) return this.#unless('userinfo', response, () => this.#userinfo(request, response));
    if (path === `${oidc}/logout`) return this.#logout(url, response);
    const admin = `!/admin${base}/users/`;
    if (`${path}/` === admin) return this.#unless('admin', response, () => this.#adminUsers(request, response));
    if (path.startsWith(admin)) {
      return this.#unless('admin', response, () => this.#adminUser(request, response, path.slice(admin.length)));
    }
    return sendJson(response, 404, { error: 'Not found' });
  }

  async #unless(point: FaultPoint, response: ServerResponse, serve: () => void | Promise<void>): Promise<void> {
    const fault = this.realm.faults.get(point);
    switch (fault?.kind) {
      case undefined:
        return serve();
      case 'hang':
        return undefined;
      case 'half-open':
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
        response.write('{"half":', () => response.destroy());
        return undefined;
      case 'status':
        response.writeHead(fault.status, { 'content-type': 'application/json', ...fault.headers });
        response.end(fault.body ?? '{}');
        return undefined;
      case 'body':
        response.writeHead(200, { 'content-type': 'application/json' }).end(fault.body);
        return undefined;
    }
  }

  /** Sends the browser back to an address that a client registered, as providers do. */
  #logout(url: URL, response: ServerResponse): void {
    const back = url.searchParams.get('post_logout_redirect_uri');
    const known = back !== null && [...this.realm.clients.values()].some((one) => one.redirectUris.includes(back));
    this.signedOut.push(url.searchParams.get('id_token_hint') ?? '');
    if (known) response.writeHead(302, { location: back }).end();
    else sendHtml(response, 200, '<!doctype html><p id="message">Signed out.</p>');
  }

  #discoveryDocument(): Record<string, unknown> {
    const oidc = `${this.issuer}/protocol/openid-connect`;
    return defined({
      issuer: this.issuer,
      authorization_endpoint: `${oidc}/auth`,
      token_endpoint: `${oidc}/token`,
      device_authorization_endpoint: `${oidc}/auth/device`,
      userinfo_endpoint: `${oidc}/userinfo`,
      end_session_endpoint: `${oidc}/logout`,
      jwks_uri: `${oidc}/certs`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256', 'ES256'],
      scopes_supported: ['openid', 'email', 'profile'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
      code_challenge_methods_supported: ['S256'],
      ...this.realm.discovery,
    });
  }

  #beginDeviceLogin(request: IncomingMessage, response: ServerResponse, form = new URLSearchParams()): void {
    try {
      sendJson(response, 200, this.#deviceLogins.begin(this.realm, this.issuer, request.headers, form));
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error;
      sendJson(response, error.status, { error: error.error, error_description: error.message });
    }
  }

  async #token(request: IncomingMessage, response: ServerResponse, form: URLSearchParams | undefined): Promise<void> {
    try {
      if (form === undefined || !/^application\/x-www-form-urlencoded\b/.test(request.headers['content-type'] ?? '')) {
        throw new OAuthError(400, 'invalid_request', 'The token endpoint takes a POSTed form');
      }
      const grant =
        deviceGrant(this.realm, this.#deviceLogins, request.headers, form) ??
        grantFor(this.realm, this.#codes, this.#refreshTokens, request.headers, form);
      const accessToken = await this.#accessTokenFor(grant);
      this.#bearers.set(accessToken, grant);
      const idToken =
        grant.kind === 'user' && grant.scope.split(' ').includes('openid')
          ? { id_token: await this.idToken(grant.user.username, { nonce: grant.nonce }, grant.client.id) }
          : {};
      sendJson(response, 200, {
        access_token: accessToken,
        expires_in: this.realm.tokenLifetime,
        token_type: 'Bearer',
        ...idToken,
        ...this.#refreshToken(grant),
      });
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error;
      // RFC 6749, 5.2: who authenticated by the header is challenged for it.
      if (error.status === 401 && request.headers.authorization !== undefined)
        response.setHeader('www-authenticate', 'Basic realm="demo"');
      sendJson(response, error.status, { error: error.error, error_description: error.message });
    }
  }

  #refreshToken(grant: Grant): { refresh_token?: string } {
    if (grant.kind !== 'user' || !grant.interactive || !this.realm.refreshTokens) return {};
    const token = randomUUID();
    const { user, client, scope } = grant;
    this.#refreshTokens.set(token, { userId: user.id, clientId: client.id, redirectUri: '', scope });
    return { refresh_token: token };
  }

  #accessTokenFor(grant: Grant): Promise<string> {
    if (grant.kind === 'user') return this.accessToken(grant.user.username, {}, grant.client.id);
    const now = Math.floor(Date.now() / 1000);
    return this.keys.sign({
      iss: this.issuer,
      sub: `service-account-${grant.client.id}`,
      azp: grant.client.id,
      iat: now,
      exp: now + this.realm.tokenLifetime,
    });
  }

  #login(url: URL, response: ServerResponse, form: URLSearchParams | undefined): void {
    const answer = authorize(this.realm, this.#codes, url.searchParams, form);
    if (answer.kind === 'page') return sendHtml(response, answer.status, answer.html);
    response.writeHead(302, { location: answer.location }).end();
  }

  #userinfo(request: IncomingMessage, response: ServerResponse): void {
    const grant = this.#bearer(request);
    if (grant?.kind !== 'user') return sendJson(response, 401, { error: 'invalid_token' });
    const { user } = grant;
    sendJson(response, 200, { sub: user.id, preferred_username: user.username, ...user.claims });
  }

  #adminUser(request: IncomingMessage, response: ServerResponse, id: string): void {
    if (this.#refusedAtAdmin(request, response)) return;
    const user = this.realm.users.get(decodeURIComponent(id));
    if (user === undefined) return sendJson(response, 404, { error: 'User not found' });
    const attributes = { policy: user.claims['policy'] };
    sendJson(response, 200, { id, username: user.username, enabled: user.enabled, emailVerified: true, attributes });
  }

  #adminUsers(request: IncomingMessage, response: ServerResponse): void {
    if (this.#refusedAtAdmin(request, response)) return;
    sendJson(
      response,
      200,
      [...this.realm.users.values()].slice(0, 1).map(({ id, username, enabled }) => ({ id, username, enabled })),
    );
  }

  #refusedAtAdmin(request: IncomingMessage, response: ServerResponse): boolean {
    const grant = this.#bearer(request);
    if (grant === undefined) sendJson(response, 401, { error: 'HTTP 401 Unauthorized' });
    else if (grant.kind !== 'service-account' || !grant.client.mayViewUsers) {
      sendJson(response, 403, { error: 'HTTP 403 Forbidden' });
    } else return false;
    return true;
  }

  #bearer(request: IncomingMessage): Grant | undefined {
    const token = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '')?.[1];
    const grant = token === undefined ? undefined : this.#bearers.get(token);
    return this.realm.tokenLifetime <= 0 ? undefined : grant;
  }
}

/** Starts a provider on a free port of 127.0.0.1. */
export function startOpenIdProvider(options: OpenIdProviderOptions = {}): Promise<OpenIdProviderDouble> {
  return OpenIdProviderDouble.start(options);
}

function defined(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined));
}

async function readText(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return text;
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(JSON.stringify(body));
}

function sendHtml(response: ServerResponse, status: number, html: string): void {
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' }).end(html);
}
