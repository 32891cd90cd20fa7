import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { put } from '../support/objects/test-layer.ts';
import { bucket, LinkedServer, type TestClock } from '../support/replication/linked-servers.ts';

const key = 'key';
const hour = 3_600_000;

function cut(from: LinkedServer, ...to: readonly LinkedServer[]): void {
  for (const { name } of to) from.cut.add(name);
}

/** Three servers that replicate to each other, and have a version that the first one made. */
async function ring() {
  const clock: TestClock = { now: Date.UTC(2027, 0, 1) };
  const all: LinkedServer[] = [];
  for (const name of ['a', 'b', 'c']) all.push(await LinkedServer.start(name, clock));
  for (const one of all) for (const other of all) if (one !== other) await one.replicateTo(other);
  const [a, b, c] = all;
  if (a === undefined || b === undefined || c === undefined) throw new Error('no servers');
  const exchange = async () => {
    for (;;) {
      let delivered = 0;
      for (const one of all) delivered += await one.deliver();
      if (delivered === 0) return;
    }
  };
  const heal = () => all.forEach((one) => one.cut.clear());
  const { versionId = '' } = await a.calls.layer.putObject(put(bucket, key, 'text'));
  await exchange();
  const began = clock.now;
  const retain = ({ calls: { layer } }: LinkedServer, mode: 'GOVERNANCE' | 'COMPLIANCE' | undefined, hours = 0) => {
    clock.now += 1_000;
    const retention = mode && { mode, until: new Date(began + hours * hour) };
    return layer.putObjectRetention(bucket, key, { versionId, retention, bypassGovernance: true });
  };
  const shown = () =>
    Promise.all(
      all.map(async ({ calls: { layer } }) => {
        const { retention } = (await layer.headObject(bucket, key, { versionId })).lock ?? {};
        return retention && `${retention.mode} ${(retention.until.getTime() - began) / hour}`;
      }),
    );
  const pass = async (hours: number) => {
    clock.now = began + hours * hour;
    // A refused change is sent again after 30 s.
    const later = performance.now() + 31_000;
    const now = vi.spyOn(performance, 'now').mockImplementation(() => later);
    onTestFinished(() => now.mockRestore());
    await exchange();
  };
  return { a, b, c, heal, exchange, retain, shown, pass };
}

describe('COMPLIANCE on one of three servers, and a newer GOVERNANCE that ends later on another', () => {
  it.each(['COMPLIANCE', 'GOVERNANCE'])(
    'are the same everywhere after the end, whichever is first: %s',
    async (first) => {
      const { a, b, c, heal, exchange, retain, shown, pass } = await ring();
      cut(a, b, c);
      cut(b, a, c);
      await retain(a, 'COMPLIANCE', 2);
      await retain(b, 'GOVERNANCE', 9);
      (first === 'COMPLIANCE' ? a : b).cut.delete('c');
      await exchange();
      heal();
      await exchange();
      expect(await shown()).toEqual([
        'COMPLIANCE 2',
        'GOVERNANCE 9',
        first === 'COMPLIANCE' ? first + ' 2' : first + ' 9',
      ]);
      await pass(3);
      expect(await shown()).toEqual(['GOVERNANCE 9', 'GOVERNANCE 9', 'GOVERNANCE 9']);
    },
  );

  it('may leave a GOVERNANCE that was lifted on a third one, and shorten none', async () => {
    const { a, b, c, heal, exchange, retain, shown, pass } = await ring();
    cut(a, b, c);
    cut(b, a);
    await retain(a, 'COMPLIANCE', 2);
    await retain(b, 'GOVERNANCE', 9);
    await exchange();
    cut(b, c);
    await retain(b, undefined);
    a.cut.delete('b');
    await exchange();
    heal();
    await exchange();
    expect(await shown()).toEqual(['COMPLIANCE 2', 'COMPLIANCE 2', 'GOVERNANCE 9']);
    await pass(3);
    expect((await shown())[2]).toBe('GOVERNANCE 9');
    await retain(c, undefined);
    await exchange();
    expect(await shown()).toEqual([undefined, undefined, undefined]);
  });
});
