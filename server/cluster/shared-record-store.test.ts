import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { randomBytes } from 'node:crypto';
import { commitOnce } from '../store/commits.ts';
import { key } from '../store/keys.ts';
import { MemoryRecordStore } from '../store/memory/record-store.ts';
import { commitId } from '../../test/support/store/patient.ts';
import { type RecordStore } from '../store/record-store.ts';
import { SharedRecordStore, sharedStoreLimits } from './shared-record-store.ts';
import { StoreError } from '../store/store-error.ts';

const name = key('name');
const unreachable = (message: string) => new StoreError('unreachable', message);

/** A store that can be made to refuse or to hang. */
class Switched extends MemoryRecordStore {
  is: 'well' | 'refusing' | 'hanging' = 'well';
  refusal = 'connection refused';
  asked = 0;

  override get: RecordStore['get'] = async (wanted) => {
    await this.#pass();
    return super.get(wanted);
  };

  override commit: RecordStore['commit'] = async (batch) => {
    await this.#pass();
    return super.commit(batch);
  };

  override outcome: RecordStore['outcome'] = async (id) => {
    await this.#pass();
    return super.outcome(id);
  };

  async #pass(): Promise<void> {
    this.asked += 1;
    if (this.is === 'refusing') throw unreachable(this.refusal);
    if (this.is === 'hanging') await new Promise<never>(() => undefined);
  }
}

let engine: Switched;
let store: SharedRecordStore;
let changes: (string | undefined)[];

beforeEach(async () => {
  vi.useFakeTimers();
  engine = new Switched({ places: 'unchecked' });
  changes = [];
  store = new SharedRecordStore({
    open: () => Promise.resolve(engine),
    onChange: (outage) => changes.push(outage),
    clock: () => Date.now(),
  });
  await store.open();
});
afterEach(async () => {
  await store.close();
  vi.useRealTimers();
});

const write = () => store.commit({ id: commitId(), put: [{ key: name, value: Buffer.from('x') }] });
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

describe('a shared record store', () => {
  it('refuses until it was reached', async () => {
    const late = new SharedRecordStore({ open: () => Promise.reject(unreachable('no such host')) });
    await expect(late.open()).rejects.toThrow('no such host');
    await expect(late.get(name)).rejects.toThrow('is not open yet');
  });

  it('gives what its engine has', async () => {
    await write();
    expect((await store.get(name))?.value.toString()).toBe('x');
    expect(await Array.fromAsync(store.scan({ start: name, end: key('z') }))).toHaveLength(1);
  });

  it('is not away for one lost connection', async () => {
    engine.faults.script('unavailable');
    await expect(store.get(name)).rejects.toThrow(StoreError);
    await pass(0);
    expect(store.outage()).toBeUndefined();
    expect(changes).toEqual([]);
  });
});

describe('while its engine is away', () => {
  beforeEach(async () => {
    engine.is = 'refusing';
    await expect(store.get(name)).rejects.toThrow('connection refused');
    await pass(0);
  });

  it('it says so, and since when', async () => {
    expect(changes).toEqual(['connection refused']);
    await pass(3_000);
    expect(store.outage()).toMatchObject({ reason: 'connection refused', forMs: 3_000 });
  });

  it('it refuses without asking', async () => {
    const { asked } = engine;
    await expect(write()).rejects.toThrow('the record store cannot be reached: connection refused');
    expect(engine.asked).toBe(asked);
  });

  it('it tells another reason, at most every ten seconds', async () => {
    const reasons = ['connection refused', 'no such database', 'of another deployment'];
    const [, second, third] = reasons;
    engine.refusal = second ?? '';
    await vi.advanceTimersByTimeAsync(500);
    expect(store.outage()?.reason).toBe(second);
    expect(changes).toEqual(reasons.slice(0, 1));
    engine.refusal = third ?? '';
    await vi.advanceTimersByTimeAsync(10_000);
    expect(changes).toEqual(['connection refused', 'of another deployment']);
    expect(store.outage()?.forMs).toBeGreaterThan(10_000);
  });

  it('it finds out by itself when the engine is back', async () => {
    engine.is = 'well';
    await pass(sharedStoreLimits.lookWhileAway);
    expect(changes).toEqual(['connection refused', undefined]);
    expect(await write()).toMatchObject({ kind: 'committed' });
  });

  it('a commit in doubt waits to be settled', async () => {
    const outcome = store.outcome(commitId());
    engine.is = 'well';
    await pass(sharedStoreLimits.lookWhileAway);
    expect(await outcome).toBe('not-committed');
  });

  it('a commit in doubt does not wait for ever', async () => {
    const outcome = expect(store.outcome(commitId())).rejects.toThrow(StoreError);
    await pass(sharedStoreLimits.settle + 200);
    await outcome;
  });
});

describe('while its engine answers nothing', () => {
  beforeEach(() => {
    engine.is = 'hanging';
  });

  it('a question ends in time', async () => {
    const read = expect(store.get(name)).rejects.toThrow('did not answer within 10 s');
    await pass(sharedStoreLimits.answer + 200);
    await read;
  });

  it('a commit ends in doubt', async () => {
    const outcome = write();
    await pass(sharedStoreLimits.answer + 200);
    expect(await outcome).toEqual({ kind: 'unknown' });
  });

  it('it is found out without a request', async () => {
    await pass(sharedStoreLimits.look + sharedStoreLimits.settle + 200);
    expect(changes).toEqual(['the record store did not answer within 3 s']);
  });

  it('questions do not pile up', async () => {
    const reads = Array.from({ length: sharedStoreLimits.underWay + 5 }, () => store.get(name).catch(String));
    expect(await reads.at(-1)).toContain('wait for the record store already');
    await pass(sharedStoreLimits.answer + 200);
    await Promise.all(reads);
  });
});

describe('while its engine holds commits back', () => {
  it('it is at fault after some seconds, and no longer once it acknowledges one', async () => {
    await expect(store.check()).resolves.toBeUndefined();
    engine.commit = () => new Promise<never>(() => undefined);
    const outcome = write();
    await pass(sharedStoreLimits.answer + 200);
    expect(await outcome).toEqual({ kind: 'unknown' });
    await expect(store.check()).rejects.toThrow('acknowledges no writes');
    expect(store.outage()).toBeUndefined();
    engine.commit = MemoryRecordStore.prototype.commit.bind(engine);
    await write();
    await expect(store.check()).resolves.toBeUndefined();
  });

  it('a client waits for the commit and once for its outcome', async () => {
    engine.commit = () => new Promise<never>(() => undefined);
    engine.outcome = () => new Promise<never>(() => undefined);
    const failed = expect(commitOnce(store, { delete: [name] }, randomBytes)).rejects.toMatchObject({
      code: 'outcome-unknown',
    });
    await pass(sharedStoreLimits.answer + sharedStoreLimits.settle + 200);
    await failed;
  });

  it('it is not at fault for one commit in doubt', async () => {
    engine.faults.script('lostAfter');
    await write();
    await expect(store.check()).resolves.toBeUndefined();
  });
});
