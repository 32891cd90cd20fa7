import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface RecordingProxy {
  readonly url: string;
  /** Returns the requests since the last call of it: `GET /minio/admin/v3/info`. */
  take(): readonly string[];
  stop(): void;
}

/** Passes each request on with its `Host` and signature as they are. */
export async function startRecordingProxy(target: string): Promise<RecordingProxy> {
  const { hostname, port } = new URL(target);
  let requests: string[] = [];
  const server = createServer((incoming, outgoing) => {
    requests.push(`${incoming.method} ${incoming.url?.split('?')[0]}`);
    const { method, url: path, headers } = incoming;
    const onward = send({ hostname, port, method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      outgoing.flushHeaders();
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    take() {
      const taken = requests;
      requests = [];
      return taken;
    },
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
