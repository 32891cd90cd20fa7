import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createLogger } from '../../platform/output/logger.ts';
import { keyServiceKeys } from '../encryption/key-service-keys.ts';
import { type KeySource, noKeySource } from '../encryption/key-source.ts';
import { sealedKey, sealedRecords } from '../encryption/sealed-records.ts';
import { FakeKeyService } from '../../test/support/encryption/fake-key-service.ts';
import { createSealingLoop, warnAboutPolicies } from './startup-tasks.ts';
import { readBackgroundTasks, TaskReport } from '../maintenance/background-tasks.ts';
import { MemoryRecordStore } from '../store/memory/record-store.ts';
import { testIdentities } from '../../test/support/auth/identities.ts';
import { identityKeys } from '../auth/identities/records.ts';
import { testLayer } from '../../test/support/objects/test-layer.ts';

const log = createLogger({ name: 'test', level: 'silent' });
const identity = sealedKey('identity', 'someone');
const secret = Buffer.from('a secret');

const facts = (id: string, keyService: boolean) => ({ id, endpoint: id, version: '1', startedAt: 0, keyService });
const view = (leads: boolean, ...withKeys: readonly boolean[]) => ({
  leads,
  live: withKeys.map((has, index) => facts(String(index), has)),
});

function server(records: MemoryRecordStore, keys: KeySource) {
  const sealed = sealedRecords({ records, keys });
  const tasks = new TaskReport({ records, random: randomBytes });
  return { sealed, sealing: createSealingLoop({ keys, sealed }, log, tasks) };
}
const taskOf = async (records: MemoryRecordStore) =>
  (await readBackgroundTasks(records)).find(({ task }) => task === 'sealing');

const keys = keyServiceKeys(new FakeKeyService(), { defaultKey: 'default-key' });

describe('sealing', () => {
  it('begins at the start where every server has the key service', async () => {
    const { sealed, sealing } = server(new MemoryRecordStore(), keys);
    await sealing.start(view(false, true, true));
    expect(sealed.sealing).toBe(true);
  });

  it('begins when the last server has it, done by the one that leads and noticed by the others', async () => {
    const records = new MemoryRecordStore();
    const before = server(records, noKeySource);
    await before.sealing.start(view(true, false));
    await before.sealed.put(identity, secret);
    const [one, other] = [server(records, keys), server(records, keys)];
    for (const { sealing } of [one, other]) await sealing.start(view(false, true, true, false));
    expect(one.sealed.sealing).toBe(false);

    other.sealing.onReplicasChange(view(false, true, true, true));
    one.sealing.onReplicasChange(view(true, true, true, true));
    await expect.poll(() => one.sealed.sealing).toBe(true);
    expect((await records.get(identity))?.value.includes('secret')).toBe(false);
    expect((await other.sealed.get(identity))?.value).toEqual(secret);
    expect(other.sealed.sealing).toBe(true);
  });

  it('that fails later is reported as a background task, until it is on', async () => {
    const records = new MemoryRecordStore();
    const service = new FakeKeyService();
    const [one, later] = [
      server(records, keyServiceKeys(service, { defaultKey: 'default-key' })),
      server(records, keys),
    ];
    await one.sealing.start(view(true, true, false));
    expect(await taskOf(records)).toBeUndefined();
    service.refusing = 'generate';
    one.sealing.onReplicasChange(view(true, true, true));
    await expect.poll(() => taskOf(records)).toMatchObject({ failure: { attempts: 1 } });
    await later.sealing.start(view(true, true, true));
    expect(await taskOf(records)).toMatchObject({ lastSuccess: expect.any(Number) as number });
    expect((await taskOf(records))?.failure).toBeUndefined();
  });

  it('does not begin while a server is there without it', async () => {
    const { sealed, sealing } = server(new MemoryRecordStore(), keys);
    await sealing.start(view(true, true, false));
    sealing.onReplicasChange(view(true, true, false));
    await new Promise((resolve) => setImmediate(resolve));
    expect(sealed.sealing).toBe(false);
  });
});

const tagged = (changes: object = {}) =>
  JSON.stringify({
    Version: '2012-10-17',
    Statement: [
      {
        Effect: 'Deny',
        Action: 's3:GetObject',
        Resource: 'arn:aws:s3:::photos/*',
        Condition: { StringEquals: { 'aws:PrincipalTag/class': 'secret' } },
        ...changes,
      },
    ],
  });

describe('policies that are stored already', () => {
  it('are logged when they deny every request', async () => {
    const { records, identities } = await testIdentities();
    const { layer: objects } = testLayer();
    await objects.createBucket('photos', { location: '' });
    await objects.createBucket('plain', { location: '' });
    await objects.putBucketPolicy('photos', tagged({ Principal: '*', Sid: 'Tags' }));
    // As an earlier release stored it.
    const policy = { format: 1, name: 'old', document: tagged(), createdAt: 0, updatedAt: 0, earlier: [] };
    await records.commit({
      id: 'b',
      put: [{ key: identityKeys.policy('old'), value: Buffer.from(JSON.stringify(policy)) }],
    });
    const lines: string[] = [];
    await warnAboutPolicies({ identities, objects }, { warn: (_, message) => void lines.push(message) });
    expect(lines).toEqual([
      expect.stringMatching(/^policy "old": statement #1 denies whatever.*aws:PrincipalTag\/class/),
      expect.stringMatching(/^policy of the bucket photos: statement Tags denies/),
    ]);
  });
});
