import { connect, createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

/** Stands between a client and a server, sees what passes, and cuts connections off. */
export interface TcpProxy {
  readonly address: string;
  /** The next connection ends after so many bytes from both sides together; later ones do not. */
  cutAfter(bytes: number): void;
  /** All that clients sent. */
  seen(): Buffer;
  /** The most connections that there were at a time. */
  most(): number;
  close(): Promise<void>;
}

export async function startTcpProxy(target: string): Promise<TcpProxy> {
  const [host = '', port = ''] = target.split(':');
  const chunks: Buffer[] = [];
  const open = new Set<Socket>();
  let left = Number.POSITIVE_INFINITY;
  let max = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(port), host);
    let mine = left;
    left = Number.POSITIVE_INFINITY;
    open.add(client);
    max = Math.max(max, open.size);
    const end = () => {
      open.delete(client);
      client.destroy();
      upstream.destroy();
    };
    const passed = (bytes: number) => {
      mine -= bytes;
      if (mine <= 0) end();
    };
    client.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      upstream.write(chunk);
      passed(chunk.length);
    });
    upstream.on('data', (chunk: Buffer) => {
      client.write(chunk);
      passed(chunk.length);
    });
    for (const socket of [client, upstream]) socket.on('error', end).on('close', end);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    cutAfter: (bytes) => {
      left = bytes;
    },
    seen: () => Buffer.concat(chunks),
    most: () => max,
    close: () =>
      new Promise((resolve) => {
        for (const socket of open) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
