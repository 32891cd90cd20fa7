import { randomBytes } from 'node:crypto';
import { cp, mkdir, readdir, rename } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { runCommand } from '../support/process/run-command.ts';
import { kubectl, Team } from '../support/cluster/team.ts';
import { until } from '../support/cluster/until.ts';

// The tenant and the key service of 01-install. 06-removal needs no more of them than their namespace.
const team = new Team('team-one');
const [server, keys, other] = ['demo-server', 'keys-key-service', 'other-key-service'];
const object = { Bucket: 'sealed', Key: 'object' };
const content = randomBytes(64).toString('hex');
// A move and a return take two rollouts: the nightly run tries them.
const isLong = process.env['COFFER_LONG'] !== undefined;

const keyService = (name: string, defaultKey = 'team-key') =>
  team.object('coffer.dev/v1alpha1', 'KMSConfig', name, {
    spec: {
      imagePullPolicy: 'Never',
      keystore: { files: { size: '1Gi' } },
      defaultKey,
      reclaimPolicy: 'Delete',
      replicas: 2,
      // Short, so that an outage of the keystore is met at once, and then hidden by the keys in memory.
      cache: { any: '2s', unused: '2s', offline: '1h' },
    },
  });
const tenantOn = (name: string, spec: object = {}) =>
  team.server({ kmsConfigRef: { name, defaultKey: 'team-key' }, ...spec });
/** The KMSConfig that holds the keys of the tenant. */
let used = 'keys';

async function readsObject(): Promise<boolean> {
  const { Body } = await (await team.rootClient()).send(new GetObjectCommand(object));
  return (await Body?.transformToString()) === content;
}

/** The folder of this machine that is the volume of a key service. */
async function keysOf(workload: string): Promise<string> {
  const claim = await team.get('persistentvolumeclaim', `${workload}-keys`);
  return `${inject('clusterState')}/volumes/${String(claim?.spec?.['volumeName'])}`;
}

function untilGone(kind: string, name: string): Promise<true> {
  return until(
    `${kind}/${name} to be gone`,
    async () => ((await team.get(kind, name)) === undefined ? true : undefined),
    { otherwise: () => team.describe() },
  );
}

beforeAll(async () => {
  await team.commitAll();
  await kubectl.apply(keyService('keys'), keyService('other', 'other-key'), tenantOn('keys'));
  await team.untilSettled();
  await team.createBucket(object.Bucket);
  await (
    await team.rootClient()
  ).send(new PutObjectCommand({ ...object, Body: content, ServerSideEncryption: 'aws:kms' }));
});

describe('a kmsConfigRef that names another key service', () => {
  it('is refused while that lacks the keys: no pod is touched, and the objects are read', async () => {
    const before = [await team.instances(server), await team.instances(keys)];
    await kubectl.apply(tenantOn('other'));
    await until('the missing key to be named', async () =>
      (await team.untilStalled('tenant', 'demo', 'KeysNotProven')).includes('it lacks team-key') ? true : undefined,
    );
    expect(await readsObject()).toBe(true);
    expect([await team.instances(server), await team.instances(keys)]).toEqual(before);
  });

  it.runIf(isLong)('is taken by one restart once that holds them', async () => {
    const before = await team.podUids(server);
    const [from, to] = [await keysOf(keys), await keysOf(other)];
    await cp(`${from}/team-key`, `${to}/team-key`);
    await runCommand('chown', ['--recursive', '65532:65532', to]);
    // The operator asks again every 30 s, and at each change of the Tenant.
    await kubectl.run(['annotate', 'tenant/demo', 'example.com/keys=copied', '--namespace', team.namespace]);
    await team.untilReplaced(server, before);
    used = 'other';
    expect(await readsObject()).toBe(true);
  });

  it.runIf(!isLong)('is forgotten when it names the former one again, and no pod is touched', async () => {
    const before = await team.instances(server);
    await kubectl.apply(tenantOn('keys'));
    await team.untilSettled();
    expect(await team.instances(server)).toEqual(before);
  });
});

describe('what the API server refuses of a rendered pod', () => {
  it('is told with its words, and no pod is touched', async () => {
    const before = await team.instances(server);
    await kubectl.apply(tenantOn(used, { tolerations: [{ key: 'example.com/any', operator: 'Nope' }] }));
    expect(await team.untilStalled('tenant', 'demo', 'ObjectRefused')).toContain('Nope');
    expect(await team.instances(server)).toEqual(before);
    await kubectl.apply(tenantOn(used));
    await team.untilSettled();
    expect(await team.instances(server)).toEqual(before);
  });
});

