import { describe, expect, it } from 'vitest';
import { lineRingMemory } from '../shared-memory/line-ring.ts';
import { createLogger } from '../../platform/output/logger.ts';
import { testDigests } from '../../test/support/objects/test-layer.ts';
import { hearEvents, maxListeners } from './heard-events.ts';

const asked = { bucket: undefined, names: ['s3:ObjectCreated:*'], prefix: '', suffix: '' };

function hearing(servers = 1) {
  const sent: object[] = [];
  const listen = hearEvents(
    { live: { events: lineRingMemory(4_096) } } as unknown as Parameters<typeof hearEvents>[0],
    { digests: testDigests },
    {
      source: () => ({ region: '', endpoint: '', deploymentId: '' }),
      cluster: () =>
        ({ live: Array.from({ length: servers }) }) as unknown as ReturnType<
          Parameters<typeof hearEvents>[2]['cluster']
        >,
      stopping: new AbortController().signal,
      send: (message) => void sent.push(message),
      log: createLogger({ name: 'test', level: 'silent' }),
    },
  );
  return { listen, sent };
}

describe('a client that listens', () => {
  it('is refused before its stream begins where several servers share the store', () => {
    expect(() => hearing(2).listen(asked)).toThrow(expect.objectContaining({ code: 'NotImplemented' }));
  });

  it('is refused where many listen already, until one has left', async () => {
    const { listen, sent } = hearing();
    const clients = Array.from({ length: maxListeners }, () => {
      const gone = new AbortController();
      const next = listen(asked)(gone.signal)[Symbol.asyncIterator]().next();
      return { gone, next };
    });
    expect(sent).toHaveLength(maxListeners);
    expect(() => listen(asked)).toThrow(expect.objectContaining({ code: 'SlowDown' }));
    clients[0]?.gone.abort();
    expect(await clients[0]?.next).toMatchObject({ done: true });
    expect(() => listen(asked)).not.toThrow();
    for (const { gone } of clients) gone.abort();
    await Promise.all(clients.map(({ next }) => next));
    expect(sent).toHaveLength(2 * maxListeners);
  });
});
