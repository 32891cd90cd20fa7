import { randomBytes } from 'node:crypto';
import { array, assert, asyncProperty, integer } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FakeKeyService } from '../../test/support/encryption/fake-key-service.ts';
import { MemoryRecordStore } from '../store/memory/record-store.ts';
import { commitOnce } from '../store/commits.ts';
import { canariesRecord, listCanaries, readCanaries } from './key-canaries.ts';
import { KeyProof } from './key-proof.ts';
import { keyServiceKeys } from './key-service-keys.ts';
import { secretKeySource } from './secret-key-source.ts';

const context = { 'coffer:bucket': 'bucket' };

/** A thread of a server over records, with nothing in its memory. */
function thread(records: MemoryRecordStore, service: FakeKeyService) {
  return keyServiceKeys(service, { defaultKey: 'default-key', proof: new KeyProof({ records }) });
}

function withKeys(...names: readonly string[]): FakeKeyService {
  const service = new FakeKeyService();
  for (const name of names) service.keys.set(name, randomBytes(32));
  return service;
}

describe('the canary of a key', () => {
  it('is in the records before its first data key is given', async () => {
    const [records, service] = [new MemoryRecordStore(), withKeys()];
    const { sealed } = await thread(records, service).generate('default-key', context);
    const found = await readCanaries(records, 'default-key');
    expect(found?.canaries.map(({ version }) => version)).toEqual([sealed.keyVersion]);
  });

  it('is made for each key under which anything was sealed, and for no other', async () => {
    const [records, service] = [new MemoryRecordStore(), withKeys('asked', 'used')];
    const keys = thread(records, service);
    await keys.checkKey('asked');
    await keys.generate('asked', context, { probe: true });
    await keys.generate('used', context);
    expect((await listCanaries(records)).map(({ key }) => key)).toEqual(['used']);
  });

  it('costs no further call once it is open', async () => {
    const [records, service] = [new MemoryRecordStore(), withKeys()];
    const keys = thread(records, service);
    await keys.generate('default-key', context);
    service.calls.length = 0;
    await keys.generate('default-key', { 'coffer:bucket': 'another' });
    expect(service.calls).toEqual(['generate default-key']);
  });

  it('refuses another key of the name, also after a restart', async () => {
    const records = new MemoryRecordStore();
    await thread(records, withKeys()).generate('default-key', context);
    const refused = thread(records, withKeys()).generate('default-key', context);
    await expect(refused).rejects.toMatchObject({
      code: 'wrong-key',
      message: expect.stringContaining('changed or wrong key'),
    });
    expect((await readCanaries(records, 'default-key'))?.canaries).toHaveLength(1);
  });

  it('refuses it in a running server too, whose key service has lost its keys', async () => {
    const [records, service] = [new MemoryRecordStore(), withKeys()];
    const keys = thread(records, service);
    await keys.generate('default-key', context);
    service.keys.set('default-key', randomBytes(32));
    await expect(keys.generate('default-key', { 'coffer:bucket': 'another' })).rejects.toMatchObject({
      code: 'wrong-key',
    });
    await expect(keys.check()).rejects.toMatchObject({ code: 'wrong-key' });
    await expect(keys.proveKey('default-key')).rejects.toMatchObject({ code: 'wrong-key' });
  });

  it('does not keep a refused data key: the first request after the cure succeeds', async () => {
    const [records, service] = [new MemoryRecordStore(), withKeys()];
    await thread(records, service).generate('default-key', context);
    const right = service.keys.get('default-key') ?? Buffer.alloc(0);
    service.keys.set('default-key', randomBytes(32));
    const keys = thread(records, service);
    await expect(keys.generate('default-key', context)).rejects.toMatchObject({ code: 'wrong-key' });
    service.keys.set('default-key', right);
    await expect(keys.generate('default-key', context)).resolves.toBeDefined();
  });

  it('gets a version for each rotation', async () => {
    const [records, service] = [new MemoryRecordStore(), withKeys()];
    const first = await thread(records, service).generate('default-key', context);
    await service.rotateKey('default-key');
    const second = await thread(records, service).generate('default-key', context);
    const found = await readCanaries(records, 'default-key');
    expect(found?.canaries.map(({ version }) => version)).toEqual([first.sealed.keyVersion, second.sealed.keyVersion]);
  });

  it('refuses a rotated key that lost its former versions', async () => {
    const [records, service] = [new MemoryRecordStore(), withKeys()];
    await thread(records, service).generate('default-key', context);
    await service.rotateKey('default-key');
    service.former.clear();
    await expect(thread(records, service).generate('default-key', context)).rejects.toMatchObject({
      code: 'wrong-key',
    });
  });

  it('is not judged by an outage', async () => {
    const [records, service] = [new MemoryRecordStore(), withKeys()];
    await thread(records, service).generate('default-key', context);
    const keys = thread(records, service);
    service.failing = 'unavailable';
    await expect(keys.proveKey('default-key')).rejects.toMatchObject({ code: 'unavailable' });
    service.failing = undefined;
    await expect(keys.proveKey('default-key')).resolves.toBeUndefined();
  });

  it('names the key as the reason where data that it sealed does not open', async () => {
    const records = new MemoryRecordStore();
    const { sealed } = await thread(records, withKeys()).generate('default-key', context);
    const keys = thread(records, withKeys());
    await expect(keys.unseal(sealed, context)).rejects.toMatchObject({ code: 'wrong-key' });
  });

  it('leaves damage of one data key to be damage', async () => {
    const [records, service] = [new MemoryRecordStore(), withKeys()];
    const { sealed } = await thread(records, service).generate('default-key', context);
    const keys = thread(records, service);
    await expect(keys.unseal(sealed, { 'coffer:bucket': 'other' })).rejects.toMatchObject({ code: 'not-authentic' });
  });

  it('is not made anew while its record cannot be read', async () => {
    const [records, service] = [new MemoryRecordStore(), withKeys()];
    const put = [{ key: canariesRecord('default-key'), value: Buffer.from([1, 0x7b]) }];
    await commitOnce(records, { put }, randomBytes);
    await expect(thread(records, service).generate('default-key', context)).rejects.toMatchObject({
      code: 'unreadable-record',
    });
  });

  it('is adopted for a key that sealed data before there were canaries', async () => {
    const [records, service] = [new MemoryRecordStore(), withKeys()];
    const keys = thread(records, service);
    await keys.adoptKey('default-key');
    await keys.adoptKey('default-key');
    expect((await readCanaries(records, 'default-key'))?.canaries).toHaveLength(1);
    await expect(thread(records, withKeys()).generate('default-key', context)).rejects.toMatchObject({
      code: 'wrong-key',
    });
  });

  it('refuses another secret key of the same name', async () => {
    const records = new MemoryRecordStore();
    const source = () =>
      secretKeySource({ name: 'my-key', bytes: randomBytes(32) }, { proof: new KeyProof({ records }) });
    await source().generate('my-key', context);
    await expect(source().generate('my-key', context)).rejects.toMatchObject({ code: 'wrong-key' });
    await expect(source().check()).rejects.toMatchObject({ code: 'wrong-key' });
  });

  it('is begun by one of two servers whose key services differ, and the other one is refused', async () => {
    const services = [withKeys(), withKeys()];
    await assert(
      asyncProperty(array(integer({ min: 0, max: 1 }), { minLength: 1, maxLength: 12 }), async (order) => {
        const records = new MemoryRecordStore();
        const keys = services.map((service) => thread(records, service));
        const given = await Promise.allSettled(
          order.map(async (at, bucket) => keys[at]?.generate('default-key', { 'coffer:bucket': String(bucket) })),
        );
        const winners = new Set(order.filter((_at, index) => given[index]?.status === 'fulfilled'));
        expect(winners.size).toBe(1);
        for (const [index, at] of order.entries()) {
          expect(given[index]?.status).toBe(winners.has(at) ? 'fulfilled' : 'rejected');
        }
        expect((await readCanaries(records, 'default-key'))?.canaries).toHaveLength(1);
      }),
      { numRuns: 50 },
    );
  });
});
