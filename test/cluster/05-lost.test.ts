import { randomBytes } from 'node:crypto';
import { cp, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GetObjectCommand, ListBucketsCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { kubectl, Team } from '../support/cluster/team.ts';
import { until } from '../support/cluster/until.ts';
import { runCommand, tool } from '../support/process/run-command.ts';

// Keys, volumes and resources that are lost, restored or planted: nothing is made up for them, the condition says what to do, and
// doing it works.

const team = new Team('team-lost');
const where = ['--namespace', team.namespace];
const [server, keys] = ['demo-server', 'keys-key-service'];
const claims = { keys: `${keys}-keys`, data: `data-${server}-0` };
const object = { Bucket: 'sealed', Key: 'object' };
const content = randomBytes(64).toString('hex');

const keyService = (name = 'keys') =>
  team.object('coffer.dev/v1alpha1', 'KMSConfig', name, {
    spec: { imagePullPolicy: 'Never', keystore: { files: { size: '1Gi' } }, defaultKey: 'team-key' },
  });
const tenant = (spec: object = {}) => team.server({ identityProviders: [], ...spec });
const user = () =>
  team.object('coffer.dev/v1alpha1', 'User', 'app', {
    spec: { tenantRef: { name: 'demo' }, deletionPolicy: 'Retain' },
  });
const claim = (name: string) =>
  team.object('v1', 'PersistentVolumeClaim', name, {
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  });

const read = async () => {
  const { Body } = await (await team.rootClient()).send(new GetObjectCommand(object));
  return (await Body?.transformToString()) === content ? true : undefined;
};
const untilRead = () => until('the object', read, { otherwise: () => team.describe() });

/** The folder of this machine that is the volume of a claim, once there is one. */
const folderOf = (name: string) =>
  until(`a volume of ${name}`, async () => {
    const volume = (await team.get('persistentvolumeclaim', name))?.spec?.['volumeName'];
    return typeof volume === 'string' ? join(inject('clusterState'), 'volumes', volume) : undefined;
  });

/** Runs `coffer-store` as an administrator does. */
async function storeTool(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<void> {
  const program = fileURLToPath(new URL('../../bin/coffer-store.js', import.meta.url));
  const { code, stderr } = await runCommand(process.execPath, [program, ...args], { env });
  expect([code, stderr]).toEqual([0, expect.any(String)]);
}

const promotion = async () =>
  (await team.get('tenant', 'demo'))?.status?.conditions?.find(({ type }) => type === 'StorePromoted');

async function copyVolume(from: string, to: string): Promise<void> {
  for (const name of await readdir(to)) await rm(join(to, name), { recursive: true });
  await cp(from, to, { recursive: true });
  await runCommand('chown', ['--recursive', '65532:65532', to]);
}

/** Loses a claim with its volume: it goes when the pod that uses it does. */
async function lose(name: string, pod: string): Promise<string> {
  const [lost, uid] = [await folderOf(name), (await team.get('persistentvolumeclaim', name))?.metadata.uid];
  await kubectl.run(['delete', 'persistentvolumeclaim', name, ...where, '--wait=false']);
  await kubectl.run(['delete', 'pod', pod, ...where]);
  await until(`another claim ${name}`, async () => {
    const now = (await team.get('persistentvolumeclaim', name))?.metadata;
    if (now?.uid === uid && now?.deletionTimestamp !== undefined) {
      // The StatefulSet may have made the next pod before the claim was gone.
      await kubectl.attempt(['delete', 'pod', pod, ...where]);
    }
    return now !== undefined && now.uid !== uid ? true : undefined;
  });
  return lost;
}

async function stalled(kind: string, name: string, reason: string): Promise<string> {
  const message = await team.untilStalled(kind, name, reason);
  expect(message).not.toMatch(/delete/);
  return message;
}

/** Runs the command at the end of a message, as an administrator copies it. */
async function obey(message: string): Promise<void> {
  const command = /kubectl (annotate .*)$/.exec(message)?.[1] ?? '';
  await kubectl.run([...command.split(' '), ...where]);
}

const owners = async (name: string) =>
  (await team.get('persistentvolumeclaim', name))?.metadata as { readonly ownerReferences?: unknown };

beforeAll(async () => {
  await team.createNamespace();
  await kubectl.apply(keyService(), tenant(), user());
  await team.untilSettled();
  await team.createBucket(object.Bucket);
  const put = { ...object, Body: content, ServerSideEncryption: 'aws:kms' } as const;
  await (await team.rootClient()).send(new PutObjectCommand(put));
  await team.untilCondition('user', 'app', { status: 'True' });
  await until('the canaries and the ID of the store', async () => {
    const status = (await team.get('tenant', 'demo'))?.status;
    return Array.isArray(status?.['keys']) && status['deployment'] !== undefined ? true : undefined;
  });
});

describe('a lost claim of keys', () => {
  it('is not made up: the key service says which key is missing, and goes on once its keys are restored', async () => {
    const lost = await lose(claims.keys, `${keys}-0`);
    const message = await until('the missing key to be named', async () => {
      const found = (await team.get('kmsconfig', 'keys'))?.status?.conditions?.find(({ type }) => type === 'Ready');
      return found?.status === 'False' && found.message?.includes('not made anew') === true ? found.message : undefined;
    });
    expect(message).toContain('team-key');
    expect(await readdir(await folderOf(claims.keys))).not.toContain('team-key');
    await copyVolume(lost, await folderOf(claims.keys));
    await kubectl.run(['delete', 'pod', `${keys}-0`, ...where]);
    await team.untilSettled();
    expect(await untilRead()).toBe(true);
  });
});

describe('a lost volume of a lone server', () => {
  it('is not begun anew: the Tenant says so, and goes on with a snapshot that is restored as the guide says', async () => {
    // While the server runs, to a folder below its data.
    const { accessKeyId, secretAccessKey } = await team.rootCredentials();
    const credentials = { COFFER_ACCESS_KEY: accessKeyId, COFFER_SECRET_KEY: secretAccessKey };
    await storeTool(['snapshot', 'monday', '--server', await team.endpoint()], credentials);
    const lost = await lose(claims.data, `${server}-0`);
    expect(await stalled('tenant', 'demo', 'StoreReplaced')).toContain(
      'kubectl annotate tenants.coffer.dev demo --namespace ',
    );
    // The server refuses by itself: nothing is taken that would be lost with the mistake.
    await expect((await team.rootClient()).send(new ListBucketsCommand({}))).rejects.toThrow();
    await kubectl.apply(tenant({ hibernated: true }));
    await until('no pod of the server', async () => ((await team.pods(server)).length === 0 ? true : undefined));
    const folder = await folderOf(claims.data);
    for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true });
    await storeTool(['restore', join(lost, 'snapshots', 'monday'), folder]);
    await runCommand('chown', ['--recursive', '65532:65532', folder]);
    await kubectl.apply(tenant());
    await team.untilSettled();
    expect(await untilRead()).toBe(true);
  });

  it('acts for nobody once it is restored, until kubectl coffer promotes it', async () => {
    const condition = await until('the condition', promotion, { otherwise: () => team.describe() });
    expect(condition).toMatchObject({ status: 'False', reason: 'NotPromoted' });
    expect(condition.message).toMatch(/kubectl coffer promote tenant\/demo --namespace \S+$/);
    const plugins = await mkdtemp(join(tmpdir(), 'coffer-plugins-'));
    try {
      await symlink(
        fileURLToPath(new URL('../../bin/kubectl-coffer.js', import.meta.url)),
        join(plugins, 'kubectl-coffer'),
      );
      const { code, stderr } = await runCommand(
        tool('kubernetes/kubectl', 'kubernetes'),
        ['coffer', 'promote', 'tenant/demo', ...where],
        { env: { KUBECONFIG: kubectl.kubeconfig, PATH: `${plugins}:${process.env['PATH']}` } },
      );
      expect([code, stderr]).toEqual([0, '']);
    } finally {
      await rm(plugins, { recursive: true });
    }
    await until('the end of the condition', async () => ((await promotion()) === undefined ? true : undefined), {
      otherwise: () => team.describe(),
    });
    expect(await untilRead()).toBe(true);
  });
});

