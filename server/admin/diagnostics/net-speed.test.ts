import { describe, expect, it } from 'vitest';
import { adminTest } from '../../../test/support/admin/admin.ts';
import type { ServerSpeeds, SiteReplication, SiteSpeed } from '../../administration/sites.ts';
import type { Diagnostics } from '../../administration/diagnostics.ts';

const other = { endpoint: 'b:9000', version: '1', startedAt: 0 };
const speed = (name: string, more = {}): SiteSpeed => ({
  name,
  endpoint: `http://${name}:9000`,
  sentPerSecond: 5.4,
  receivedPerSecond: 7,
  durationMs: 1_000,
  connections: 4,
  ...more,
});

interface Given {
  readonly others?: readonly (typeof other)[];
  readonly isSite?: boolean;
  /** Another measurement runs. */
  readonly busy?: boolean;
}

async function netAdmin({ others = [other], isSite = false, busy = false }: Given) {
  const asked: unknown[] = [];
  const serverSpeeds: ServerSpeeds = {
    measure(durationMs) {
      asked.push(['servers', durationMs]);
      return Promise.resolve([speed('a'), speed('b', { error: 'the server b:9000 cannot be reached' })]);
    },
    sendToOthers(durationMs) {
      asked.push(['others', durationMs]);
      return Promise.resolve([{ deploymentId: 'b', bytesPerSecond: 3 }]);
    },
  };
  const sites = {
    shown: () => Promise.resolve(isSite ? {} : undefined),
    speed(durationMs: number) {
      asked.push(['sites', durationMs]);
      return Promise.resolve([speed('home')]);
    },
  } as unknown as SiteReplication;
  const diagnostics = {
    exclusively<T>(task: string, _maxMs: number, work: () => Promise<T>) {
      if (busy) return Promise.reject(new Error('another speed test runs'));
      asked.push(task);
      return work();
    },
  } as unknown as Diagnostics;
  const admin = await adminTest({ services: { diagnostics, serverSpeeds, sites, others: () => others } });
  const lines = async (target: string) => {
    const { body } = await admin.answer('root', 'POST', target);
    if (body.kind !== 'endless') throw new Error(`the answer is ${body.kind}`);
    let text = '';
    for await (const chunk of body.chunks(new AbortController().signal)) text += chunk.toString();
    return text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
  };
  return { ...admin, asked, lines };
}

describe('a measurement of the network', () => {
  it('is one between the servers of the deployment, one at a time', async () => {
    const { lines, asked } = await netAdmin({});
    expect(await lines('speedtest/net?duration=2s')).toEqual([
      {
        nodeResults: [
          { endpoint: 'a:9000', tx: 5, rx: 7 },
          { endpoint: 'b:9000', tx: 5, rx: 7, error: 'the server b:9000 cannot be reached' },
        ],
      },
    ]);
    expect(asked).toEqual(['speed test', ['servers', 2_000]]);
  });

  it('is one between sites where the server is alone', async () => {
    const { lines, asked } = await netAdmin({ others: [], isSite: true });
    expect(await lines('speedtest/net')).toEqual([{ nodeResults: [{ endpoint: 'home:9000', tx: 5, rx: 7 }] }]);
    expect(asked).toEqual(['speed test', ['sites', 10_000]]);
  });

  it('is refused where there is one server and no other site', async () => {
    const { call } = await netAdmin({ others: [] });
    expect(await call('root', 'POST', 'speedtest/net')).toMatchObject({
      status: 501,
      value: { Code: 'NotImplemented', Message: expect.stringContaining('one server') as string },
    });
  });

  it.each(['speedtest/net', 'speedtest/site'])('%s has the reason where another one runs', async (target) => {
    const { lines, asked } = await netAdmin({ busy: true, isSite: true });
    expect(await lines(target)).toEqual([
      { nodeResults: [expect.objectContaining({ tx: 0, rx: 0, error: 'another speed test runs' }) as object] },
    ]);
    expect(asked).toEqual([]);
  });

  it('takes 30 s at most', async () => {
    const { lines, call, asked } = await netAdmin({});
    await lines('speedtest/net?duration=10m');
    await call('root', 'GET', 'site-replication/peer/server-speed?duration=600000');
    expect(asked).toEqual(['speed test', ['servers', 30_000], ['others', 30_000]]);
  });

  it('has the part of this server for another one', async () => {
    const { call } = await netAdmin({});
    expect((await call('root', 'GET', 'site-replication/peer/server-speed?duration=100')).value).toEqual({
      sent: [{ deploymentId: 'b', bytesPerSecond: 3 }],
    });
  });

  it.each([
    ['POST', 'speedtest/net'],
    ['GET', 'site-replication/peer/server-speed'],
  ])('needs a right: %s %s', async (method, target) => {
    const { call, identities, asked } = await netAdmin({});
    await identities.putUser({ accessKey: 'ann', secretKey: 'ann-password' });
    expect(await call('ann', method, target)).toMatchObject({ status: 403, value: { Code: 'AccessDenied' } });
    expect(asked).toEqual([]);
  });
});