describe('a hand edit of a StatefulSet', () => {
  it('is put back before any pod starts with it, and told', async () => {
    const before = await team.instances(server);
    await kubectl.run(['set', 'env', 'statefulset/demo-server', 'BY_HAND=1', '--namespace', team.namespace]);
    await until('the variable to be gone', async () =>
      JSON.stringify((await team.get('statefulset', server))?.spec).includes('BY_HAND') ? undefined : true,
    );
    await until('the event', async () => ((await team.said('Tenant')).includes('Drift: put back') ? true : undefined));
    await team.untilSettled();
    expect(await team.instances(server)).toEqual(before);
  });
});

/** Moves what is in a folder, as the loss of a mount does: the folder itself is mounted into the pods. */
async function moveAll(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const name of await readdir(from)) await rename(`${from}/${name}`, `${to}/${name}`);
}

describe('a keystore that is cut off', () => {
  const cutOffMs = isLong ? 600_000 : 30_000;

  it(
    'is a condition, takes no pod out of the service, and no object is refused for good',
    async () => {
      const workload = `${used}-key-service`;
      const before = [await team.instances(server), await team.instances(workload)];
      expect(await readsObject()).toBe(true);
      const folder = await keysOf(workload);
      await moveAll(folder, `${folder}-away`);
      try {
        await team.untilCondition('kmsconfig', used, { type: 'KeyStoreUnavailable', status: 'True' });
        for (const end = Date.now() + cutOffMs; Date.now() < end; await sleep(1_000)) {
          expect(await readsObject()).toBe(true);
          for (const pod of await team.pods(workload)) {
            const ready = pod.status?.conditions?.find(({ type }) => type === 'Ready');
            expect(ready?.status).toBe('True');
          }
        }
      } finally {
        await moveAll(`${folder}-away`, folder);
      }
      await until('the condition to end', async () => {
        const { status } = (await team.get('kmsconfig', used)) ?? {};
        return status?.conditions?.some(({ type }) => type === 'KeyStoreUnavailable') === true ? undefined : true;
      });
      expect(await readsObject()).toBe(true);
      expect([await team.instances(server), await team.instances(workload)]).toEqual(before);
    },
    cutOffMs + 300_000,
  );
});

describe('the deletion of a KMSConfig with reclaimPolicy Delete', () => {
  it('waits for the tenant and names it, and leaves the key service as it is', async () => {
    const before = await team.instances(`${used}-key-service`);
    // As Argo CD prunes. The garbage collector of Kubernetes then deletes at once what the KMSConfig alone owns.
    const inForeground = ['--cascade=foreground', '--wait=false'];
    await kubectl.run(['delete', `kmsconfig/${used}`, '--namespace', team.namespace, ...inForeground]);
    expect(await team.untilStalled('kmsconfig', used, 'InUse')).toContain('Tenant demo');
    await until('the end of the deletion in the foreground', async () => {
      const { metadata } = (await team.get('kmsconfig', used)) as { metadata: { finalizers?: readonly string[] } };
      return metadata.finalizers?.join() === 'coffer.dev/kmsconfig' ? true : undefined;
    });
    expect(await team.instances(`${used}-key-service`)).toEqual(before);
    expect(await readsObject()).toBe(true);
  });

  it.runIf(isLong)('lets the server start again meanwhile', async () => {
    const replaced = await team.podUids(server);
    await kubectl.run(['delete', 'pod', 'demo-server-0', '--namespace', team.namespace]);
    await until('another pod of the server to be ready', async () => {
      const [pod] = await team.pods(server);
      const ready = pod?.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
      return ready && !replaced.includes(pod?.metadata.uid ?? '') ? true : undefined;
    });
    expect(await until('the object', readsObject)).toBe(true);
  });

  it('goes on when the tenant is gone, and leaves the keys that sealed anything', async () => {
    await kubectl.run(['delete', 'tenant/demo', '--namespace', team.namespace]);
    await untilGone('kmsconfig', used);
    await kubectl.run(['delete', 'kmsconfig', '--all', '--namespace', team.namespace]);
    for (const name of ['keys', 'other']) await untilGone('statefulset', `${name}-key-service`);
    // The short form never uses the other key service, so that nothing was sealed with its keys.
    const kept = isLong ? [`${keys}-keys`, `${other}-keys`] : [`${keys}-keys`];
    await until('the claims of the keys that sealed nothing to be gone', async () => {
      const claims = await kubectl.list('persistentvolumeclaims', team.namespace, 'coffer.dev/owner-kind=KMSConfig');
      const names = claims.map(({ metadata }) => metadata.name).toSorted();
      return names.join() === kept.join() ? true : undefined;
    });
  });

  it.runIf(isLong)('is undone by the same resources: the objects are read again', async () => {
    await kubectl.apply(keyService('other', 'other-key'), tenantOn('other'));
    await team.untilSettled();
    expect(await until('the object', readsObject)).toBe(true);
  });
});
