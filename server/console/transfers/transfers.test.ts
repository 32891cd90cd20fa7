import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { testLayer } from '../../../test/support/objects/test-layer.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { sealedRecords, sealedWithin, type SealedRecordStore } from '../../encryption/sealed-records.ts';
import type { ConsoleRecords } from '../services.ts';
import type { SignInSession } from '../api/sign-in/sign-in-sessions.ts';
import type { TransferForm } from '../../../protocol/console/transfer-answers.ts';
import { transferKey, transferPrefix } from './stored-transfers.ts';
import { storedTransfer, type StoredTransfer } from './transfer.ts';
import { Transfers } from './transfers.ts';

const dayMs = 86_400_000;
const origin = { remoteAddress: '127.0.0.1', secure: false };
const form: TransferForm = {
  kind: 'copy',
  bucket: 'docs',
  objects: ['a'],
  folders: [],
  target: { bucket: 'other', prefix: '' },
  replace: false,
};

let now: number;
let records: SealedRecordStore;
/** Runs once, before the next call of this method of the records. */
let before: { readonly method: 'get' | 'put' | 'delete'; readonly act: () => Promise<unknown> } | undefined;
let runs: number;
let gate: PromiseWithResolvers<void>;
let list: () => Promise<unknown>;
let transfers: Transfers;

type Options = ConstructorParameters<typeof Transfers>[0];

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  now = 1_000_000;
  before = undefined;
  runs = 0;
  gate = Promise.withResolvers();
  list = () => Promise.resolve({ objects: [] });
  const stores = testLayer();
  records = sealedRecords({ records: stores.records, keys: stores.keys });
  await records.start();
  transfers = newTransfers();
});
afterEach(() => {
  vi.useRealTimers();
});

async function hooked(method: 'get' | 'put' | 'delete'): Promise<void> {
  if (before?.method !== method) return;
  const { act } = before;
  before = undefined;
  await act();
}

function newTransfers(): Transfers {
  const hookedRecords: ConsoleRecords = {
    async get(key) {
      await hooked('get');
      return records.get(key);
    },
    async put(key, value, expectation) {
      await hooked('put');
      return records.put(key, value, expectation);
    },
    async delete(key, expectation) {
      await hooked('delete');
      return records.delete(key, expectation);
    },
    scan: (range) => records.scan(range),
  };
  return new Transfers({
    records: hookedRecords,
    clock: () => new Date(now),
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    sessions: { findById: () => Promise.resolve(sessionOf('ann')) },
    access: { authorize: () => Promise.resolve({ kind: 'allow' }) },
    objects: { listObjects: () => list() },
    s3: {
      async run() {
        runs += 1;
        await gate.promise;
        return { headers: { etag: '"e"' }, document: Buffer.alloc(0) };
      },
    },
  } as unknown as Options);
}

const tick = () => vi.advanceTimersByTimeAsync(15_000);

const sessionOf = (name: string) =>
  ({
    id: 'session',
    credentials: { principal: { kind: 'user', accessKey: name, subject: { kind: 'user', name } } },
    expires: new Date(now + dayMs),
  }) as unknown as SignInSession;

const encode = (value: StoredTransfer) => Buffer.from(JSON.stringify(value));

async function stored(): Promise<StoredTransfer[]> {
  const all: StoredTransfer[] = [];
  for await (const { value } of records.scan(sealedWithin(transferPrefix))) {
    all.push(storedTransfer.parse(JSON.parse(String(value))));
  }
  return all;
}

/** Stores a transfer of another process that did not show itself for long. */
async function store(change: Partial<StoredTransfer> = {}, id = 'id'): Promise<StoredTransfer> {
  const value: StoredTransfer = {
    format: 1,
    form,
    sessionId: 'session',
    owner: 'user:ann',
    ...origin,
    state: 'running',
    runner: 'other',
    seen: now - 120_000,
    entry: 0,
    after: '',
    done: 0,
    failures: 0,
    failed: [],
    expires: now + 10,
    ...change,
  };
  await records.put(transferKey(value.owner, id), encode(value));
  return value;
}

describe('a takeover', () => {
  it('leaves a transfer that was stopped meanwhile', async () => {
    await store();
    before = { method: 'get', act: () => store({ state: 'stopped' }) };
    await transfers.list(sessionOf('ann'));
    expect(await stored()).toMatchObject([{ state: 'stopped', runner: 'other' }]);
    expect(runs).toBe(0);
  });

  it('leaves a transfer whose process showed itself meanwhile', async () => {
    await store();
    before = { method: 'get', act: () => store({ seen: now, done: 50 }) };
    await transfers.list(sessionOf('ann'));
    expect(await stored()).toMatchObject([{ runner: 'other', done: 50 }]);
  });

  it('goes on with the progress that was saved last', async () => {
    await store();
    before = { method: 'get', act: () => store({ done: 7 }) };
    await transfers.list(sessionOf('ann'));
    const [taken] = await stored();
    expect(taken).toMatchObject({ state: 'running', seen: now, done: 7 });
    expect(taken?.runner).not.toBe('other');
  });
});

