import { describe, expect, it } from 'vitest';
import { BrokenConnections } from './broken-connections.ts';

/** Fails with each of the errors in turn, then answers. */
function failing(...errors: readonly Error[]) {
  const left = [...errors];
  return () => {
    const error = left.shift();
    return error === undefined ? Promise.resolve('done') : Promise.reject(error);
  };
}

const broken = () => Object.assign(new Error('socket hang up'), { $metadata: { attempts: 1 } });
const answered = () => Object.assign(new Error('SlowDown'), { $metadata: { httpStatusCode: 503 } });

describe('broken connections', () => {
  it('are counted, and their requests are sent again', async () => {
    const connections = new BrokenConnections({ pauseMs: 0 });
    expect(await connections.repeat(failing(broken(), broken()))).toBe('done');
    expect(connections.count).toBe(2);
  });

  it('do not stand for a server that is gone', async () => {
    const connections = new BrokenConnections({ attempts: 3, pauseMs: 0 });
    await expect(connections.repeat(failing(broken(), broken(), broken()))).rejects.toThrow('socket hang up');
  });

  it('are no excuse for a refusal of the server', async () => {
    const connections = new BrokenConnections({ pauseMs: 0 });
    await expect(connections.repeat(failing(answered()))).rejects.toThrow('SlowDown');
    expect(connections.count).toBe(0);
  });
});
