// `npm run bench:operator [-- --tenants 200]` measures memory and CPU time of an operator process with this many tenants in one namespace.
// The API server is in this process and simulates pods. It measures the creation of all tenants, the idle state, and a change that restarts
// all of them.
import { parseArgs } from 'node:util';
import { allCurrent, fleet, quiet, identityProvider } from '../test/support/operator/manifests.ts';
import { OperatorChild, type Usage } from '../test/support/operator/operator-child.ts';
import { goodProvider } from '../test/support/operator/operator.ts';
import { watchDisruptions } from '../test/support/operator/watch-disruptions.ts';
import { KubernetesDouble } from '../test/support/kubernetes/kubernetes-double.ts';

const { values } = parseArgs({ options: { tenants: { type: 'string', default: '200' } } });
const { manifests, resources } = fleet(Number(values.tenants));
const timeoutMs = 3_600_000;
const restMs = 30_000;

// Bookmarks come once a minute, as those of a real server.
await using double = await KubernetesDouble.start({ providerCheck: goodProvider, bookmarkMs: 60_000 });
for (const manifest of manifests) double.put(manifest);
const operator = new OperatorChild(double);

async function measure(what: string, act: () => Promise<void>): Promise<void> {
  const [before, began] = [await operator.usage(), performance.now()];
  double.requests.reset();
  await act();
  report(what, before, await operator.usage(), performance.now() - began);
}

function report(what: string, before: Usage, after: Usage, milliseconds: number): void {
  const cpuMs = (after.cpuMicroseconds - before.cpuMicroseconds) / 1000;
  const columns = [
    what.padEnd(24),
    `${(milliseconds / 1000).toFixed(1)} s`,
    `CPU ${(cpuMs / 1000).toFixed(2)} s (${((cpuMs / milliseconds) * 100).toFixed(2)} % of a core)`,
    `RSS ${Math.round(after.rssBytes / 2 ** 20)} MiB`,
    `${double.requests.requests} requests`,
    `${double.requests.writes} writes`,
  ];
  process.stdout.write(`${columns.join('   ')}\n`);
}

try {
  await measure(`make ${values.tenants} tenants`, () =>
    double.until(() => allCurrent(double, resources), 'all tenants are current', timeoutMs),
  );
  await quiet(double);
  await measure('at rest', () => new Promise((resolve) => setTimeout(resolve, restMs)));
  await measure('roll all', async () => {
    const { deleted } = watchDisruptions(double);
    double.put(identityProvider('idp', { scopes: ['openid', 'profile'] }));
    const rolled = (): boolean => deleted.filter((name) => name.startsWith('tenant-')).length >= resources.length;
    await double.until(() => rolled() && allCurrent(double, resources), 'all tenants have rolled', timeoutMs);
  });
  await quiet(double);
  await measure('at rest again', () => new Promise((resolve) => setTimeout(resolve, restMs)));
} finally {
  await operator.stop();
}
