import { describe, expect, it } from 'vitest';
import type { FinishedRequest } from '../../http/contract/request.ts';
import { AuditFeed } from './audit-feed.ts';
import { AuditTally, auditTallyMemory } from './audit-tally.ts';

const request: FinishedRequest = {
  request: {
    requestId: 'R',
    method: 'GET',
    rawPath: '/b',
    rawQuery: '',
    headers: {},
    remoteAddress: '::1',
    secure: false,
  },
  api: 's3',
  decisions: [],
  decisionsLeftOut: 0,
  status: 200,
  outcome: 'answered',
  responseHeaders: [],
  startedAt: 0,
  ms: 1,
  received: 1,
  sent: 1,
};

function feeding() {
  const tally = new AuditTally(auditTallyMemory(2), ['file', 'webhook:A']);
  const sent: string[][] = [];
  const said: string[] = [];
  const feed = new AuditFeed({
    origin: () => ({ deploymentId: 'D', rootUser: 'root' }),
    tally,
    send: (lines) => sent.push(lines),
    log: { error: (_fields, message) => said.push(message) },
  });
  return { feed, tally, sent, said };
}

describe('the entries of a thread', () => {
  it('go on together, those of a turn', async () => {
    const { feed, sent } = feeding();
    feed.take(request);
    feed.take(request);
    expect(sent).toEqual([]);
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    expect(sent.map((lines) => lines.map((line) => (JSON.parse(line) as { requestID: string }).requestID))).toEqual([
      ['R', 'R'],
    ]);
  });

  it('go on at once when the thread ends', () => {
    const { feed, sent } = feeding();
    feed.take(request);
    feed.flush();
    expect(sent).toHaveLength(1);
  });

  it('are none for probes and scrapes', () => {
    const { feed, sent } = feeding();
    feed.take({ ...request, api: 'other' });
    feed.flush();
    expect(sent).toEqual([]);
  });

  it('are lost, counted for each target and told of once while nobody takes them', () => {
    const { feed, tally, sent, said } = feeding();
    const long = { ...request, key: 'k'.repeat(1024 * 1024) };
    for (let turn = 0; turn < 20; turn++) feed.take(long);
    feed.flush();
    const [lines = []] = sent;
    expect(lines.length).toBeLessThan(16);
    expect(tally.sums().map(({ target, dropped }) => [target, dropped])).toEqual([
      ['file', 20 - lines.length],
      ['webhook:A', 20 - lines.length],
    ]);
    expect(said).toHaveLength(1);
    for (const line of lines) tally.arrived(line.length);
    feed.take(long);
    feed.flush();
    expect(sent).toHaveLength(2);
  });
});
