import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerHalfClosed } from '../../../platform/http/half-closed.ts';
import { formatAddress, listen, type ListenAddress } from '../../../platform/http/listen.ts';

interface HealthOptions {
  /** Returns why the operator is not ready; undefined when it is. */
  readonly notReady: () => string | undefined;
  readonly metrics: { readonly contentType: string; text(): Promise<string> };
}

export interface HealthAddresses {
  readonly health?: ListenAddress | undefined;
  readonly metrics?: ListenAddress | undefined;
}

/** Serves probes of the kubelet (`/healthz`, `/readyz`) and `/metrics`, each on its own address or both on one. */
export class HealthServers {
  readonly #servers: readonly Server[];
  /** HOST:PORT. */
  readonly addresses: readonly string[];

  private constructor(servers: readonly Server[], addresses: readonly string[]) {
    this.#servers = servers;
    this.addresses = addresses;
  }

  /** Errors with a `ProgramError`. */
  static async start(addresses: HealthAddresses, options: HealthOptions): Promise<HealthServers> {
    const { health, metrics } = addresses;
    const probes: Paths = health === undefined ? {} : probePaths(options);
    const numbers: Paths = metrics === undefined ? {} : { '/metrics': metricsPath(options) };
    const wanted =
      health !== undefined &&
      metrics !== undefined &&
      formatAddress(health) === formatAddress(metrics) &&
      health.port !== 0
        ? [{ address: health, paths: { ...probes, ...numbers }, setting: '--health-address' }]
        : [
            ...(health === undefined ? [] : [{ address: health, paths: probes, setting: '--health-address' }]),
            ...(metrics === undefined ? [] : [{ address: metrics, paths: numbers, setting: '--metrics-address' }]),
          ];
    const servers: Server[] = [];
    const bound: string[] = [];
    try {
      for (const { address, paths, setting } of wanted) {
        const server = createServer((request, response) => {
          const path = (request.url ?? '').split('?')[0] ?? '';
          const answer = request.method === 'GET' || request.method === 'HEAD' ? paths[path] : undefined;
          if (answer === undefined) response.writeHead(404).end();
          else answer(response);
        });
        answerHalfClosed(server);
        servers.push(server);
        const info: AddressInfo = await listen(server, address, { setting });
        bound.push(formatAddress(info));
      }
    } catch (error) {
      await closeAll(servers);
      throw error;
    }
    return new HealthServers(servers, bound);
  }

  close(): Promise<void> {
    return closeAll(this.#servers);
  }
}

type Paths = Readonly<Record<string, (response: ServerResponse) => void>>;

function probePaths({ notReady }: HealthOptions): Paths {
  return {
    // An answer shows that the event loop runs. A lost leadership ends the process by itself.
    '/healthz': (response) => plain(response, 200, 'ok'),
    '/readyz': (response) => {
      const reason = notReady();
      plain(response, reason === undefined ? 200 : 503, reason ?? 'ok');
    },
  };
}

function metricsPath({ metrics }: HealthOptions): (response: ServerResponse) => void {
  return (response) => {
    metrics.text().then(
      (text) => response.writeHead(200, { 'content-type': metrics.contentType }).end(text),
      (error: unknown) => plain(response, 500, error instanceof Error ? error.message : String(error)),
    );
  };
}

function plain(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`);
}

async function closeAll(servers: readonly Server[]): Promise<void> {
  await Promise.all(
    servers.map((server) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      server.close(() => resolve());
      server.closeAllConnections();
      return promise;
    }),
  );
}
