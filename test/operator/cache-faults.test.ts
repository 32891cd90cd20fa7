import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../operator/kube-client/kube-api.ts';
import { KubeClient } from '../../operator/kube-client/kube-client.ts';
import { Reflector } from '../../operator/kube-client/reflector.ts';
import { ResourceCache } from '../../operator/kube-client/resource-cache.ts';
import { resourceTypes } from '../../operator/kube-client/resource-types.ts';
import { inFullForm } from '../support/full-form.ts';
import { KubernetesDouble } from '../support/kubernetes/kubernetes-double.ts';
import { collectedHeap } from '../support/operator/operator-child.ts';

let double: KubernetesDouble;
let client: KubeClient;
let cache: ResourceCache;
let reflector: Reflector;
let restarts: unknown[];

/** A watch that hears nothing for so long counts as silent: a busy machine is no silent server. */
const longerThanAnyTestMs = 30_000;

async function open(watchInactivityMs: number): Promise<void> {
  double = await KubernetesDouble.start({ simulatePods: false, history: 200, bookmarkMs: 20 });
  client = new KubeClient(
    {
      server: new URL(double.url),
      tls: {},
      authorization: () => Promise.resolve(`Bearer ${double.token}`),
      namespace: undefined,
    },
    { watchInactivityMs },
  );
  cache = new ResourceCache(resourceTypes.configMap, {
    failed: (error) => {
      throw error;
    },
  });
  restarts = [];
  reflector = new Reflector({
    api: client,
    cache,
    random: () => 0,
    restarted: (error) => restarts.push(error),
    timing: { firstMs: 20, maxMs: 200, pageSize: 7 },
  });
}

beforeEach(() => open(longerThanAnyTestMs));

async function close(): Promise<void> {
  await reflector.stop();
  client.close();
  await double.stop();
}
afterEach(close);

function put(name: string, text: string): KubeObject {
  return double.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { text } });
}

/** By name: what a person reads of the objects. */
function texts(objects: readonly KubeObject[]): Record<string, string | undefined> {
  const pairs = objects.map(
    ({ metadata, ...rest }) => [metadata.name, (rest['data'] as { text: string }).text] as const,
  );
  return Object.fromEntries(pairs.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The cache has exactly what the server has. */
async function converged(): Promise<void> {
  const equal = (): boolean => {
    const [ours, theirs] = [texts(cache.list()), texts(double.list('configmaps'))];
    return JSON.stringify(ours) === JSON.stringify(theirs);
  };
  await double.until(equal, 'the cache is as the server');
}

async function started(): Promise<void> {
  for (let index = 0; index < 20; index += 1) put(`object-${index}`, 'first');
  reflector.start();
  await cache.synced();
}

/** Changes, additions and deletions, some while nobody can hear of them. */
function shuffle(round: number): void {
  for (let index = round % 3; index < 20; index += 3) put(`object-${index}`, `Käse ${round}`);
  put(`new-${round}`, 'new');
  if (round > 0) double.delete('configmaps', 'default', `new-${round - 1}`);
}

/** Ten events a round. */
async function churn(rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    for (let index = 0; index < 8; index += 1) put(`object-${index}`, `text ${Math.random()}`);
    put('passing', 'here');
    double.delete('configmaps', 'default', 'passing');
    // Slow enough that the watch is never older than the history of the server.
    if (round % 10 === 9) await converged();
  }
}

describe('a cache under faults', () => {
  const faults: readonly (readonly [string, () => void | Promise<void>])[] = [
    ['410 of a watch', () => double.faults.gone('watch', 2)],
    ['410 inside a watch', () => double.faults.gone('watch-event', 2)],
    ['410 between the pages of a list', () => (double.faults.gone('watch', 1), double.faults.gone('list', 2))],
    ['a history that was forgotten', () => double.compact()],
    ['chunks of one byte', () => void (double.faults.splitChunks = true)],
    ['429', () => double.faults.tooManyRequests(2, 0.05)],
    ['500', () => double.faults.internalError(3)],
    ['reset connections', () => double.faults.reset(3)],
    ['late events', () => void (double.faults.heldWatches = true)],
  ];

  it.each(faults)('has everything after %s', async (_name, fault) => {
    await started();
    await fault();
    shuffle(0);
    await double.goDown();
    await double.comeBack();
    shuffle(1);
    double.faults.heldWatches = false;
    // A list may show everything before the last of them has struck.
    await double.until(() => double.faults.left === 0, 'the faults are used up');
    await converged();
    expect(cache.size).toBe(21);
  });

  it('sees that a watch went silent', async () => {
    await close();
    await open(300);
    await started();
    await double.until(() => double.requests.of('watch') === 1, 'a watch is open');
    double.faults.silentWatches = true;
    double.faults.silentWatches = false;
    shuffle(0);
    await converged();
    expect(double.requests.of('watch')).toBe(2);
  });

  it('asks ever less often where the server closes at once', async () => {
    await started();
    double.faults.plan(6, ({ verb }) => verb === 'watch', {
      kind: 'error-event',
      status: 500,
      reason: 'InternalError',
    });
    await double.until(() => double.faults.left === 0, 'the faults are used up');
    shuffle(0);
    await converged();
    expect(restarts).toHaveLength(6);
  });

  it('comes back after an outage of the whole server, without a storm of requests', async () => {
    await started();
    await double.goDown();
    shuffle(0);
    await double.until(() => restarts.length >= 4, 'it tried some times');
    await double.comeBack();
    double.requests.reset();
    await converged();
    expect(double.requests.of('watch') + double.requests.of('list')).toBeLessThan(8);
  });

  it('keeps no more than what exists, over thousands of events', async () => {
    await started();
    await churn(100);
    const before = collectedHeap();
    await churn(inFullForm(900, 250));
    expect([cache.size, restarts.length]).toEqual([20, 0]);
    expect(collectedHeap() - before).toBeLessThan(2 * 1024 * 1024);
  });
});
