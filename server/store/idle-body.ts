import type { Readable } from 'node:stream';

/** Fails if the server sends nothing for `idleMs` while this waits. The time that a slow reader takes does not count. */
export async function* arriving(body: Readable, idleMs: number): AsyncIterable<Buffer> {
  let waiting = true;
  const timer = setTimeout(() => {
    if (waiting) body.destroy(Object.assign(new Error('idle'), { name: 'TimeoutError' }));
  }, idleMs);
  try {
    for await (const chunk of body) {
      waiting = false;
      yield chunk as Buffer;
      waiting = true;
      timer.refresh();
    }
  } finally {
    clearTimeout(timer);
    body.destroy();
  }
}
