import { beforeEach, describe, expect, it } from 'vitest';
import { writeKeyRecord } from './key-record.ts';
import { addVersion } from './key-versions.ts';
import { makeKey } from './key.ts';
import { KeyError } from '../keystores/keystore.ts';
import { MemoryKeyStore } from '../../test/support/keysvc/memory-keystore.ts';
import { migrateKeys, type Migration } from './migrate-keys.ts';

let from: MemoryKeyStore;
let to: MemoryKeyStore;

beforeEach(async () => {
  from = new MemoryKeyStore();
  to = new MemoryKeyStore();
  for (const name of ['a', 'b', 'c']) await from.create(name, record());
});

const record = () => writeKeyRecord(makeKey(new Date(0)));

async function migrate(more: Partial<Migration> = {}): Promise<Record<string, string>> {
  const outcomes: Record<string, string> = {};
  const onKey: Migration['onKey'] = (name, { kind }) => {
    outcomes[name] = kind;
  };
  await migrateKeys({ from, to, pattern: '*', dryRun: false, onKey, ...more });
  return outcomes;
}

const all = async (store: MemoryKeyStore) =>
  Object.fromEntries(
    await Promise.all((await Array.fromAsync(store.list())).sort().map(async (name) => [name, await store.get(name)])),
  ) as Record<string, Buffer>;

describe('a migration of keys', () => {
  it('copies every key byte for byte, its versions too', async () => {
    await addVersion(from, 'a', new Date(0), undefined);
    expect(await migrate()).toEqual({ a: 'copied', 'a--2': 'copied', b: 'copied', c: 'copied' });
    expect(await all(to)).toEqual(await all(from));
  });

  it('goes on where an earlier one broke off', async () => {
    let left = 2;
    const create = to.create.bind(to);
    to.create = async (name, bytes) => {
      if (left-- === 0) throw new KeyError('unreachable', 'gone');
      await create(name, bytes);
    };
    await expect(migrate()).rejects.toMatchObject({ code: 'unreachable' });
    to.create = create;
    expect(Object.values(await migrate()).sort()).toEqual(['copied', 'present', 'present']);
    expect(await all(to)).toEqual(await all(from));
  });

  it('never writes over another key of the name, and copies the others', async () => {
    const other = record();
    await to.create('b', other);
    expect(await migrate()).toEqual({ a: 'copied', b: 'differs', c: 'copied' });
    expect(await to.get('b')).toEqual(other);
  });

  it('knows a key again that another program wrote in its own way', async () => {
    const written = JSON.parse((await from.get('a')).toString()) as object;
    await to.create('a', Buffer.from(JSON.stringify({ ...written, created_by: 'somebody' })));
    expect(await migrate()).toMatchObject({ a: 'present' });
  });

  it('names what is no key, and copies the others', async () => {
    await from.create('broken', Buffer.from('{'));
    expect(await migrate()).toEqual({ a: 'copied', b: 'copied', c: 'copied', broken: 'failed' });
    expect(Object.keys(await all(to))).not.toContain('broken');
  });

  it('notices a target that does not give back what it was given', async () => {
    const get = to.get.bind(to);
    let reads = 0;
    to.get = async (name) => (++reads > 3 ? record() : get(name));
    expect(Object.values(await migrate())).toContain('differs');
  });

  it('takes the names of a pattern alone, and writes nothing where it only looks', async () => {
    expect(await migrate({ pattern: 'a*', dryRun: true })).toEqual({ a: 'copied' });
    expect(await all(to)).toEqual({});
  });
});
