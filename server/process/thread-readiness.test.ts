import { describe, expect, it } from 'vitest';
import { ThreadReadiness } from './thread-readiness.ts';

function readinessOn({
  shared = false,
  outage,
}: { shared?: boolean; outage?: { reason: string; forMs: number } } = {}) {
  return new ThreadReadiness({ shared, outage: () => outage });
}

function ready(options?: Parameters<typeof readinessOn>[0]): ThreadReadiness {
  const readiness = readinessOn(options);
  readiness.serve();
  readiness.announce();
  return readiness;
}

describe('the readiness of a thread', () => {
  it('goes from waiting through serving to ready, and not back to waiting', () => {
    const readiness = readinessOn();
    const seen = [readiness.now().kind];
    readiness.announce();
    seen.push(readiness.now().kind);
    readiness.serve();
    seen.push(readiness.now().kind);
    readiness.announce();
    readiness.wait({ waitsFor: 'database', reason: 'late' });
    seen.push(readiness.now().kind);
    expect(seen).toEqual(['waiting', 'waiting', 'serving', 'ready']);
  });

  it('says what it waits for', () => {
    const readiness = readinessOn();
    readiness.wait({ waitsFor: 'database', reason: 'refused' });
    expect(readiness.now()).toEqual({ kind: 'waiting', waitsFor: 'database', reason: 'refused' });
  });

  it.each([
    [4_999, 'ready'],
    [5_000, 'waiting'],
  ])('after an outage of the shared store of %d ms is %s', (forMs, kind) => {
    expect(ready({ shared: true, outage: { reason: 'refused', forMs } }).now().kind).toBe(kind);
  });

  it('is impaired while the store has a fault', () => {
    const readiness = ready();
    readiness.storeFault = { waitsFor: 'records', reason: 'full' };
    expect(readiness.now()).toEqual({ kind: 'impaired', waitsFor: 'records', reason: 'full' });
  });

  it('stops only what serves, and refuses at any time', () => {
    const waiting = readinessOn();
    waiting.stop();
    expect(waiting.now().kind).toBe('waiting');
    const stopping = ready();
    stopping.stop();
    expect(stopping.now().kind).toBe('stopping');
    stopping.refuse();
    expect(stopping.now().kind).toBe('refusing');
  });
});
