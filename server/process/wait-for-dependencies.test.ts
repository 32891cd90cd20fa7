import { describe, expect, it } from 'vitest';
import { waitForDependencies, type Waiting } from './wait-for-dependencies.ts';
import { SharedBlobStore } from '../cluster/shared-blob-store.ts';
import { joinDeployment } from '../store/deployment.ts';
import { MemoryRecordStore } from '../store/memory/record-store.ts';
import { createLogger } from '../../platform/output/logger.ts';
import { StoreError } from '../store/store-error.ts';
import { KeyServiceError } from '../../platform/key-service/exchange.ts';

const log = createLogger({ name: 'test', level: 'silent' });
const away = () => Promise.reject(new StoreError('unreachable', 'no route to 10.0.0.7'));

/** Returns the dependency that a server waits for after a failed attempt. */
async function waiting(attempt: () => Promise<unknown>): Promise<Waiting | undefined> {
  const stopped = new AbortController();
  let told: Waiting | undefined;
  const onWaiting = (heard: Waiting) => {
    told = heard;
    stopped.abort();
  };
  await expect(waitForDependencies(attempt, { log, signal: stopped.signal, onWaiting })).rejects.toThrow(/abort/);
  return told;
}

describe('what a server waits for', () => {
  it.each([
    ['the records', away, 'database'],
    ['the blobs', () => new SharedBlobStore(away).open(), 'bodies'],
    [
      'the marker beside the blobs',
      () =>
        joinDeployment({
          records: new MemoryRecordStore(),
          marker: { read: away, write: away },
          places: { records: '', blobs: '' },
          sameFolder: false,
        }),
      'bodies',
    ],
    ['the key service', () => Promise.reject(new KeyServiceError('unavailable', 'no answer')), 'key-service'],
    ['its permission', () => Promise.reject(new KeyServiceError('not-permitted', 'no policy')), 'key-service'],
    ['its default key', () => Promise.reject(new KeyServiceError('key-not-found', 'no key "a"')), 'default-key'],
  ])('is told of %s', async (_what, attempt, waitsFor) => {
    expect((await waiting(attempt))?.waitsFor).toBe(waitsFor);
  });

  it('keeps the reason, for the log', async () => {
    expect((await waiting(away))?.reason).toBe('it waits for the stores: no route to 10.0.0.7');
  });
});
