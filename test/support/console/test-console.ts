import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { OpenIdProviderSettings } from '../../../platform/settings/server-settings.ts';
import { createAccess, policiesOf } from '../../../server/auth/access.ts';
import { configuredDirectory } from '../../../server/federation/ldap/configured-directory.ts';
import type { LdapDirectory } from '../../../server/federation/ldap/ldap-directory.ts';
import { ldapUserPolicies } from '../../../server/federation/ldap/ldap-user.ts';
import { createOpenIdProviders } from '../../../server/federation/openid-providers.ts';
import { createSourceFinder, type ProxySettings } from '../../../server/http/contract/source-address.ts';
import type { RequestEvents } from '../../../server/http/contract/request.ts';
import { createSessionAdmin } from '../../../server/process/session-admin.ts';
import { createSessionS3 } from '../../../server/process/session-s3.ts';
import type { Identities } from '../../../server/auth/identities/identities.ts';
import { openIdentities } from '../../../server/auth/identities/open-identities.ts';
import { ldapConfigurations, storedDirectory } from '../../../server/federation/configurations/ldap-configurations.ts';
import {
  openIdConfigurations,
  storedProviders,
} from '../../../server/federation/configurations/openid-configurations.ts';
import { storedConfigurations } from '../../../server/federation/configurations/stored-configurations.ts';
import { bucketAccess } from '../../../server/objects/buckets/bucket-access.ts';
import { sealedRecords } from '../../../server/encryption/sealed-records.ts';
import { testLayer, type TestLayer } from '../objects/test-layer.ts';
import { createAssumeRoleWithLdapIdentity } from '../../../server/sts/assume-role-with-ldap-identity.ts';
import { createAssumeRoleWithWebIdentity } from '../../../server/sts/assume-role-with-web-identity.ts';
import { createUsageReader } from '../../../server/observability/usage/usage-record.ts';
import { createConsole } from '../../../server/console/create-console.ts';
import type { ConsoleSettings, OperationsServices } from '../../../server/console/services.ts';
import { existingTags } from '../../../server/objects/attributes/existing-object.ts';

/** Lists everything and deletes below `mine/` only. */
const tidier = JSON.stringify({
  Version: '2012-10-17',
  Statement: [
    { Effect: 'Allow', Action: 's3:ListBucket', Resource: 'arn:aws:s3:::*' },
    { Effect: 'Allow', Action: 's3:DeleteObject', Resource: 'arn:aws:s3:::*/mine/*' },
  ],
});

interface SignInKeys {
  readonly accessKey: string;
  readonly secretKey: string;
  readonly sessionToken?: string;
}

export const rootKeys = { accessKey: 'root', secretKey: 'root-password' };

export interface TestConsoleOptions {
  readonly openid?: readonly (Partial<OpenIdProviderSettings> & { id: string; configUrl: string })[];
  readonly settings?: Partial<ConsoleSettings>;
  /** Instead of the one that is configured. */
  readonly directory?: Pick<LdapDirectory, 'authenticate'>;
  /** Stores of another console: a second replica, or the same one after a restart. */
  readonly stores?: TestLayer;
  readonly rootSecret?: string;
  /** What the pages about operations show; without it their calls do not exist. */
  readonly operations?: (stores: TestLayer) => OperationsServices;
  readonly events?: RequestEvents;
  /** Proxies whose word about the client is taken. */
  readonly proxies?: ProxySettings;
}

/** A console over the memory engines that listens on a port of its own, for tests. Time passes by `advance`. */
export class TestConsole {
  readonly url: string;
  readonly stores: TestLayer;
  readonly identities: Identities;
  readonly #server: Server;
  readonly #close: () => void;
  #skewMs = 0;

