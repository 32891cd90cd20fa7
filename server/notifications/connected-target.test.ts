import { describe, expect, it } from 'vitest';
import { connectedTarget } from './connected-target.ts';
import { redactSecrets } from '../../platform/output/redact-secrets.ts';
import type { EventMessage } from './event-message.ts';

const message: EventMessage = { name: 's3:ObjectCreated:Put', key: 'b/k', time: '', body: '{}' };

function testTarget(limitMs?: number) {
  const seen = { connections: 0, closed: [] as number[], sent: [] as number[] };
  let failing: 'no' | 'connect' | 'send' | 'silent' = 'no';
  const target = connectedTarget<number>(
    {
      connect() {
        if (failing === 'connect') return Promise.reject(new Error('no connection'));
        return Promise.resolve((seen.connections += 1));
      },
      send(connection) {
        if (failing === 'silent') return new Promise(() => undefined);
        if (failing === 'send') return Promise.reject(new Error('connection lost'));
        seen.sent.push(connection);
        return Promise.resolve();
      },
      close: (connection) => void seen.closed.push(connection),
    },
    limitMs,
  );
  return { target, seen, fail: (how: typeof failing) => (failing = how) };
}

describe('a target with a connection', () => {
  it('connects once for several events, and closes', async () => {
    const { target, seen } = testTarget();
    await Promise.all([target.send(message), target.send(message)]);
    await target.close();
    expect(seen).toEqual({ connections: 1, sent: [1, 1], closed: [1] });
  });

  it.each(['connect', 'send'] as const)('connects again after a failure to %s', async (how) => {
    const { target, seen, fail } = testTarget();
    if (how === 'send') await target.send(message);
    fail(how);
    await expect(target.send(message)).rejects.toThrow(/connection/);
    fail('no');
    await target.send(message);
    expect(seen.sent.at(-1)).toBe(seen.connections);
  });

  it('leaves no connection open that was given up before it was ready, however often', async () => {
    let open = 0;
    const target = connectedTarget<number>(
      {
        connect(givenUp) {
          open += 1;
          return new Promise((_, reject) => {
            givenUp.addEventListener('abort', () => {
              open -= 1;
              reject(new Error('given up'));
            });
          });
        },
        send: () => Promise.resolve(),
        close: () => undefined,
      },
      5,
    );
    for (let attempt = 0; attempt < 3; attempt += 1)
      await expect(target.send(message)).rejects.toThrow('did not answer');
    const closing = target.send(message).catch(() => undefined);
    await target.close();
    await closing;
    expect(open).toBe(0);
  });

  it('says why it fails without what its library adds, which may hold the password or the event', async () => {
    const command = { name: 'hello', args: ['3', 'AUTH', 'default', 'hunter2'] };
    const error = Object.assign(new Error('WRONGPASS'), { command, sql: "INSERT 'hunter2'", code: 'E1' });
    const target = connectedTarget<number>({
      connect: () => Promise.reject(error),
      send: () => Promise.resolve(),
      close: () => undefined,
    });
    const failure: unknown = await target.send(message).catch((reason: unknown) => reason);
    expect(failure).toMatchObject({ message: 'WRONGPASS' });
    expect(JSON.stringify(redactSecrets({ err: failure }))).not.toContain('hunter2');
  });

  it('says why no address of a host can be reached', async () => {
    const refused = new AggregateError([
      new Error('connect ECONNREFUSED ::1:1'),
      new Error('connect ECONNREFUSED 127.0.0.1:1'),
    ]);
    const target = connectedTarget<number>({
      connect: () => Promise.reject(refused),
      send: () => Promise.resolve(),
      close: () => undefined,
    });
    await expect(target.send(message)).rejects.toThrow('connect ECONNREFUSED ::1:1; connect ECONNREFUSED 127.0.0.1:1');
  });

  it('answers a probe by its connection, and by a new one after a failure', async () => {
    const { target, seen, fail } = testTarget();
    await target.reach?.();
    await target.send(message);
    fail('send');
    await expect(target.send(message)).rejects.toThrow('connection lost');
    await target.reach?.();
    expect(seen).toEqual({ connections: 2, sent: [1], closed: [1] });
    await expect(target.send(message)).rejects.toThrow('connection lost');
    fail('connect');
    await expect(target.reach?.()).rejects.toThrow('no connection');
    fail('no');
    await target.reach?.();
    expect(seen.connections).toBe(3);
  });

  it('fails where the broker hangs', async () => {
    const { target, fail } = testTarget(5);
    fail('silent');
    await expect(target.send(message)).rejects.toThrow('did not answer within 5 ms');
  });
});
