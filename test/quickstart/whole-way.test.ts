import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  CreateBucketCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutBucketEncryptionCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { AssumeRoleWithWebIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { eventually, QuickStart } from './quick-start.ts';

// Item 1 of the first issue: one command brings up a tenant from three custom resources, everything real.

const quick = new QuickStart();
const marker = 'plaintext-that-must-not-reach-the-disk';
const patience = 180_000;

beforeAll(async () => {
  await quick.prepare();
  quick.run();
  await ready();
}, 270_000);
afterAll(() => quick.cleanUp(), patience);

function ready(): Promise<void> {
  return eventually(
    'the table',
    () => quick.output.includes('Coffer is ready'),
    () => quick.output,
    patience,
  );
}

function client(credentials?: { accessKeyId: string; secretAccessKey: string; sessionToken?: string }): S3Client {
  return new S3Client({
    endpoint: `http://127.0.0.1:${quick.ports.s3}`,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: credentials ?? { accessKeyId: 'admin', secretAccessKey: quick.rootPassword },
  });
}

async function credentialsOf(user: string, password = quick.password(user)): Promise<S3Client> {
  const secret = readFileSync(join(quick.state, 'secrets/primary-iam-client/client-secret'), 'utf8').trim();
  const url = `http://127.0.0.1:${quick.ports.demo}/realms/demo/protocol/openid-connect/token`;
  const body = new URLSearchParams({
    grant_type: 'password',
    client_id: 'coffer',
    client_secret: secret,
    username: user,
    password,
  });
  const token = (await (await fetch(url, { method: 'POST', body })).json()) as { access_token?: string };
  const sts = new STSClient({
    endpoint: `http://127.0.0.1:${quick.ports.s3}`,
    region: 'us-east-1',
    credentials: { accessKeyId: 'x', secretAccessKey: 'x' },
  });
  const { Credentials: bought } = await sts.send(
    new AssumeRoleWithWebIdentityCommand({
      RoleArn: undefined,
      RoleSessionName: user,
      WebIdentityToken: token.access_token,
      DurationSeconds: 900,
    }),
  );
  return client({
    accessKeyId: bought?.AccessKeyId ?? '',
    secretAccessKey: bought?.SecretAccessKey ?? '',
    sessionToken: bought?.SessionToken ?? '',
  });
}

/** Resolves when the server has restarted once more for this reason, and serves again. */
async function restartedOnce(before: readonly string[], pid: number, reason: string): Promise<void> {
  const seen = () => `${quick.output}\n${JSON.stringify(quick.restarts())}`;
  await eventually(reason, () => quick.restarts().length > before.length, seen);
  await newServer(pid);
  await eventually('a status that says so', serving, seen);
  expect(quick.restarts().slice(before.length)).toEqual([reason]);
}

/** Waits for another process and asks it: the status may still be the one of the server before. */
async function newServer(pid: number): Promise<void> {
  await eventually(
    'a new process',
    () => quick.pid('demo-server') !== pid,
    () => quick.output,
  );
  const url = `http://127.0.0.1:${quick.ports.s3}/minio/health/ready`;
  await vi.waitFor(async () => expect((await fetch(url)).status).toBe(200), patience);
}

function serving(): boolean {
  return quick.status('tenant-demo').status.servers === '1/1';
}

describe('npm start', () => {
  it('prints addresses, the root user, where the password is, and what to try', () => {
    const { s3, console, keys, demo } = quick.ports;
    for (const expected of [
      `http://127.0.0.1:${s3}`,
      `http://127.0.0.1:${console}`,
      `https://127.0.0.1:${keys}`,
      `http://127.0.0.1:${demo}/realms/demo  (DEMONSTRATION`,
      'secrets/demo-root-credentials/rootPassword',
      'node bin/coffer.js alias set demo',
    ]) {
      expect(quick.output).toContain(expected);
    }
  });

  it('keeps every secret in files that only their owner may read', () => {
    const open = walk(join(quick.state, 'secrets'))
      .concat(walk(join(quick.state, 'workloads')), walk(join(quick.state, 'certificates')))
      .filter((path) => (statSync(path).mode & 0o077) !== 0);
    expect(open).toEqual([]);
  });

  it('prints no secret but the passwords of the demonstration', () => {
    expect(quick.output).not.toContain(quick.rootPassword);
  });

  it('gives no secret to the command line or the environment of the server', () => {
    const pid = quick.pid('demo-server');
    const seen = ['cmdline', 'environ'].map((file) => readFileSync(`/proc/${pid}/${file}`, 'utf8')).join('');
    expect(seen).not.toContain(quick.rootPassword);
  });

  it('says on a second start that the state folder is in use, and by whom', async () => {
    const second = new QuickStart();
    Object.assign(second, { state: quick.state, manifests: quick.manifests });
    second.run();
    expect(await second.ended).toBe(1);
    expect(second.output).toMatch(/is in use by process \d+: stop it, or name another folder with --state/);
  });
});

describe('an object in a bucket with default encryption SSE-KMS', () => {
  it('comes back as it was, says its key, and is nowhere on disk in plain', async () => {
    const s3 = client();
    await s3.send(new CreateBucketCommand({ Bucket: 'first' }));
    const rule = {
      ApplyServerSideEncryptionByDefault: { SSEAlgorithm: 'aws:kms', KMSMasterKeyID: 'demo-default' },
    } as const;
    await s3.send(
      new PutBucketEncryptionCommand({ Bucket: 'first', ServerSideEncryptionConfiguration: { Rules: [rule] } }),
    );
    for (const [key, body] of [
      ['small', marker],
      ['large', `${marker} `.repeat(50_000)],
      ['empty', ''],
    ] as const) {
      await s3.send(new PutObjectCommand({ Bucket: 'first', Key: key, Body: body, Metadata: { note: 'kept' } }));
      const got = await s3.send(new GetObjectCommand({ Bucket: 'first', Key: key }));
      expect(await got.Body?.transformToString()).toBe(body);
    }
    const head = await s3.send(new HeadObjectCommand({ Bucket: 'first', Key: 'small' }));
    expect(head).toMatchObject({
      ServerSideEncryption: 'aws:kms',
      SSEKMSKeyId: expect.stringContaining('demo-default'),
    });
    const leaks = walk(quick.state).filter((path) => readFileSync(path).includes(marker));
    expect(leaks).toEqual([]);
  });
});

describe('credentials bought with a token of the demonstration provider', () => {
  it('let bob read, since his policy is readonly, and not write', async () => {
    const bob = await credentialsOf('bob');
    const got = await bob.send(new GetObjectCommand({ Bucket: 'first', Key: 'small' }));
    expect(await got.Body?.transformToString()).toBe(marker);
    await expect(bob.send(new PutObjectCommand({ Bucket: 'first', Key: 'b', Body: 'b' }))).rejects.toMatchObject({
      name: 'AccessDenied',
    });
  });
  it('let bob open the bucket of the demonstration, and change what is below his name', async () => {
    const bob = await credentialsOf('bob');
    const keys = async () => {
      const listed = bob.send(new ListObjectsV2Command({ Bucket: 'team-notes' }));
      return ((await listed.catch(() => ({ Contents: [] }))).Contents ?? []).map(({ Key }) => Key);
    };
    await expect.poll(keys, { timeout: patience }).toEqual(['alice/plan.md', 'bob/todo.md', 'welcome.md']);
    await bob.send(new PutObjectCommand({ Bucket: 'team-notes', Key: 'bob/new.md', Body: 'new' }));
    const other = bob.send(new PutObjectCommand({ Bucket: 'team-notes', Key: 'alice/new.md', Body: 'new' }));
    await expect(other).rejects.toMatchObject({ name: 'AccessDenied' });
  });
  it('let alice write and list, since her policy is consoleAdmin', async () => {
    const alice = await credentialsOf('alice');
    await alice.send(new PutObjectCommand({ Bucket: 'first', Key: 'from-alice', Body: 'a' }));
    const { Contents } = await alice.send(new ListObjectsV2Command({ Bucket: 'first', Prefix: 'from-' }));
    expect(Contents?.map(({ Key }) => Key)).toEqual(['from-alice']);
  });
});

describe('a change of the IdentityProvider', () => {
  it(
    'restarts the server once for two edits made together, and names the field',
    async () => {
      const [before, pid] = [quick.restarts(), quick.pid('demo-server')];
      quick.edit('identity-provider.yaml', (text) => text.replace('Demonstration single sign-on', 'First edit'));
      quick.edit('identity-provider.yaml', (text) => text.replace('First edit', 'Sign in for the demonstration'));
      await restartedOnce(
        before,
        pid,
        'IdentityProviderChanged: restarts for spec.displayName of IdentityProvider primary-iam',
      );
    },
    patience,
  );

  it(
    'in its Secret restarts the server once, and names Secret and key',
    async () => {
      const [before, pid] = [quick.restarts(), quick.pid('demo-server')];
      writeFileSync(join(quick.state, 'secrets/primary-iam-client/client-secret'), 'rotated-by-the-test\n');
      await restartedOnce(before, pid, 'SecretChanged: restarts for key client-secret of Secret primary-iam-client');
    },
    patience,
  );

  it(
    'that breaks configUrl leaves the server alone and shows why; the repair heals it',
    async () => {
      const [before, pid] = [quick.restarts(), quick.pid('demo-server')];
      quick.edit('identity-provider.yaml', (text) => text.replace('/realms/demo/', '/realms/gone/'));
      const seen = () => quick.output;
      await eventually(
        'the condition',
        () => quick.condition('identityprovider-primary-iam', 'Ready')?.reason === 'NotFound',
        seen,
      );
      await eventually(
        'the tenant tells',
        () => quick.condition('tenant-demo', 'IdentityReady')?.status === 'False',
        seen,
      );
      expect(quick.condition('tenant-demo', 'IdentityReady')?.message).toContain('answered 404');
      expect([quick.pid('demo-server'), quick.restarts()]).toEqual([pid, before]);
      const alice = await credentialsOf('alice');
      await alice.send(new HeadObjectCommand({ Bucket: 'first', Key: 'small' }));
      quick.edit('identity-provider.yaml', (text) => text.replace('/realms/gone/', '/realms/demo/'));
      await eventually('the repair', () => quick.condition('tenant-demo', 'Ready')?.status === 'True', seen);
      expect([quick.pid('demo-server'), quick.restarts()]).toEqual([pid, before]);
    },
    patience,
  );

  it(
    'that is no YAML leaves everything as it is and names file and line',
    async () => {
      const pid = quick.pid('demo-server');
      quick.edit('identity-provider.yaml', (text) => `${text}\n  broken: [`);
      await eventually(
        'the message',
        () => /identity-provider\.yaml:\d+: /.test(quick.output),
        () => quick.output,
      );
      expect(quick.pid('demo-server')).toBe(pid);
      quick.edit('identity-provider.yaml', (text) => text.replace('\n  broken: [', ''));
    },
    patience,
  );
});

describe('what dies', () => {
  it(
    'is started again when it is the server, killed',
    async () => {
      const pid = quick.pid('demo-server');
      process.kill(pid, 'SIGKILL');
      const seen = () => quick.output;
      await newServer(pid);
      await eventually('the event', () => quick.output.includes('demo-server ended by itself: signal SIGKILL'), seen);
      const got = await client().send(new GetObjectCommand({ Bucket: 'first', Key: 'small' }));
      expect(await got.Body?.transformToString()).toBe(marker);
    },
    patience,
  );

  it('is everything when the operator is killed, and the next start finds the data', async () => {
    const pids = [quick.pid('demo-server'), quick.pid('keys-key-service')];
    await quick.stop('SIGKILL');
    await eventually(
      'the end of its programs',
      () => pids.every((pid) => !isAlive(pid)),
      () => pids.join(),
    );
    quick.run();
    await ready();
    const got = await client().send(new GetObjectCommand({ Bucket: 'first', Key: 'small' }));
    expect(await got.Body?.transformToString()).toBe(marker);
  }, 270_000);

  it(
    'is everything, in order, on Ctrl-C',
    async () => {
      const pids = [quick.pid('demo-server'), quick.pid('keys-key-service')];
      expect(await quick.stop('SIGINT')).toBe(0);
      expect(pids.filter(isAlive)).toEqual([]);
      expect(quick.condition('tenant-demo', 'Ready')?.reason).toBe('Stopped');
    },
    patience,
  );
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.startsWith('Z') === false;
  } catch {
    return false;
  }
}

function walk(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
