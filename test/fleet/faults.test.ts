import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Faults } from '../support/kubernetes/faults.ts';
import { collectedHeap } from '../support/operator/operator-child.ts';
import { keyService, secret, sharedStore, tenantOfSeveral } from '../support/operator/manifests.ts';
import { podsOf, uidsOf } from '../support/operator/read-cluster.ts';
import { Stage } from '../support/operator/stage.ts';
import { watchDisruptions } from '../support/operator/watch-disruptions.ts';

const demo = { kind: 'Tenant', name: 'demo' } as const;
const keys = { kind: 'KMSConfig', name: 'keys' } as const;
const encrypted = { kmsConfigRef: { name: 'keys' } };
const all = [keyService('keys'), tenantOfSeveral('demo', 3, encrypted)];

/** More than any rollout here takes, and far fewer than a loop without a pause makes in the same time. */
const mostRequests = 400;

let stage: Stage;

beforeEach(async () => {
  stage = await Stage.set(sharedStore(), { history: 500 });
  await stage.settle(...all);
});
afterEach(async () => {
  expect(await stage.strike()).toEqual([]);
});

function upgrade(): void {
  stage.put(keyService('keys', { image: 'coffer:2' }), tenantOfSeveral('demo', 3, { ...encrypted, image: 'coffer:2' }));
}

async function upgraded(timeoutMs?: number): Promise<void> {
  const images = (): readonly unknown[] => [...stage.images(), ...stage.images('keys-key-service')];
  const allNew = () => images().length === 4 && images().every((image) => image === 'coffer:2');
  await stage.until(allNew, 'all is new', timeoutMs);
  await stage.current(keys, demo);
}

describe('a rollout', () => {
  const faults: readonly (readonly [string, (faults: Faults) => void])[] = [
    ['410 of watches', (on) => on.gone('watch-event', 10)],
    ['410 of lists', (on) => (on.gone('watch-event', 6), on.gone('list', 4))],
    ['chunks of one byte', (on) => void (on.splitChunks = true)],
    ['409 of writes', (on) => on.conflict(6)],
    ['429', (on) => on.tooManyRequests(6, 0.2)],
    ['500', (on) => on.internalError(6)],
    ['reset connections', (on) => on.reset(6)],
    ['lost answers of writes', (on) => on.loseAnswers(6)],
  ];

  it.each(faults)('ends as it should under %s, without a loop', async (_name, inject) => {
    const disruptions = watchDisruptions(stage.double);
    stage.double.requests.reset();
    inject(stage.double.faults);
    // Watches begin anew, so that faults of watches hit.
    await stage.double.goDown();
    await stage.double.comeBack();
    upgrade();
    await upgraded();
    expect(disruptions.maxConcurrent).toBe(1);
    expect(stage.double.requests.requests + stage.double.requests.of('watch')).toBeLessThan(mostRequests);
  });

  it('does not act on a cache that lags behind its own writes', async () => {
    const disruptions = watchDisruptions(stage.double);
    const { faults } = stage.double;
    const end = stage.double.onChange((before, after) => {
      if (after?.kind !== 'Pod' || before?.metadata.deletionTimestamp !== after.metadata.deletionTimestamp) {
        faults.heldWatches = true;
        // A while in which passes begin and see what is no longer so.
        setTimeout(() => (faults.heldWatches = false), 700);
      }
    });
    upgrade();
    await upgraded();
    end();
    expect([disruptions.maxConcurrent, disruptions.deleted.length]).toEqual([1, 4]);
  });

  it('goes on after an outage of the whole server for 30 seconds in its middle', async () => {
    const disruptions = watchDisruptions(stage.double);
    stage.holdReadiness('coffer:2');
    upgrade();
    await stage.until(() => stage.images('keys-key-service')[0] === 'coffer:2', 'it began');
    await stage.double.goDown();
    stage.behaveWell();
    const before = await stage.watchRestarts();
    await new Promise((resolve) => setTimeout(resolve, 30_000));
    expect(await stage.watchRestarts()).toBeGreaterThan(before);
    stage.double.requests.reset();
    await stage.double.comeBack();
    // Watches that found nobody for so long ask again within half a minute.
    await upgraded(90_000);
    await stage.quiet();
    expect(disruptions.maxConcurrent).toBe(1);
    expect(stage.double.requests.requests).toBeLessThan(mostRequests);
  }, 360_000);

  it('follows a spec that changes again and again to its last word', async () => {
    const disruptions = watchDisruptions(stage.double);
    for (let version = 2; version < 30; version += 1) {
      stage.put(tenantOfSeveral('demo', 3, { ...encrypted, image: `coffer:${version}` }));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await stage.current(demo);
    expect(stage.images()).toEqual(['coffer:29', 'coffer:29', 'coffer:29']);
    expect(disruptions.maxConcurrent).toBe(1);
  });
});

describe('10,000 events', () => {
  it('of what no resource names cause no request and leave nothing behind', async () => {
    const pods = uidsOf(podsOf(stage.double, 'demo-server'));
    await churn(100);
    await stage.quiet();
    const before = collectedHeap();
    stage.double.requests.reset();
    await churn(1000);
    await stage.quiet();
    expect([stage.double.requests.requests, stage.double.requests.lastWrites]).toEqual([0, []]);
    const growth = collectedHeap() - before;
    expect(growth).toBeLessThan(4 * 1024 * 1024);
    expect(uidsOf(podsOf(stage.double, 'demo-server'))).toEqual(pods);
  }, 360_000);
});

/** Ten events a round: Secrets of others that come, change and go. */
async function churn(rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    for (let index = 0; index < 8; index += 1) stage.put(secret(`other-${index}`, { value: `${round}` }));
    stage.put(secret('passing', { value: 'here' }));
    stage.double.delete('secrets', 'default', 'passing');
    await new Promise((resolve) => setImmediate(resolve));
  }
  // What was put last comes last.
  stage.put(secret('database', { url: 'postgres://coffer:secret@database/coffer' }));
}
