import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { key } from '../store/keys.ts';
import { Faults } from '../store/memory/faults.ts';
import { MemoryRecordStore } from '../store/memory/record-store.ts';
import type { RecordStore } from '../store/record-store.ts';
import { keyServiceKeys } from './key-service-keys.ts';
import { type KeySource, noKeySource } from './key-source.ts';
import { sealedKey, sealedRecords, sealedWithin } from './sealed-records.ts';
import { FakeKeyService } from '../../test/support/encryption/fake-key-service.ts';

const session = sealedKey('session', 'one');
const secret = Buffer.from('a secret value');

async function started(records: RecordStore, keys: KeySource) {
  const store = sealedRecords({ records, keys });
  await store.start();
  return store;
}

function encrypted(service = new FakeKeyService()): KeySource {
  return keyServiceKeys(service, { defaultKey: 'default-key' });
}

async function stored(records: RecordStore): Promise<Buffer> {
  const values: Buffer[] = [];
  for await (const item of records.scan({ start: Buffer.of(0), end: Buffer.of(255) })) {
    if (item.kind === 'entry') values.push(item.value);
  }
  return Buffer.concat(values);
}

describe('sealed records', () => {
  for (const [name, keys] of [
    ['with a key service', encrypted()],
    ['without one', noKeySource],
  ] as const) {
    it(`give values back with their revisions, ${name}`, async () => {
      const store = await started(new MemoryRecordStore(), keys);
      expect(await store.put(session, secret, { kind: 'absent' })).toBe('committed');
      expect(await store.put(session, secret, { kind: 'absent' })).toBe('conflict');
      const entry = await store.get(session);
      expect(entry?.value).toEqual(secret);
      const revision = entry?.revision ?? -1;
      expect(await store.put(session, Buffer.from('next'), { kind: 'revision', revision })).toBe('committed');
      expect(await store.delete(session, { kind: 'revision', revision })).toBe('conflict');
      const [listed] = await Array.fromAsync(store.scan(sealedWithin('session')));
      expect(String(listed?.value)).toBe('next');
      expect(await store.delete(session)).toBe('committed');
      expect(await store.get(session)).toBeUndefined();
    });
  }

  it('keep no plaintext', async () => {
    const records = new MemoryRecordStore();
    const store = await started(records, encrypted());
    await store.put(session, secret);
    await store.commit({ id: '00', put: [{ key: sealedKey('session', 'two'), value: secret }] });
    expect((await stored(records)).includes('secret')).toBe(false);
  });

  it('seal what was plain when a key service comes, and read it on', async () => {
    const records = new MemoryRecordStore();
    const plain = await started(records, noKeySource);
    for (let index = 0; index < 50; index += 1) await plain.put(sealedKey('identity', String(index)), secret);
    expect((await stored(records)).includes('secret')).toBe(true);
    const sealed = await started(records, encrypted());
    expect((await stored(records)).includes('secret')).toBe(false);
    expect((await sealed.get(sealedKey('identity', '7')))?.value).toEqual(secret);
  });

  it('go on sealing after an interruption', async () => {
    const records = new MemoryRecordStore();
    const service = new FakeKeyService();
    const plain = await started(records, noKeySource);
    for (let index = 0; index < 5; index += 1) await plain.put(sealedKey('identity', String(index)), secret);
    const keys = encrypted(service);
    let failures = 0;
    let commits = 0;
    const failing = new Proxy(records, {
      get(target, name) {
        if (name !== 'commit') return (Reflect.get(target, name) as (...given: unknown[]) => unknown).bind(target);
        return (batch: Parameters<RecordStore['commit']>[0]) => {
          commits += 1;
          if (commits % 3 === 0) return Promise.reject(new Error('the power is cut'));
          return target.commit(batch);
        };
      },
    });
    for (let start = 0; start < 10; start += 1) {
      try {
        const store = await started(failing, keys);
        expect((await stored(records)).includes('secret')).toBe(false);
        expect((await store.get(sealedKey('identity', '4')))?.value).toEqual(secret);
        expect(failures).toBeGreaterThan(0);
        return;
      } catch (error) {
        expect(String(error)).toContain('the power is cut');
        failures += 1;
      }
    }
    expect.unreachable('sealing never ended');
  });

  it('start in several threads at once', async () => {
    const records = new MemoryRecordStore({ faults: new Faults({ latencyTicks: 3, seed: 7 }) });
    const service = new FakeKeyService();
    const stores = await Promise.all(Array.from({ length: 4 }, () => started(records, encrypted(service))));
    await stores[0]?.put(session, secret);
    for (const store of stores) expect((await store.get(session))?.value).toEqual(secret);
  });

  it('refuse to start without the key service that sealed them, and say which setting is missing', async () => {
    const records = new MemoryRecordStore();
    await started(records, encrypted());
    await expect(started(records, noKeySource)).rejects.toMatchObject({
      code: 'key-service-needed',
      message: expect.stringContaining('SVC_KMS_KEYSVC_ENDPOINT'),
    });
  });

  it('say that the key is another, not that data is damaged', async () => {
    const records = new MemoryRecordStore();
    await started(records, encrypted());
    await expect(started(records, encrypted())).rejects.toMatchObject({
      code: 'wrong-key',
      message: expect.stringContaining('changed or wrong key'),
    });
  });

  it('stay readable when another default key is configured', async () => {
    const records = new MemoryRecordStore();
    const service = new FakeKeyService();
    await (await started(records, encrypted(service))).put(session, secret);
    service.keys.set('new-default', randomBytes(32));
    const store = await started(records, keyServiceKeys(service, { defaultKey: 'new-default' }));
    expect((await store.get(session))?.value).toEqual(secret);
  });

  it('can be started again after the key service was away', async () => {
    const service = new FakeKeyService();
    service.failing = 'unavailable';
    const store = sealedRecords({ records: new MemoryRecordStore(), keys: encrypted(service) });
    await expect(store.start()).rejects.toMatchObject({ code: 'unavailable' });
    service.failing = undefined;
    await store.start();
    expect(await store.put(session, secret)).toBe('committed');
  });

  it('do not open under the key of another record', async () => {
    const records = new MemoryRecordStore();
    const store = await started(records, encrypted());
    await store.put(session, secret);
    const value = (await records.get(session))?.value ?? Buffer.alloc(0);
    const other = sealedKey('session', 'other');
    await records.commit({ id: '01', put: [{ key: other, value }] });
    await expect(store.get(other)).rejects.toMatchObject({ code: 'wrong-key' });
  });

  it('refuse a plain value that was put among sealed ones', async () => {
    const records = new MemoryRecordStore();
    const store = await started(records, encrypted());
    await records.commit({ id: '01', put: [{ key: session, value: Buffer.from('\0planted') }] });
    await expect(store.get(session)).rejects.toMatchObject({ code: 'not-sealed' });
  });

  it('refuse a value of a newer format', async () => {
    const records = new MemoryRecordStore();
    const store = await started(records, encrypted());
    await records.commit({ id: '01', put: [{ key: session, value: Buffer.from([9, 1, 2]) }] });
    await expect(store.get(session)).rejects.toMatchObject({ code: 'newer-format' });
  });

  it('take their own commit for their own after a lost acknowledgement', async () => {
    const records = new MemoryRecordStore();
    const store = await started(records, encrypted());
    records.faults.script('lostAfter');
    expect(await store.put(session, secret, { kind: 'absent' })).toBe('committed');
    records.faults.script('lostBefore');
    expect(await store.put(sealedKey('session', 'two'), secret, { kind: 'absent' })).toBe('committed');
    expect((await store.get(sealedKey('session', 'two')))?.value).toEqual(secret);
  });

  it('take only keys of their own', async () => {
    const store = await started(new MemoryRecordStore(), noKeySource);
    expect(() => store.put(key('o', 'bucket', 'x'), secret)).toThrow('sealedKey()');
  });
});

