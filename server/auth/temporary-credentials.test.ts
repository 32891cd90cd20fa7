import { beforeEach, describe, expect, it } from 'vitest';
import { decodeJwt } from 'jose';
import { noKeySource } from '../encryption/key-source.ts';
import { sealedKey, sealedRecords, sealedWithin, type SealedRecordStore } from '../encryption/sealed-records.ts';
import type { FederatedSubject } from './identities/subject.ts';
import { federated } from '../../test/support/auth/identities.ts';
import { MemoryRecordStore } from '../store/memory/record-store.ts';
import { sessionTokenKey } from './root-credentials.ts';
import { createTemporaryCredentials, type NewTemporaryCredentials } from './temporary-credentials.ts';

let time: number;
let store: MemoryRecordStore;
let records: SealedRecordStore;
const root = { user: 'root', password: 'root-password' };
const hour = 3_600_000;

beforeEach(async () => {
  time = Date.UTC(2026, 0, 1);
  store = new MemoryRecordStore();
  records = sealedRecords({ records: store, keys: noKeySource });
  await records.start();
});

/** Another thread has the same records and caches of its own. */
const thread = (password = root.password) =>
  createTemporaryCredentials({
    records,
    tokenKey: sessionTokenKey({ ...root, password }),
    clock: () => new Date(time),
  });

const wanted = (
  changes: Partial<NewTemporaryCredentials> = {},
  person: Partial<FederatedSubject> = {},
): NewTemporaryCredentials => ({
  subject: federated({ claims: { sub: 's', email: 'ann@example.org' }, ...person }),
  parentName: 'parent-of-ann',
  expiration: new Date(time + hour),
  ...changes,
});

async function left(): Promise<number> {
  let count = 0;
  for (const part of ['sts', 'sts-parent', 'sts-expiry']) {
    for await (const _ of records.scan(sealedWithin(part))) count += 1;
  }
  return count;
}

