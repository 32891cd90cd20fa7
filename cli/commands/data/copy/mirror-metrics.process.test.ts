import { describe, expect, it } from 'vitest';
import { freePort } from '../../../../test/support/process/free-port.ts';
import { metricsText, serveMetrics } from './mirror-metrics.ts';

const counts = { copied: 3, failed: 1, removed: 2, transferred: 1_000, restarts: 0 };

describe('the counts of a mirror', () => {
  it('are in the format of Prometheus', () => {
    expect(metricsText(counts)).toContain('# TYPE mc_mirror_total_s3ops counter\nmc_mirror_total_s3ops 6\n');
  });

  it('are served until the end', async () => {
    const address = `127.0.0.1:${await freePort()}`;
    const server = await serveMetrics(address, () => counts);
    expect(await (await fetch(`http://${address}/metrics`)).text()).toBe(metricsText(counts));
    expect((await fetch(`http://${address}/other`)).status).toBe(404);
    server.close();
    await expect(fetch(`http://${address}/metrics`)).rejects.toThrow('fetch failed');
  });

  it.each(['9000', 'host', 'host:99999'])('are not served at %s', async (address) => {
    await expect(serveMetrics(address, () => counts)).rejects.toThrow('Invalid --monitoring-address');
  });
});
