import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nodeAddress } from '../support/cluster/start-cluster.ts';
import { kubectl, Team } from '../support/cluster/team.ts';
import { until } from '../support/cluster/until.ts';
import { runKeysvc } from '../support/server/keysvc-process.ts';
import { RealVault } from '../vault/real-vault.ts';

// A KMSConfig whose keys sealed data gets another vault, another prefix and other credentials: each is checked before a pod is touched.

const team = new Team('team-vault');
const where = ['--namespace', team.namespace];
const [server, keys] = ['demo-server', 'keys-key-service'];
const object = { Bucket: 'sealed', Key: 'object' };
const content = randomBytes(64).toString('hex');
const prefix = 'coffer';

interface Login {
  readonly roleId: string;
  readonly secretId: string;
}
interface Place {
  readonly vault: RealVault;
  readonly login: Login;
  /** Of the Secret with the login and the authority. */
  readonly secret: string;
}

let first: Place;
let second: Place;
let folder: string;

async function startVault(secret: string): Promise<Place> {
  const vault = await RealVault.start({ host: nodeAddress, program: 'openbao' });
  await vault.initialise();
  await vault.mount('v2');
  // As the guide gives them.
  await vault.setRules({ 'kv/data/*': ['create', 'read'], 'kv/metadata/*': ['read', 'list', 'delete'] });
  return { vault, login: await vault.appRole({}), secret };
}

const secretOf = ({ vault, login, secret }: Place) => [
  team.object('v1', 'Secret', secret, {
    type: 'coffer.dev/keystore',
    stringData: { role: login.roleId, secret: login.secretId },
  }),
  team.object('v1', 'ConfigMap', secret, { data: { 'ca.crt': vault.ca.certPem } }),
];

const keyService = ({ vault, secret }: Place, begin = prefix) =>
  team.keyService({
    keystore: {
      vault: {
        endpoint: vault.endpoint,
        version: 'v2',
        prefix: begin,
        caBundleFrom: { configMapKeyRef: { name: secret, key: 'ca.crt' } },
        approle: {
          roleIdSecretRef: { name: secret, key: 'role' },
          secretIdSecretRef: { name: secret, key: 'secret' },
        },
      },
    },
  });

/** The same place in the configuration of the key service, for the command of the guide. */
async function configurationOf({ vault, login, secret }: Place): Promise<string> {
  const file = join(folder, `${secret}.yml`);
  const approle = { id: login.roleId, secret: login.secretId };
  const { endpoint, caFile } = vault;
  const keystore = { vault: { endpoint, engine: 'kv', version: 'v2', prefix, approle, tls: { ca: caFile } } };
  await writeFile(file, JSON.stringify({ keystore }));
  return file;
}

async function readsObject(): Promise<boolean> {
  const { Body } = await (await team.rootClient()).send(new GetObjectCommand(object));
  return (await Body?.transformToString()) === content;
}

const instances = async () => [await team.instances(server), await team.instances(keys)];

/** A server that starts again has no key in memory. */
async function restart(workload: string): Promise<void> {
  const before = await team.podUids(workload);
  await kubectl.run(['delete', 'pod', `${workload}-0`, ...where]);
  await team.untilReplaced(workload, before);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-vaults-'));
  [first, second] = await Promise.all([startVault('vault-one'), startVault('vault-two')]);
  await team.createNamespace();
  await kubectl.apply(
    ...secretOf(first),
    ...secretOf(second),
    keyService(first),
    team.server({ identityProviders: [] }),
  );
  await team.untilSettled();
  await team.createBucket(object.Bucket);
  const put = { ...object, Body: content, ServerSideEncryption: 'aws:kms' } as const;
  await (await team.rootClient()).send(new PutObjectCommand(put));
  await until('the canaries', async () =>
    Array.isArray((await team.get('tenant', 'demo'))?.status?.['keys']) ? true : undefined,
  );
});

afterAll(async () => {
  await kubectl.run(['delete', 'tenant/demo', 'kmsconfig/keys', ...where]);
  await kubectl.run(['delete', 'namespace', team.namespace, '--timeout=120s']);
  await first?.vault.stop();
  await second?.vault.stop();
  await rm(folder, { recursive: true, force: true });
});

describe('another prefix in the same vault', () => {
  it('is not used: no key is made there, no pod is touched, and the condition says what to do', async () => {
    const before = await instances();
    await kubectl.apply(keyService(first, 'elsewhere'));
    const message = await team.untilStalled('kmsconfig', 'keys', 'KeystoreNotProven');
    expect(message).toContain('team-key');
    expect(message).toContain('put spec.keystore back');
    expect(await readsObject()).toBe(true);
    expect((await first.vault.call('GET', 'kv/metadata/elsewhere?list=true')).status).toBe(404);
    expect(await instances()).toEqual(before);
  });

  it('is forgotten when the former one is put back, and no pod is touched', async () => {
    const before = await instances();
    await kubectl.apply(keyService(first));
    await team.untilSettled();
    expect(await instances()).toEqual(before);
  });
});

describe('another secret ID that the vault does not know', () => {
  it('takes no pod out of the service, and counts once it is a right one', async () => {
    const before = await instances();
    const wrong: Place = { ...first, login: { ...first.login, secretId: 'none' } };
    await kubectl.apply(...secretOf(wrong));
    await team.untilStalled('kmsconfig', 'keys', 'KeystoreNotProven');
    expect(await readsObject()).toBe(true);
    expect(await instances()).toEqual(before);
    first = { ...first, login: await first.vault.appRole({}) };
    const replaced = await team.podUids(keys);
    await kubectl.apply(...secretOf(first));
    await team.untilReplaced(keys, replaced);
    expect(await readsObject()).toBe(true);
  });
});

describe('another vault', () => {
  it('is not used while it lacks the keys: no key is made there, no pod is touched', async () => {
    const before = await instances();
    await kubectl.apply(keyService(second));
    const message = await team.untilStalled('kmsconfig', 'keys', 'KeystoreNotProven');
    expect(message).toContain('team-key');
    expect(message).toContain('keysvc migrate');
    expect(await readsObject()).toBe(true);
    expect((await second.vault.call('GET', 'kv/metadata/?list=true')).status).toBe(404);
    expect(await instances()).toEqual(before);
  });

  it('is used once the keys were moved there as the condition says', async () => {
    const before = await team.podUids(keys);
    const files = [await configurationOf(first), await configurationOf(second)] as const;
    expect(await runKeysvc(['migrate', '--from', files[0], '--to', files[1]])).toMatchObject({ code: 0 });
    await team.untilReplaced(keys, before);
    // The former vault is not asked for anything any more.
    await first.vault.seal();
    await restart(keys);
    await restart(server);
    expect(await until('the object', async () => ((await readsObject()) ? true : undefined))).toBe(true);
  });
});
