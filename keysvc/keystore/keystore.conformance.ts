import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KeyStore } from './keystore.ts';

/** What every key store owes. `open` gives an empty one. */
export function keyStoreConformance(engine: string, open: () => Promise<KeyStore>): void {
  describe(`the key store on ${engine}`, () => {
    let store: KeyStore;
    const record = Buffer.from('{"bytes":"…"}');
    const names = async () => (await Array.fromAsync(store.list())).sort();

    beforeEach(async () => {
      store = await open();
    });
    afterEach(() => store.close());

    it('reads back what was created', async () => {
      await store.create('my-key', record);
      expect(await store.get('my-key')).toEqual(record);
    });

    it('never writes over a key', async () => {
      await store.create('my-key', record);
      await expect(store.create('my-key', Buffer.from('other'))).rejects.toMatchObject({ code: 'exists' });
      expect(await store.get('my-key')).toEqual(record);
    });

    it('lets one of several at once create a key', async () => {
      const outcomes = await Promise.allSettled(
        Array.from({ length: 6 }, (_, i) => store.create('raced', Buffer.from(`record ${i}`))),
      );
      const winner = outcomes.findIndex((outcome) => outcome.status === 'fulfilled');
      expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1);
      expect((await store.get('raced')).toString()).toBe(`record ${winner}`);
    });

    it('tells a key that is not there from a failure', async () => {
      await expect(store.get('none')).rejects.toMatchObject({ code: 'not-found' });
      await expect(store.delete('none')).rejects.toMatchObject({ code: 'not-found' });
    });

    it('deletes, and may create again', async () => {
      await store.create('my-key', record);
      await store.delete('my-key');
      await expect(store.get('my-key')).rejects.toMatchObject({ code: 'not-found' });
      await store.create('my-key', Buffer.from('new'));
      expect((await store.get('my-key')).toString()).toBe('new');
    });

    it('lists every name', async () => {
      expect(await names()).toEqual([]);
      for (const name of ['b', 'a', 'x'.repeat(80), '-_-']) await store.create(name, record);
      expect(await names()).toEqual(['-_-', 'a', 'b', 'x'.repeat(80)]);
    });

    it('answers a probe', async () => {
      await expect(store.probe()).resolves.toBeUndefined();
    });
  });
}