  private constructor(server: Server, stores: TestLayer, identities: Identities, close: () => void) {
    this.#server = server;
    this.identities = identities;
    this.stores = stores;
    this.#close = close;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(options: TestConsoleOptions = {}): Promise<TestConsole> {
    const stores = options.stores ?? testLayer();
    const clock = () => new Date(Date.now() + (self === undefined ? 0 : self.#skewMs));
    const server = createServer();
    let self: TestConsole | undefined;
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    const ownUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const records = sealedRecords({ records: stores.records, keys: stores.keys });
    await records.start();
    const root = { user: rootKeys.accessKey, password: options.rootSecret ?? rootKeys.secretKey };
    const identities = openIdentities({ records, rootUser: root.user, staleMs: 0, clock });
    await identities.putPolicy('tidier', tidier);
    const policies = policiesOf(identities);
    const access = createAccess({
      records,
      identities,
      bucketAccess: bucketAccess(stores.records),
      objectTags: existingTags({ records: stores.records }),
      objectAcl: () => Promise.resolve(undefined),
      clock,
      root,
    });
    const environment = (options.openid ?? []).map(providerSettings);
    const configurations = storedConfigurations(records, clock);
    const providers = createOpenIdProviders({
      settings: environment,
      stored: storedProviders(configurations),
      region: '',
      log: silent,
    });
    await providers.start();
    const { directory: double } = options;
    const stored = configuredDirectory({ stored: storedDirectory(configurations) });
    const directory = {
      ...stored,
      ...double,
      isConfigured: () => (double === undefined ? stored.isConfigured() : Promise.resolve(true)),
    };
    const assumeRoleWithLdapIdentity = createAssumeRoleWithLdapIdentity({ ...access, directory, clock });
    const assumeRoleWithWebIdentity = createAssumeRoleWithWebIdentity({
      providers,
      access,
      clock,
    });
    const administration = {
      access,
      identities,
      temporary: access.temporary,
      root: { user: root.user },
      objects: stores.layer,
      buckets: stores.layer,
      server: {
        deploymentId: 'D',
        version: '0.1.0',
        region: 'us-east-1',
        endpoint: '127.0.0.1:9000',
        dataFolder: '/data',
        startedAt: clock(),
      },
      usage: createUsageReader(stores.records),
      space: () => Promise.resolve({ free: 30, total: 100 }),
      identityProviders: [
        openIdConfigurations({
          stored: configurations,
          environment,
          region: '',
          policyExists: async (name) => (await identities.policy(name)) !== undefined,
          apply: () => providers.refresh(),
        }),
        ldapConfigurations({ stored: configurations, rights: ldapUserPolicies(identities) }),
      ],
      configurationHistory: configurations,
      clock,
    };
    server.on(
      'request',
      createConsole({
        objects: stores.layer,
        s3: createSessionS3({
          objects: stores.layer,
          access,
          region: 'us-east-1',
          clock,
        }),
        access,
        policies,
        providers,
        assumeRoleWithWebIdentity,
        directory,
        assumeRoleWithLdapIdentity,
        records,
        admin: createSessionAdmin(administration),
        ...(options.operations && { operations: options.operations(stores) }),
        administration,
        settings: {
          ownUrl,
          sessionDurationMs: 12 * 3_600_000,
          region: 'us-east-1',
          hasRegion: false,
          ...options.settings,
        },
        findSource: createSourceFinder(options.proxies),
        clock,
        log: silent,
        ...(options.events && { events: options.events }),
      }),
    );
    self = new TestConsole(server, stores, identities, () => providers.close());
    return self;
  }

  /** The express application itself. */
  get listener(): unknown {
    return this.#server.listeners('request')[0];
  }

  advance(ms: number): void {
    this.#skewMs += ms;
  }

  async close(): Promise<void> {
    this.#close();
    this.#server.closeAllConnections();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }
}

/** A browser as far as the API sees one: keeps cookies by origin, follows no redirect by itself. */
export class TestBrowser {
  readonly #cookies = new Map<string, string>();
  readonly base: string;

  constructor(base: string) {
    this.base = base;
  }

  cookie(name: string): string | undefined {
    return this.#cookies.get(name);
  }

  setCookie(name: string, value: string): void {
    this.#cookies.set(name, value);
  }

  async send(
    method: string,
    path: string,
    options: {
      readonly json?: unknown;
      readonly body?: string | Buffer;
      readonly headers?: Record<string, string>;
    } = {},
  ): Promise<Response> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(new URL(path, this.base), {
      method,
      redirect: 'manual',
      headers: {
        'x-coffer-console': '1',
        ...(cookie === '' ? {} : { cookie }),
        ...(options.json === undefined ? {} : { 'content-type': 'application/json' }),
        ...options.headers,
      },
      ...(options.json === undefined ? {} : { body: JSON.stringify(options.json) }),
      ...(options.body === undefined ? {} : { body: new Uint8Array(Buffer.from(options.body)) }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      const [name, value] = [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)];
      if (/max-age=0/i.test(line)) this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
    return response;
  }

  /** The form refuses other fields, such as those of a `RunningServer`. */
  async signIn({ accessKey, secretKey, sessionToken }: SignInKeys = rootKeys): Promise<Response> {
    return this.send('POST', '/api/sign-in', { json: { accessKey, secretKey, sessionToken } });
  }

  /** The whole way through single sign-on; answers the last response of the console. */
  async signInBy(provider: string, username: string, password: string, to = '/'): Promise<Response> {
    const begun = await this.send('GET', `/api/sign-in/${provider}?${new URLSearchParams({ to }).toString()}`);
    const back = await logIn(begun.headers.get('location') ?? '', username, password);
    return this.send('GET', back);
  }
}

/** Logs in at the test double's form; answers where it sends the browser. */
export async function logIn(authorizationUrl: string, username: string, password: string): Promise<string> {
  const answer = await fetch(authorizationUrl, {
    method: 'POST',
    body: new URLSearchParams({ username, password }),
    redirect: 'manual',
  });
  const location = answer.headers.get('location');
  if (location === null) throw new Error(`the provider did not redirect: ${answer.status} ${await answer.text()}`);
  return location;
}

function providerSettings(
  settings: Partial<OpenIdProviderSettings> & { id: string; configUrl: string },
): OpenIdProviderSettings {
  return {
    enabled: true,
    clientId: 'coffer',
    clientSecret: 'coffer-secret',
    scopes: [],
    claimName: 'policy',
    claimUserinfo: false,
    rolePolicy: [],
    redirectUriDynamic: false,
    realm: 'demo',
    ...settings,
  };
}

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