describe('the end of a transfer', () => {
  it('keeps the progress that is saved at the same time, and is shown for a day', async () => {
    await store({ seen: now });
    before = { method: 'put', act: () => store({ seen: now, done: 50 }) };
    await transfers.end(sessionOf('ann'), 'id');
    expect(await stored()).toMatchObject([{ state: 'stopped', done: 50, expires: now + dayMs }]);
  });

  it('leaves a transfer that is done meanwhile', async () => {
    await store({ seen: now });
    before = { method: 'put', act: () => store({ state: 'done', done: 50 }) };
    await transfers.end(sessionOf('ann'), 'id');
    expect(await stored()).toMatchObject([{ state: 'done', done: 50 }]);
  });

  it('does not bring back a transfer that another window removed', async () => {
    await store({ seen: now });
    before = { method: 'put', act: () => records.delete(transferKey('user:ann', 'id')) };
    await transfers.end(sessionOf('ann'), 'id');
    expect(await stored()).toEqual([]);
  });

  it('removes a transfer that has ended', async () => {
    await store({ state: 'done' });
    await transfers.end(sessionOf('ann'), 'id');
    expect(await stored()).toEqual([]);
  });
});

describe('the process of a transfer', () => {
  const many = { ...form, objects: Array.from({ length: 30 }, (_, index) => `key-${index}`) };

  it('shows itself every 15 seconds', async () => {
    await transfers.start(many, sessionOf('ann'), origin);
    await expect.poll(() => runs).toBe(5);
    now += 15_000;
    await tick();
    await expect.poll(async () => (await stored())[0]?.seen).toBe(now);
    gate.resolve();
    await expect.poll(async () => (await stored())[0]?.state).toBe('done');
    await expect.poll(() => vi.getTimerCount()).toBe(0);
  });

  it('stops where another process has taken the transfer', async () => {
    const { id } = await transfers.start(many, sessionOf('ann'), origin);
    await expect.poll(() => runs).toBe(5);
    await store({ form: many, seen: now }, id);
    await tick();
    gate.resolve();
    await expect.poll(() => vi.getTimerCount()).toBe(0);
    // The 5 objects in progress are copied to their end, each with a HEAD and a PUT.
    expect(runs).toBe(10);
    expect(await stored()).toMatchObject([{ runner: 'other', done: 0 }]);
  });

  it('stops where the records cannot be written', async () => {
    await transfers.start(many, sessionOf('ann'), origin);
    await expect.poll(() => runs).toBe(5);
    before = { method: 'put', act: () => Promise.reject(new Error('no disk')) };
    await tick();
    gate.resolve();
    await expect.poll(() => vi.getTimerCount()).toBe(0);
    expect(runs).toBe(10);
    expect(await stored()).toMatchObject([{ state: 'running', done: 0 }]);
  });

  it('stops with a reason where the bucket is gone', async () => {
    list = () => Promise.reject(new S3Error('NoSuchBucket'));
    await transfers.start({ ...form, objects: [], folders: ['a/'] }, sessionOf('ann'), origin);
    await expect
      .poll(async () => (await stored())[0])
      .toMatchObject({ state: 'stopped', reason: 'The specified bucket does not exist' });
  });
});

describe('the transfers of a user', () => {
  it('are not hidden by those of others', async () => {
    for (let index = 0; index < 1_001; index += 1) await store({ owner: 'user:bea', state: 'done' }, `${index}`);
    await store({ state: 'done' }, 'own');
    expect(await transfers.list(sessionOf('ann'))).toMatchObject([{ id: 'own' }]);
  });

  it('are bounded: a new one replaces those that ended first', async () => {
    for (let index = 0; index < 50; index += 1) await store({ state: 'done', expires: now + 100 - index }, `${index}`);
    const { id } = await transfers.start(form, sessionOf('ann'), origin);
    const ids = (await transfers.list(sessionOf('ann'))).map((row) => row.id);
    expect(ids).toHaveLength(50);
    expect(ids).toContain(id);
    expect(ids).not.toContain('49');
  });

  it('run in a bounded number, also when they start at the same time', async () => {
    const started = await Promise.allSettled(
      Array.from({ length: 8 }, () => transfers.start(form, sessionOf('ann'), origin)),
    );
    expect(started.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
    gate.resolve();
    await expect.poll(() => vi.getTimerCount()).toBe(0);
    // The refused ones are not counted any more.
    await Promise.all(Array.from({ length: 5 }, () => transfers.start(form, sessionOf('ann'), origin)));
  });

  it('of a server run in a bounded number', async () => {
    const started = await Promise.allSettled(
      Array.from({ length: 25 }, (_, index) => transfers.start(form, sessionOf(`user-${index}`), origin)),
    );
    expect(started.filter(({ status }) => status === 'fulfilled')).toHaveLength(20);
  });
});