async function deferred(records: RecordStore, keys: KeySource) {
  const store = sealedRecords({ records, keys });
  await store.start({ turnOn: false });
  return store;
}

describe('sealing among several servers', () => {
  it('stays off while it may not be turned on', async () => {
    const records = new MemoryRecordStore();
    const store = await deferred(records, encrypted());
    await store.put(session, secret);
    expect(store.sealing).toBe(false);
    expect((await stored(records)).includes('secret')).toBe(true);
  });

  it('is turned on by one server, and noticed by another when it writes', async () => {
    const records = new MemoryRecordStore();
    const keys = encrypted();
    const [one, other] = [await deferred(records, keys), await deferred(records, keys)];
    await one.put(session, secret);
    await one.start({ turnOn: true });
    expect(await other.put(sealedKey('session', 'two'), secret, { kind: 'absent' })).toBe('committed');
    const id = '0'.repeat(32);
    expect(await other.commit({ id, put: [{ key: sealedKey('session', 'three'), value: secret }] })).toMatchObject({
      kind: 'committed',
    });
    expect(other.sealing).toBe(true);
    expect((await stored(records)).includes('secret')).toBe(false);
    expect((await one.get(sealedKey('session', 'two')))?.value).toEqual(secret);
  });

  it('is noticed by a server that reads', async () => {
    const records = new MemoryRecordStore();
    const keys = encrypted();
    const [one, other] = [await deferred(records, keys), await deferred(records, keys)];
    await one.start({ turnOn: true });
    await one.put(session, secret);
    expect((await other.get(session))?.value).toEqual(secret);
  });

  it('leaves nothing plain, whichever server writes while it is turned on', async () => {
    for (let seed = 0; seed < 20; seed += 1) {
      const records = new MemoryRecordStore({ faults: new Faults({ latencyTicks: 5, lostAfter: 0.1, seed }) });
      const keys = encrypted();
      const [one, other] = [await deferred(records, keys), await deferred(records, keys)];
      const writes = Array.from({ length: 10 }, (_, index) => other.put(sealedKey('identity', String(index)), secret));
      await Promise.all([one.start({ turnOn: true }), ...writes]);
      expect((await stored(records)).includes('secret')).toBe(false);
      for (let index = 0; index < 10; index += 1) {
        expect((await one.get(sealedKey('identity', String(index))))?.value).toEqual(secret);
      }
    }
  });
});