describe('a restore as Velero does it', () => {
  it('finds the claims and Secrets without their resources, proves them, and changes no key', async () => {
    const before = await team.get('secret', 'app-credentials');
    await kubectl.run(['delete', 'user/app', 'tenant/demo', ...where]);
    await kubectl.run(['delete', 'kmsconfig/keys', ...where]);
    await until('no pods', async () => ((await kubectl.list('pods', team.namespace)).length === 0 ? true : undefined));
    const { labels } = before?.metadata ?? {};
    const data = before?.data ?? {};
    await kubectl.apply(team.object('v1', 'Secret', 'app-credentials', { type: before?.['type'], data }, { labels }));
    await kubectl.apply(keyService(), tenant(), user());
    await team.untilSettled();
    await team.untilCondition('user', 'app', { status: 'True' });
    expect(await untilRead()).toBe(true);
    expect((await team.get('secret', 'app-credentials'))?.data).toEqual(data);
    expect((await owners(claims.keys)).ownerReferences).toBeUndefined();
  });
});

describe('a Secret of a User from an older backup', () => {
  it('changes no key by itself, and is taken by the line of the condition', async () => {
    const { labels } = (await team.get('secret', 'app-credentials'))?.metadata ?? {};
    const before = await team.get('secret', 'app-credentials');
    await kubectl.run(['delete', 'user/app', ...where]);
    const data: Readonly<Record<string, string>> = {
      ...before?.data,
      secretKey: Buffer.from('the key of an older backup').toString('base64'),
    };
    await kubectl.apply(team.object('v1', 'Secret', 'app-credentials', { type: before?.['type'], data }, { labels }));
    await kubectl.apply(user());
    const message = await stalled('user', 'app', 'CredentialsDiffer');
    expect((await team.get('secret', 'app-credentials'))?.data).toEqual(data);
    await obey(message);
    await team.untilCondition('user', 'app', { status: 'True' });
    const decode = (key: 'accessKey' | 'secretKey') => Buffer.from(data[key] ?? '', 'base64').toString('utf8');
    const credentials = { accessKeyId: decode('accessKey'), secretAccessKey: decode('secretKey') };
    const app = new S3Client({
      endpoint: await team.endpoint(),
      region: 'us-east-1',
      forcePathStyle: true,
      credentials,
    });
    // It has no policy: the signature counts.
    await expect(app.send(new GetObjectCommand(object))).rejects.toMatchObject({ name: 'AccessDenied' });
  });
});

