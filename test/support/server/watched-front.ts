import { createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';

type IsRequest = (method: string, path: string) => boolean;
type Act = (method: string, path: string) => Promise<void>;

/** A second address of a server. Tests change things while a request is under way. */
export interface WatchedFront {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** Acts before the next requests of this kind are passed on, once or as often as `times` says. Returns a function that forgets it. */
  before(isIt: IsRequest, act: Act, times?: number): () => void;
  /** Acts after the server has answered such a request, before the client gets the answer. */
  after(isIt: IsRequest, act: Act, times?: number): () => void;
  /** Forgets what has not happened. */
  reset(): void;
  close(): Promise<void>;
}

/**
 * Starts a program in front of the server at `url` that passes each request and each answer on as it comes. With `deleting` it answers
 * deletions itself after that call, which has no condition, as at servers that do not know one.
 */
export async function startWatchedFront(
  url: string,
  deleting?: (path: string) => Promise<unknown>,
): Promise<WatchedFront> {
  const { hostname, port } = new URL(url);
  interface Waiting {
    readonly moment: 'before' | 'after';
    readonly isIt: IsRequest;
    readonly act: Act;
    times: number;
  }
  const waiting = new Set<Waiting>();

  function wait(one: Waiting): () => void {
    waiting.add(one);
    return () => void waiting.delete(one);
  }

  async function actAt(moment: Waiting['moment'], { method = '', url: path = '' }: IncomingMessage): Promise<void> {
    for (const one of waiting) {
      if (one.moment !== moment) continue;
      if (!one.isIt(method, path)) continue;
      one.times -= 1;
      if (one.times === 0) waiting.delete(one);
      await one.act(method, path);
    }
  }

  const server = createServer((incoming, outgoing) => {
    const pass = async (): Promise<void> => {
      await actAt('before', incoming);
      const { method, url: path = '', rawHeaders: headers } = incoming;
      if (method === 'DELETE' && deleting !== undefined) {
        await deleting(path);
        outgoing.writeHead(204).end();
        return;
      }
      const answered = async (answer: IncomingMessage): Promise<void> => {
        await actAt('after', incoming);
        outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
        await pipeline(answer, outgoing);
      };
      const passed = request({ hostname, port, method, path, headers }, (answer) => {
        answered(answer).catch(() => outgoing.destroy());
      });
      passed.on('error', () => outgoing.destroy());
      // A client that breaks off its request must not leave a whole one at the server.
      incoming.on('close', () => incoming.complete || passed.destroy());
      incoming.pipe(passed);
    };
    pass().catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    before: (isIt, act, times = 1) => wait({ moment: 'before', isIt, act, times }),
    after: (isIt, act, times = 1) => wait({ moment: 'after', isIt, act, times }),
    reset: () => waiting.clear(),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
