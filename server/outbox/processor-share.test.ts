import { describe, expect, it } from 'vitest';
import { ProcessorShare } from './processor-share.ts';

/** A thread that works all the time and has a processor for a part of it. Each delivery is 5 ms of its work. */
function thread(part: number) {
  const deliveryMs = 5;
  let now = 0;
  let [active, cpu] = [0, 0];
  const share = new ProcessorShare({
    usage: () => ({ active, cpu }),
    clock: () => now,
    wait: async (ms) => {
      await Promise.resolve();
      now += ms;
    },
  });
  return {
    /** Delivers events that have waited for so long, and returns the part of the time in which the thread had a processor. */
    async used(waitedMs: number, events = 1_000): Promise<number> {
      const [began, before] = [now, cpu];
      for (let at = 0; at < events; at += 1) {
        for (let pause = share.before(waitedMs); pause !== undefined; pause = share.before(waitedMs)) await pause;
        now += deliveryMs / part;
        active += deliveryMs / part;
        cpu += deliveryMs;
      }
      return (cpu - before) / (now - began);
    },
    idle(ms: number) {
      now += ms;
    },
    share,
  };
}

describe('the share of the processor that deliveries have', () => {
  it('has no limit where the thread gets a processor when it needs one', async () => {
    expect(await thread(1).used(0)).toBe(1);
  });

  it('is a tenth of a processor where it has to wait for one', async () => {
    expect(await thread(0.5).used(0)).toBeCloseTo(0.1, 1);
  });

  it('grows with the time that the event has waited', async () => {
    expect(await thread(0.7).used(5_000)).toBeCloseTo(0.1, 1);
    expect(await thread(0.7).used(17_500)).toBeCloseTo(0.55, 1);
  });

  it('has no limit for an event that has waited for 30 s', async () => {
    expect(await thread(0.5).used(30_000)).toBe(0.5);
  });

  it('lets the first event after a quiet time pass', async () => {
    const busy = thread(0.5);
    await busy.used(0);
    busy.idle(1_000);
    expect(busy.share.before(0)).toBeUndefined();
  });

  it('is one for all queues of the thread: they wait together', async () => {
    const busy = thread(0.5);
    await busy.used(30_000, 10);
    await busy.used(0, 10);
    const [one, other] = [busy.share.before(0), busy.share.before(0)];
    expect(one).toBeInstanceOf(Promise);
    expect(other).toBe(one);
  });
});
