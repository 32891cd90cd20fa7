import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type CallPeer, type UploadToPeer } from './peer-client.ts';
import type { SentToSite } from './peer-messages.ts';
import { speedGroup, SiteSpeeds, speedsOf } from './site-speed.ts';
import { ResponseError } from '../../protocol/response-error.ts';

const sites = ['a', 'b', 'c'].map((name) => ({
  name,
  endpoint: `http://${name}:9000`,
  deploymentId: `id-of-${name}`,
  bandwidthLimit: 0,
}));
const group = { id: 'group', updatedAt: 1, sites, replicateIlmExpiry: false, secretKey: 'secret-of-all' };
const noSignal = new AbortController().signal;

function speeds(upload: UploadToPeer, sent: (peer: string) => readonly object[] = () => []) {
  const asked: unknown[] = [];
  const call: CallPeer = async (peer, credentials, { call: name, query, answer }) => {
    asked.push([peer.name, credentials.secretKey, name, query]);
    return answer.parse({ sent: sent(peer.name) });
  };
  return {
    asked,
    speeds: new SiteSpeeds({ group: () => Promise.resolve(speedGroup(group)), call, upload, self: 'id-of-a' }),
  };
}

const steady: UploadToPeer = (_peer, _credentials, { durationMs }) =>
  Promise.resolve({ bytes: durationMs * 1_000, ms: durationMs });

const failing: UploadToPeer = (peer, ...rest) =>
  peer.name === 'b' ? Promise.reject(new ResponseError('away', 'the site b cannot be reached')) : steady(peer, ...rest);

const slow: UploadToPeer = async (peer, credentials, { durationMs, signal }) => {
  await sleep(5 * durationMs, undefined, { signal });
  return steady(peer, credentials, { durationMs, signal });
};

describe('the connections between sites', () => {
  it('are measured by all of them at the same time, each to all others', async () => {
    const of = speeds(steady, (name) => [
      { deploymentId: 'id-of-a', bytesPerSecond: name === 'b' ? 20 : 30 },
      { deploymentId: name === 'b' ? 'id-of-c' : 'id-of-b', bytesPerSecond: 7 },
    ]);
    const found = await of.speeds.measure(2_000, noSignal);
    // Four connections of 1 MB a second to each of two sites.
    expect(found).toMatchObject([
      { name: 'a', sentPerSecond: 8_000_000, receivedPerSecond: 50, connections: 8, durationMs: 2_000 },
      { name: 'b', sentPerSecond: 27, receivedPerSecond: 4_000_007 },
      { name: 'c', sentPerSecond: 37, receivedPerSecond: 4_000_007 },
    ]);
    expect(of.asked).toEqual([
      ['b', 'secret-of-all', 'speed', { duration: '2000' }],
      ['c', 'secret-of-all', 'speed', { duration: '2000' }],
    ]);
  });

  it('have the reason of each that fails, and the speed of the others', async () => {
    const found = await speeds(failing).speeds.sendToOthers(1_000);
    expect(found).toEqual([
      { deploymentId: 'id-of-b', bytesPerSecond: 0, error: 'the site b cannot be reached' },
      { deploymentId: 'id-of-c', bytesPerSecond: 4_000_000 },
    ]);
  });

  it('are measured although a busy site reads for longer than was sent', async () => {
    expect(await speeds(slow).speeds.sendToOthers(20)).toEqual([
      { deploymentId: 'id-of-b', bytesPerSecond: 4_000_000 },
      { deploymentId: 'id-of-c', bytesPerSecond: 4_000_000 },
    ]);
  });

  it('of a site that does not answer have its reason', () => {
    const rows = new Map<string, readonly SentToSite[] | Error>([
      ['id-of-a', [{ deploymentId: 'id-of-b', bytesPerSecond: 5 }]],
      ['id-of-b', new Error('it is away')],
    ]);
    expect(speedsOf(sites.slice(0, 2), rows, 1)).toMatchObject([
      { name: 'a', sentPerSecond: 5, receivedPerSecond: 0 },
      { name: 'b', sentPerSecond: 0, receivedPerSecond: 5, error: 'it is away' },
    ]);
  });

  it('are none where this server is no site', async () => {
    const alone = new SiteSpeeds({
      group: () => Promise.resolve(undefined),
      call: () => Promise.reject(new Error('no call')),
      upload: steady,
      self: 'id-of-a',
    });
    expect([await alone.measure(1, noSignal), await alone.sendToOthers(1)]).toEqual([undefined, []]);
  });
});

describe('the connections between the servers of a deployment', () => {
  it('are asked for by a call of their own, with the credentials of the group', async () => {
    const asked: unknown[] = [];
    const call: CallPeer = async (peer, { accessKey }, { call: name, answer }) => {
      asked.push([peer.name, accessKey, name]);
      return answer.parse({ sent: [{ deploymentId: '1', bytesPerSecond: 20 }] });
    };
    const servers = ['1', '2'].map((id) => ({
      kind: 'server' as const,
      name: `${id}:9000`,
      endpoint: `http://${id}:9000`,
      deploymentId: id,
    }));
    const between = new SiteSpeeds({
      group: () => Promise.resolve({ sites: servers, credentials: { accessKey: 'root', secretKey: 'secret' } }),
      call,
      upload: steady,
      self: '1',
      peerCall: 'server-speed',
    });
    expect(await between.measure(1_000, noSignal)).toMatchObject([
      { name: '1:9000', sentPerSecond: 4_000_000, receivedPerSecond: 20 },
      { name: '2:9000', sentPerSecond: 20, receivedPerSecond: 4_000_000 },
    ]);
    expect(asked).toEqual([['2:9000', 'root', 'server-speed']]);
  });
});
