import { describe, expect, it } from 'vitest';
import { StoreError } from '../store/store-error.ts';
import { watchStores } from './store-watch.ts';
import type { Waiting } from './wait-for-dependencies.ts';

const good = () => Promise.resolve();

/** Watches stores whose checks a test answers; each pause is a promise of the test's. */
function watched(checks: Partial<Record<'records' | 'bodies', () => Promise<void>>>) {
  const faults: (Waiting | undefined)[] = [];
  const pauses: { readonly ms: number; readonly end: () => void }[] = [];
  const lines: string[] = [];
  const log = {
    info: (_: unknown, text: string) => lines.push(text),
    error: (_: unknown, text: string) => lines.push(text),
  };
  const watch = watchStores({
    checks: { records: good, bodies: good, ...checks },
    log: log as never,
    onChange: (fault) => faults.push(fault),
    pause: (ms, signal) =>
      new Promise<void>((resolve) => {
        pauses.push({ ms, end: resolve });
        signal.addEventListener('abort', () => resolve());
      }),
  });
  const end = async (ms: number) => {
    for (const pause of pauses.splice(0)) {
      if (pause.ms === ms) pause.end();
      else pauses.push(pause);
    }
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  };
  return { faults, lines, watch, nextCheck: () => end(2_000), late: () => end(10_000) };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));
const unreachable = new StoreError('unreachable', 'not mounted', { store: 'blobs' });

describe('the watch of the stores', () => {
  it('tells a fault once, and when it is over', async () => {
    let fault: Error | undefined = unreachable;
    const { faults, lines, watch, nextCheck } = watched({
      bodies: () => (fault === undefined ? Promise.resolve() : Promise.reject(fault)),
    });
    await settled();
    await nextCheck();
    await settled();
    expect(faults).toEqual([{ waitsFor: 'bodies', reason: 'not mounted' }]);
    fault = undefined;
    await nextCheck();
    await settled();
    expect(faults).toEqual([{ waitsFor: 'bodies', reason: 'not mounted' }, undefined]);
    expect(lines).toEqual(['not ready: not mounted', 'the stores can be written again']);
    await watch.stop();
  });

  it('names the records', async () => {
    const { faults, watch } = watched({ records: () => Promise.reject(new Error('read-only')) });
    await settled();
    expect(faults).toEqual([{ waitsFor: 'records', reason: 'read-only' }]);
    await watch.stop();
  });

  it('takes a full disk for no fault', async () => {
    const { faults, watch } = watched({ bodies: () => Promise.reject(new StoreError('full', 'no space')) });
    await settled();
    expect(faults).toEqual([]);
    await watch.stop();
  });

  it('tells a folder that does not answer, and asks it once', async () => {
    let asked = 0;
    const { faults, watch, late, nextCheck } = watched({
      bodies: () => {
        asked += 1;
        return new Promise(() => undefined);
      },
    });
    await settled();
    await late();
    await settled();
    await nextCheck();
    await settled();
    await late();
    await settled();
    expect(faults).toEqual([{ waitsFor: 'bodies', reason: 'the store of the bodies does not answer within 10 s' }]);
    expect(asked).toBe(1);
    await watch.stop();
  });
});
