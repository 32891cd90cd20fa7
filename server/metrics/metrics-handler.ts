import type { Answer, RequestHandler } from '../access/answer.ts';
import type { Access } from '../access/principal.ts';
import { scrapeProblem } from './may-scrape.ts';
import { readSources } from './metric-sources.ts';
import type { MetricSources } from './metric-sources.ts';
import type { MetricGroup } from './metrics-text.ts';

export interface MetricsHandlerOptions {
  readonly authorization: 'jwt' | 'public';
  readonly access: Access;
  readonly sources: MetricSources;
  readonly clock: () => Date;
}

const path = /^\/minio\/v2\/metrics\/(cluster|node|bucket|resource)$/;

/** MinIO's metrics of version 3 have other paths, names and labels. */
const otherVersion = /^\/minio\/(?:metrics\/v3|v[13]\/metrics|prometheus\/metrics)(?:\/|$)/;

export function isMetricsPath(rawPath: string): boolean {
  return rawPath.startsWith('/minio/') && (path.test(rawPath) || otherVersion.test(rawPath));
}

/** Answers Prometheus, whether or not the server is ready. */
export function createMetricsHandler({ authorization, access, sources, clock }: MetricsHandlerOptions): RequestHandler {
  return async (request) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return plain(405, 'The metrics are read by GET.\n', { allow: 'GET, HEAD' });
    }
    if (otherVersion.test(request.rawPath)) {
      return plain(
        404,
        'Coffer serves the metrics of version 2: scrape /minio/v2/metrics/cluster, /node, /bucket or /resource.\n',
      );
    }
    if (authorization === 'jwt') {
      const problem = await scrapeProblem(request.headers.authorization, access, clock(), request);
      if (problem !== undefined) return plain(403, `${problem}\n`);
    }
    const group = path.exec(request.rawPath)?.[1] as MetricGroup;
    const values = await readSources(sources, group, clock().getTime());
    // Most servers' threads are never asked, and a start waits for what it loads.
    const { metricsText } = await import('./metrics-text.ts');
    const { contentType, text } = await metricsText(values, group);
    return plain(200, text, { 'content-type': contentType });
  };
}

function plain(status: number, text: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8', ...headers },
    body: { kind: 'bytes', bytes: Buffer.from(text) },
  };
}