describe('a restored claim of data without its mark', () => {
  it('is not taken for the data of the Tenant, until the store on it is accepted', async () => {
    const id = (await team.get('tenant', 'demo'))?.status?.['deployment'];
    expect((await team.get('persistentvolumeclaim', claims.data))?.metadata.annotations).toMatchObject({
      'coffer.dev/deployment': id,
    });
    await kubectl.run(['delete', 'tenant/demo', ...where]);
    await until('no pod of the server', async () => ((await team.pods(server)).length === 0 ? true : undefined));
    await kubectl.run(['annotate', 'persistentvolumeclaim', claims.data, 'coffer.dev/deployment-', ...where]);
    await kubectl.apply(tenant());
    const message = await stalled('tenant', 'demo', 'StoreNotProven');
    expect(message).toContain(claims.data);
    expect(/accept-store=(\S+)$/.exec(message)?.[1]).toBe(id);
    await expect((await team.rootClient()).send(new ListBucketsCommand({}))).rejects.toThrow();
    await obey(message);
    await team.untilSettled();
    expect(await untilRead()).toBe(true);
  });
});

describe('a planted claim of keys', () => {
  it('is left alone while it does not hold the keys, and nothing is started on it', async () => {
    await kubectl.apply(claim('planted-key-service-keys'), keyService('planted'));
    expect(await stalled('kmsconfig', 'planted', 'KeystoreNotProven')).toContain('planted-key-service-keys');
    expect(await team.get('statefulset', 'planted-key-service')).toBeUndefined();
    expect((await owners('planted-key-service-keys')).ownerReferences).toBeUndefined();
    await kubectl.run(['delete', 'kmsconfig/planted', ...where]);
  });
});

describe('an empty store', () => {
  it('is begun where its ID is accepted, once', async () => {
    await lose(claims.data, `${server}-0`);
    const message = await stalled('tenant', 'demo', 'StoreReplaced');
    const id = /accept-store=(\S+)$/.exec(message)?.[1];
    await obey(message);
    await team.untilSettled();
    expect((await team.get('tenant', 'demo'))?.status?.['deployment']).toBe(id);
    expect((await (await team.rootClient()).send(new ListBucketsCommand({}))).Buckets ?? []).toEqual([]);
  });
});
