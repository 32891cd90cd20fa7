import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A second address of a server, over TCP, that can be cut. */
export interface CutLink {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** Ends all connections at once, also within an answer, and ends each new one before its first byte. */
  cut(): void;
  heal(): void;
  close(): Promise<void>;
}

/** Starts a program in front of the server at `url` that passes bytes on, and knows nothing of HTTP. */
export async function startCutLink(url: string): Promise<CutLink> {
  const { hostname, port } = new URL(url);
  const open = new Set<Socket>();
  let isCut = false;
  const end = () => {
    for (const socket of open) socket.destroy();
  };
  const server = createServer((incoming) => {
    incoming.on('error', () => undefined);
    if (isCut) {
      incoming.resetAndDestroy();
      return;
    }
    const outgoing = connect(Number(port), hostname);
    for (const [one, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      open.add(one);
      one.on('error', () => undefined);
      one.on('close', () => {
        open.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut: () => {
      isCut = true;
      end();
    },
    heal: () => {
      isCut = false;
    },
    close: async () => {
      end();
      server.close();
      await once(server, 'close');
    },
  };
}
