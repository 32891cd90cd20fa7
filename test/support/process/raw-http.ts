import { connect, type Socket } from 'node:net';

interface RawAnswer {
  readonly status: number;
  /** The head as text, without the blank line. */
  readonly head: string;
  readonly body: string;
  /** Whether the connection was reset instead of closed. */
  readonly reset: boolean;
}

/** A connection on which a test says every byte itself. */
interface RawConnection {
  readonly socket: Socket;
  send(text: string | Buffer): void;
  /** What has arrived, once it contains the text so many times or the other side has closed. */
  until(text: string, times?: number): Promise<string>;
  /** Resolves when the other side has closed. */
  closed(): Promise<RawAnswer>;
}

export function connectRaw(url: string): RawConnection {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  let received = '';
  let reset = false;
  let open = true;
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const wait of waiting) wait();
  };
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1');
    wake();
  });
  socket.on('error', () => {
    reset = true;
  });
  socket.on('close', () => {
    open = false;
    wake();
  });
  function untilTrue(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = () => {
        if (!condition() && open) return;
        waiting.delete(check);
        resolve();
      };
      waiting.add(check);
      check();
    });
  }
  return {
    socket,
    send: (text) => void socket.write(text),
    async until(text, times = 1) {
      await untilTrue(() => received.split(text).length > times);
      return received;
    },
    async closed() {
      await untilTrue(() => false);
      const end = received.indexOf('\r\n\r\n');
      const head = end < 0 ? received : received.slice(0, end);
      return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]), head, body: received.slice(end + 4), reset };
    },
  };
}

/** Sends a request as it is and waits until the server closes the connection. */
export function sendRaw(url: string, request: string | Buffer): Promise<RawAnswer> {
  const connection = connectRaw(url);
  connection.send(request);
  return connection.closed();
}

/** Sends a request, closes the sending half of the connection, and waits until the server closes the other one. */
export function sendHalfClosed(url: string, request: string): Promise<RawAnswer> {
  const connection = connectRaw(url);
  connection.socket.end(request);
  return connection.closed();
}