describe('createTemporaryCredentials', () => {
  it('makes keys in the form that clients expect', async () => {
    const { accessKey, secretKey } = await thread().create(wanted());
    expect(accessKey).toMatch(/^[0-9A-Z]{20}$/);
    expect(secretKey).toMatch(/^[0-9A-Za-z+]{40}$/);
  });

  it('makes other keys each time', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => thread().create(wanted())));
    expect(new Set(made.flatMap(({ accessKey, secretKey }) => [accessKey, secretKey])).size).toBe(40);
  });

  it('says in the session token what tools look for', async () => {
    const { accessKey, sessionToken } = await thread().create(
      wanted({ sessionPolicy: policy }, { policies: ['a', 'b'] }),
    );
    expect(decodeJwt(sessionToken)).toEqual({
      accessKey,
      parent: 'parent-of-ann',
      policy: 'a,b',
      sessionPolicy: Buffer.from(policy).toString('base64'),
      sub: 's',
      email: 'ann@example.org',
      exp: (time + hour) / 1000,
    });
  });

  it('keeps the session token short enough for a header, however many groups a user is in', async () => {
    const groups = Array.from({ length: 1_000 }, (_, at) => `group-${at}`);
    const { sessionToken } = await thread().create(wanted({}, { claims: { sub: 's', groups } }));
    expect(sessionToken.length).toBeLessThan(4_096);
  });

  it('names in the session token as many policies as fit, and all in the record', async () => {
    const policies = Array.from({ length: 1_000 }, (_, at) => `policy-${at}`);
    const { accessKey, sessionToken } = await thread().create(wanted({}, { policies }));
    const named = String(decodeJwt(sessionToken)['policy']).split(',');
    expect(named).toEqual(policies.slice(0, named.length));
    expect(named.length).toBeGreaterThan(200);
    expect(sessionToken.length).toBeLessThan(7_000);
    expect((await thread().find(accessKey))?.principal.subject).toMatchObject({ policies });
  });

  it('keeps of long claims those that fit', async () => {
    const claims = { sub: 's', name: 'é'.repeat(1_000), email: 'é'.repeat(1_000), profile: 'é'.repeat(1_000) };
    const { sessionToken } = await thread().create(wanted({}, { claims }));
    expect(Object.keys(decodeJwt(sessionToken)).filter((name) => Object.hasOwn(claims, name))).toEqual([
      'sub',
      'name',
      'profile',
    ]);
  });

  it('finds in every thread what one has made', async () => {
    const made = await thread().create(wanted({ sessionPolicy: policy }));
    expect(await thread().find(made.accessKey)).toEqual(made);
  });

  it('finds nothing by another key, whatever it looks like', async () => {
    const { accessKey } = await thread().create(wanted());
    const tries = [accessKey.toLowerCase(), `${accessKey}0`, 'A'.repeat(20), '', '\0', 'x'.repeat(5_000)];
    expect(await Promise.all(tries.map((key) => thread().find(key)))).toEqual(tries.map(() => undefined));
  });

  it('ends them on time', async () => {
    const { accessKey } = await thread().create(wanted());
    time += hour - 1;
    expect(await thread().find(accessKey)).toBeDefined();
    time += 1;
    expect(await thread().find(accessKey)).toBeUndefined();
  });

  it('refuses in every thread at once what one has revoked', async () => {
    const [one, other] = [thread(), thread()];
    const { accessKey } = await one.create(wanted());
    expect(await other.find(accessKey)).toBeDefined();
    await one.revoke(accessKey);
    expect(await other.find(accessKey)).toBeUndefined();
    expect(await left()).toBe(0);
  });

  it('obeys at once a change that another thread made', async () => {
    const one = thread();
    const { accessKey } = await one.create(wanted());
    await one.find(accessKey);
    const key = sealedKey('sts', accessKey);
    const stored = (await records.get(key))?.value.toString() ?? '';
    await records.put(key, Buffer.from(stored.replace('"readonly"', '"writeonly"')));
    expect((await one.find(accessKey))?.principal.subject).toMatchObject({ policies: ['writeonly'] });
  });

  it("revokes all of a person's and nobody else's", async () => {
    const [first, second] = [await thread().create(wanted()), await thread().create(wanted())];
    const bob = await thread().create(wanted({}, { parent: 'parent-of-bob' }));
    expect(await thread().revokeAllOf('parent-of-ann')).toBe(2);
    expect(await thread().find(first.accessKey)).toBeUndefined();
    expect(await thread().find(second.accessKey)).toBeUndefined();
    expect(await thread().find(bob.accessKey)).toBeDefined();
  });

  it('ends them all with a new root password', async () => {
    const { accessKey } = await thread().create(wanted());
    expect(await thread('another-password').find(accessKey)).toBeUndefined();
  });

  it('sweeps what expired, and only that', async () => {
    for (let made = 0; made < 150; made += 1) await thread().create(wanted());
    const kept = await thread().create(wanted({ expiration: new Date(time + 2 * hour) }));
    time += hour + 1;
    expect(await thread().sweep()).toBe(150);
    expect(await left()).toBe(3);
    expect(await thread().find(kept.accessKey)).toBeDefined();
    expect(await thread().sweep()).toBe(0);
  });

  it('remembers, even after the sweep, that a token was issued here and expired', async () => {
    const { accessKey, sessionToken } = await thread().create(wanted());
    expect(await thread().issuedButExpired(accessKey, sessionToken)).toBe(false);
    time += hour + 1_000;
    await thread().sweep();
    expect(await thread().issuedButExpired(accessKey, sessionToken)).toBe(true);
    expect(await thread().issuedButExpired('SOMEBODY0ELSES0KEY00', sessionToken)).toBe(false);
    expect(await thread('another-password').issuedButExpired(accessKey, sessionToken)).toBe(false);
  });

  it('survives a lost acknowledgement', async () => {
    store.faults.script('lostAfter');
    const { accessKey } = await thread().create(wanted());
    expect(await thread().find(accessKey)).toBeDefined();
  });

  it('fails when the records cannot be read, rather than to guess', async () => {
    const one = thread();
    const { accessKey } = await one.create(wanted());
    await one.find(accessKey);
    store.faults.script('unavailable');
    await expect(one.find(accessKey)).rejects.toMatchObject({ name: 'StoreError' });
  });
});

const policy = JSON.stringify({
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Action: ['s3:GetObject'], Resource: ['arn:aws:s3:::b/*'] }],
});
