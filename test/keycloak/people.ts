import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, connect, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ListBucketsCommand, PutObjectCommand, S3Client, CreateBucketCommand } from '@aws-sdk/client-s3';
import { AssumeRoleWithWebIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { freePort } from '../support/process/free-port.ts';
import { runCoffer } from '../support/server/run-coffer.ts';
import { startServer, type RunningServer } from '../support/server/start-server.ts';
import { adminCall } from './admin-call.ts';
import { realmAdmin, type RealmAdmin } from './keycloak-admin-console.ts';
import { keycloakAt, type KeycloakVersion } from './start-keycloak.ts';

/** Seconds between rounds of the check: long enough that what an on-demand check does is not a round's doing. */
const intervalSeconds = 20;

/** A way to Keycloak that can be cut, under one address. */
class Road {
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  readonly port: number;
  readonly target: number;

  constructor(port: number, target: number) {
    this.port = port;
    this.target = target;
  }

  async open(): Promise<void> {
    const server = createServer((socket) => {
      const there = connect(this.target, '127.0.0.1');
      for (const one of [socket, there]) {
        this.#sockets.add(one);
        one.on('error', () => undefined).on('close', () => this.#sockets.delete(one));
      }
      socket.pipe(there).pipe(socket);
    });
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
  }

  async cut(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => (this.#server === undefined ? resolve(undefined) : this.#server.close(resolve)));
  }
}

const list = (s3: S3Client) => s3.send(new ListBucketsCommand({}));
const kid = (token: string) => (JSON.parse(atob(token.split('.')[0] ?? '')) as { kid: string }).kid;

const realm = 'people';

/** The tests of one version: a file each, since most of their time is waiting. */
export function describePeople(version: KeycloakVersion): void {
  describe(`people of Keycloak ${version}, by the realm of examples/keycloak`, () => peopleOf(version));
}

function peopleOf(version: KeycloakVersion): void {
  const keycloak = keycloakAt(inject('keycloaks')[version], realm);
  let server: RunningServer;
  let admin: RealmAdmin;
  let road: Road;
  let issuer: string;

  const idp = (method: string, name: string, values?: string) =>
    adminCall(server, method, `/minio/admin/v3/idp-config/openid/${name}`, values);
  const check = async (user = '') =>
    JSON.parse((await adminCall(server, 'POST', `/minio/admin/coffer/v1/identity-check?user=${user}`)).text) as {
      checked: number;
      active: number;
      cutOff: { name: string; reason: string; temporaryCredentials: number; serviceAccounts: string[] }[];
      unreachable: { reason: string }[];
    };

  const anew = (comment: string, force = false) =>
    idp('POST', force ? 'PRIMARY_IAM?force=true' : 'PRIMARY_IAM', `comment=${comment}`);

  async function assume(token: string): Promise<S3Client> {
    const nobody = { accessKeyId: 'none', secretAccessKey: 'none' };
    const sts = new STSClient({ endpoint: server.s3, region: 'us-east-1', credentials: nobody, maxAttempts: 1 });
    const { Credentials } = await sts.send(
      new AssumeRoleWithWebIdentityCommand({
        RoleArn: 'arn:aws:iam::1:role/any',
        RoleSessionName: 'x',
        WebIdentityToken: token,
      }),
    );
    const credentials = {
      accessKeyId: Credentials?.AccessKeyId ?? '',
      secretAccessKey: Credentials?.SecretAccessKey ?? '',
      sessionToken: Credentials?.SessionToken ?? '',
    };
    return new S3Client({
      endpoint: server.s3,
      region: 'us-east-1',
      forcePathStyle: true,
      credentials,
      maxAttempts: 1,
    });
  }
  const tokenOf = (username: string) => keycloak.token(username, `${username}-password`);
  const person = async (username: string) => assume(await tokenOf(username));

  beforeAll(async () => {
    const port = await freePort();
    issuer = `http://127.0.0.1:${port}`;
    road = new Road(port, Number(new URL(keycloak.url).port));
    await road.open();
    admin = await realmAdmin(keycloak.url, realm);
    // Whatever address it is reached by, it calls itself by one.
    await admin.setFrontendUrl(issuer);
    server = await startServer({
      env: { SVC_IDENTITY_OPENID_CHECK_INTERVAL: `${intervalSeconds}s`, SVC_THREADS: '1' },
    });
    await server.untilLogged('"ready"');
  });

  afterAll(async () => {
    await server?.stop();
    await road?.cut();
  });

  it('takes the provider while it runs, as mc sends it', async () => {
    const values = [
      `config_url=${issuer}/realms/${realm}/.well-known/openid-configuration client_id=coffer`,
      `client_secret=${keycloak.clientSecret} display_name=Company sign-in scopes=openid,email`,
      `vendor=keycloak keycloak_admin_url=${issuer}/admin keycloak_realm=${realm}`,
    ];
    expect(await idp('PUT', 'PRIMARY_IAM', values.join(' '))).toMatchObject({ status: 200, applied: true });
    await server.untilLogged('OpenID provider PRIMARY_IAM is ready');
  });

  it('is walked by our client with the name and password of a person', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'coffer-walk-'));
    const coffer = (args: readonly string[], input?: string) =>
      runCoffer(['--config-dir', folder, ...args], input === undefined ? {} : { input });
    await coffer(['alias', 'set', 's', server.s3, server.accessKey, server.secretKey]);
    const walk = ['--json', 'idp', 'openid', 'test', 's', 'PRIMARY_IAM', '--user', 'alice'];
    const right = await coffer(walk, 'alice-password\n');
    const steps = right.stdout.toString().trim().split('\n');
    const walked = steps.map((line) => JSON.parse(line) as { step: string; outcome: string });
    expect(walked.map(({ step, outcome }) => `${step}: ${outcome}`).slice(-6)).toEqual([
      'Provider: ok',
      'Token: ok',
      'Checks: ok',
      'Claims: ok',
      'Policies: ok',
      'Admin check: ok',
    ]);
    expect(right.code).toBe(0);
    const wrong = await coffer(walk, 'not her password\n');
    expect(wrong.stdout.toString()).toMatch(/"step":"Token","outcome":"failed".*invalid_grant/);
    expect(wrong.code).toBe(1);
    await rm(folder, { recursive: true });
  });

  it('gives alice what her own attribute names', async () => {
    await (await person('alice')).send(new CreateBucketCommand({ Bucket: 'made-by-alice' }));
  });

  it('gives bob what both of his groups name, aggregated', async () => {
    const bob = await person('bob');
    await bob.send(new PutObjectCommand({ Bucket: 'made-by-alice', Key: 'by-bob', Body: 'x' }));
    expect((await list(bob)).Buckets?.map(({ Name }) => Name)).toEqual(['made-by-alice']);
  });

  it('tells carol which claim is missing', async () => {
    await expect(person('carol')).rejects.toThrow(/policy.*preferred_username/s);
  });

  it('cuts a disabled person off in under a second after a check on demand', async () => {
    let fastest = Infinity;
    // A machine that is busy elsewhere stretches it: one of three attempts has to show it.
    for (let attempt = 1; attempt <= 3 && fastest >= 1_000; attempt += 1) {
      const bob = await person('bob');
      const token = await tokenOf('bob');
      await list(bob);
      await admin.setEnabled('bob', false);
      const began = performance.now();
      const { cutOff } = await check('bob');
      await expect(list(bob)).rejects.toMatchObject({ name: 'InvalidAccessKeyId' });
      fastest = Math.min(fastest, performance.now() - began);
      expect(cutOff).toMatchObject([{ name: 'bob', reason: 'disabled' }]);
      // A token that he still has buys nothing either.
      await expect(assume(token)).rejects.toThrow('bob is disabled at the provider PRIMARY_IAM.');
      await admin.setEnabled('bob', true);
    }
    expect(fastest).toBeLessThan(1_000);
    await list(await person('bob'));
  });

  it('cuts a disabled person off within the interval by itself', async () => {
    const bob = await person('bob');
    await admin.setEnabled('bob', false);
    await vi.waitFor(() => expect(list(bob)).rejects.toMatchObject({ name: 'InvalidAccessKeyId' }), {
      timeout: (intervalSeconds + 5) * 1_000,
      interval: 500,
    });
    await admin.setEnabled('bob', true);
  }, 180_000);

  it('is told by the role admin, and by view-users alone; without either nobody is cut off', async () => {
    await person('alice');
    expect(await check()).toMatchObject({ unreachable: [] });
    // Tokens hold the roles of the moment they were made: a change of the configuration begins with a new one.
    await admin.setServiceAccountRoles(['view-users']);
    await anew('view-users');
    expect(await check('alice')).toMatchObject({ checked: 1, active: 1, unreachable: [] });
    await admin.setServiceAccountRoles([]);
    // What cannot look people up is saved only where the administrator insists.
    expect(await anew('nothing')).toMatchObject({ status: 400, text: expect.stringMatching(/view-users/) as string });
    await anew('nothing', true);
    const { cutOff, unreachable } = await check('alice');
    const rejected = [{ reason: expect.stringMatching(/403.*view-users/) as string }];
    expect({ cutOff, unreachable }).toMatchObject({ cutOff: [], unreachable: rejected });
    await admin.setServiceAccountRoles(['admin']);
    await anew('admin');
    expect(await check('alice')).toMatchObject({ active: 1 });
  });

  it('goes on with a key that Keycloak rotated to', async () => {
    const before = await tokenOf('alice');
    await admin.rotateKeys();
    const after = await tokenOf('alice');
    expect(kid(after)).not.toBe(kid(before));
    // Keys are read again at most every five seconds, and a test before this one may have made the server read them just now.
    const person = await vi.waitFor(() => assume(after), { timeout: 10_000, interval: 500 });
    await list(person);
    await list(await assume(before));
  });

  it('takes tokens that were fetched by another host name, since the issuer is the same', async () => {
    // `keycloak.token` asks the port behind the road: only the issuer is the configured one.
    expect(keycloak.url).not.toBe(issuer);
    const claims = JSON.parse(atob((await tokenOf('alice')).split('.')[1] ?? '')) as { iss: string };
    expect(claims.iss).toBe(`${issuer}/realms/${realm}`);
    await list(await person('alice'));
  });

  it('refuses the other host name as config_url, and says which issuer the document names', async () => {
    const values = `config_url=${keycloak.configUrl} client_id=other`;
    const { status, text } = await idp('PUT', 'other', values);
    expect({ status, text }).toMatchObject({
      status: 400,
      text: expect.stringContaining(`${issuer}/realms/${realm}`) as string,
    });
  });

  it('keeps everyone while Keycloak is away, and says so', async () => {
    const [alice, token] = [await person('alice'), await tokenOf('alice')];
    // What was heard of her a moment ago must not answer.
    await new Promise((resolve) => setTimeout(resolve, 5_100));
    await road.cut();
    await list(alice);
    expect(await check('alice')).toMatchObject({
      cutOff: [],
      unreachable: [{ reason: expect.stringMatching(/refused/) as string }],
    });
    await list(await assume(token));
    await road.open();
    expect(await check('alice')).toMatchObject({ active: 1 });
  });

  it('cuts off who was removed', async () => {
    const bob = await person('bob');
    await admin.remove('bob');
    expect((await check('bob')).cutOff).toMatchObject([{ name: 'bob', reason: 'gone' }]);
    await expect(list(bob)).rejects.toMatchObject({ name: 'InvalidAccessKeyId' });
  });

  it('has nothing secret in the log', () => {
    expect(server.log.join('\n')).not.toContain(keycloak.clientSecret);
  });
}
