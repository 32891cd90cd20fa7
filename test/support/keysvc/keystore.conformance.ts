import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { inFullForm } from '../full-form.ts';
import type { KeyStore } from '../../../keysvc/keystores/keystore.ts';

const manyCreators = inFullForm(200, 12);

/** The contract of every key store. `open` returns an empty store; `names` are valid names. */
export function keyStoreConformance(
  engine: string,
  open: () => Promise<KeyStore>,
  names: readonly string[] = ['b', 'a', 'x'.repeat(80), '-_-'],
): void {
  describe(`the key store on ${engine}`, () => {
    let store: KeyStore;
    const record = Buffer.from('{"bytes":"…"}');
    const listed = async () => (await Array.fromAsync(store.list())).sort();

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

    it(`lets one of ${manyCreators} at once create a key, whose bytes all of them see`, async () => {
      const outcomes = await Promise.all(
        Array.from({ length: manyCreators }, async (_, i) => {
          const outcome = await store.create('raced', Buffer.from(`record ${i}`)).then(
            () => 'created',
            (error: { code?: string }) => error.code,
          );
          return { outcome, seen: (await store.get('raced')).toString() };
        }),
      );
      const winner = outcomes.findIndex(({ outcome }) => outcome === 'created');
      const told = outcomes.map(({ outcome }, i) => (i === winner ? 'created' : outcome));
      expect(told).toEqual(told.map((_, i) => (i === winner ? 'created' : 'exists')));
      expect(winner).not.toBe(-1);
      expect(new Set(outcomes.map(({ seen }) => seen))).toEqual(new Set([`record ${winner}`]));
      // For a vault with one version for each creator this is thousands of requests.
    }, 540_000);

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
      expect(await listed()).toEqual([]);
      for (const name of names) await store.create(name, record);
      expect(await listed()).toEqual([...names].sort());
    });

    it('answers a probe', async () => {
      await expect(store.probe()).resolves.toBeUndefined();
    });
  });
}
