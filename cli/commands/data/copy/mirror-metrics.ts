import { answerHalfClosed } from '../../../../platform/http/half-closed.ts';
import { createRequire } from 'node:module';
import type * as NodeHttp from 'node:http';
import { once } from 'node:events';
import { ProgramError } from '../../../../platform/errors/program-error.ts';

/** The counts of a mirror so far. */
interface MirrorCounts {
  readonly copied: number;
  readonly failed: number;
  readonly removed: number;
  /** Bytes. */
  readonly transferred: number;
  /** How often the events of the source broke off. */
  readonly restarts: number;
}

/** Writes the counts in the format of Prometheus, under the names that other clients use. */
export function metricsText({ copied, failed, removed, transferred, restarts }: MirrorCounts): string {
  const counters = [
    ['mc_mirror_total_s3ops', 'Copies and removals, with those that failed', copied + removed + failed],
    ['mc_mirror_total_s3uploaded_bytes', 'Bytes of the copies', transferred],
    ['mc_mirror_failed_s3ops', 'Copies and removals that failed', failed],
    ['mc_mirror_total_restarts', 'How often everything was compared again', restarts],
  ] as const;
  return counters
    .map(([name, help, value]) => `# HELP ${name} ${help}\n# TYPE ${name} counter\n${name} ${value}\n`)
    .join('');
}

/**
 * Serves the counts at `/metrics`. An address without a host is one of this machine alone.
 *
 * @throws ProgramError BadArgument
 */
export async function serveMetrics(
  address: string,
  counts: () => MirrorCounts,
): Promise<{ readonly close: () => void }> {
  const [, host = '', port = ''] = /^(.*):(\d{1,5})$/.exec(address) ?? [];
  if (port === '' || Number(port) > 65_535) {
    throw new ProgramError('BadArgument', `Invalid --monitoring-address \`${address}\`: write HOST:PORT`);
  }
  // An import statement would load another HTTP client too.
  const { createServer } = createRequire(import.meta.url)('node:http') as typeof NodeHttp;
  const server = createServer((request, response) => {
    const isMetrics = request.method === 'GET' && request.url === '/metrics';
    if (isMetrics) response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(metricsText(counts()));
    else response.writeHead(404).end();
  });
  answerHalfClosed(server);
  server.listen(Number(port), host === '' ? '127.0.0.1' : host.replaceAll(/[[\]]/g, ''));
  await once(server, 'listening');
  return {
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
