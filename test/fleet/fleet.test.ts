import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KubernetesDouble } from '../support/kubernetes/kubernetes-double.ts';
import { allCurrent, fleet, quiet, identityProvider } from '../support/operator/manifests.ts';
import { OperatorChild } from '../support/operator/operator-child.ts';
import { permitted } from '../support/operator/stage.ts';
import { goodProvider } from '../support/operator/operator.ts';
import { eventsOf } from '../support/operator/read-cluster.ts';
import { watchDisruptions } from '../support/operator/watch-disruptions.ts';
import { watchHonesty, type Honesty } from '../support/operator/watch-honesty.ts';

const size = 200;
const limit = 5;
const { manifests, resources } = fleet(size);
const patienceMs = 240_000;

/** Bookmarks come as often as on a real server. */
describe(`${size} tenants of one namespace`, () => {
  let double: KubernetesDouble;
  let operator: OperatorChild;
  let honesty: Honesty;

  beforeAll(async () => {
    double = await KubernetesDouble.start({ permits: permitted, providerCheck: goodProvider, bookmarkMs: 60_000 });
    honesty = watchHonesty(double);
    for (const manifest of manifests) double.put(manifest);
    operator = new OperatorChild(double);
    await double.until(() => allCurrent(double, resources), 'all tenants are current', patienceMs);
    await quiet(double);
  }, patienceMs);

  afterAll(async () => {
    await operator.stop();
    await double.stop();
  });

  it('settle: then nothing is written, and nothing asked', async () => {
    double.requests.reset();
    const before = await operator.usage();
    const windowMs = 5_000;
    await new Promise((resolve) => setTimeout(resolve, windowMs));
    const after = await operator.usage();
    const share = (after.cpuMicroseconds - before.cpuMicroseconds) / (windowMs * 1000);
    console.log(
      `steady state of ${size} tenants: ${(share * 100).toFixed(2)} % of one core, ${mebibytes(after.rssBytes)} MiB`,
    );
    // A watch of events has no bookmarks, so that it is short and may end in this window.
    const watches = double.requests.of('watch') - double.requests.of('watch', 'events');
    expect([double.requests.requests, double.requests.writes, watches]).toEqual([0, 0, 0]);
  });

  it(
    'roll one after the other when their identity provider changes, no more than the limit at once, each with its reason',
    async () => {
      const disruptions = watchDisruptions(double);
      double.put(identityProvider('idp', { scopes: ['openid', 'profile'] }));
      const servers = (): number => disruptions.deleted.filter((name) => name.startsWith('tenant-')).length;
      await double.until(() => servers() === size && allCurrent(double, resources), 'all have rolled', patienceMs);
      await quiet(double);
      expect(servers()).toBe(size);
      expect(disruptions.mostWorkloads).toBeLessThanOrEqual(limit);
      const reasonless = resources.filter(
        (resource) => !eventsOf(double, resource).join().includes('IdentityProviderChanged'),
      );
      expect(reasonless).toEqual([]);
    },
    patienceMs,
  );

  it('need less than 250 MiB', { timeout: 360_000 }, async () => {
    const rollout = await operator.usage();
    console.log(`after a rollout of ${size} tenants: ${mebibytes(rollout.rssBytes)} MiB`);
    // Right after the rollout, the memory depends on the moment of the last garbage collection. V8 collects when a process is idle.
    await expect
      .poll(async () => (await operator.usage()).rssBytes, { timeout: 300_000, interval: 2_000 })
      .toBeLessThan(250 * 1024 * 1024);
  });

  it('are never said to be current while their pods are not', () => {
    honesty.end();
    expect(honesty.lies).toEqual([]);
  });
});

function mebibytes(bytes: number): number {
  return Math.round(bytes / 1024 / 1024);
}
