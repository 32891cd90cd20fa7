import { decodeJwt, jwtVerify } from 'jose';
import { connectionContext, type RequestOrigin } from '../../auth/condition-keys.ts';
import type { Access } from '../../auth/principal.ts';
import type { Answer, RequestHandler } from '../../http/contract/request.ts';
import { readSources, type MetricSources } from './metric-sources.ts';
import type { MetricGroup } from './metric-sources.ts';

/** The issuer of the token. */
const issuer = 'prometheus';

const howTo =
  'Make a token by "mc admin prometheus generate ALIAS" with the root credentials, or let everybody read the metrics by ' +
  'SVC_PROMETHEUS_AUTH_TYPE=public.';

/**
 * Checks that the header `authorization` allows to read the metrics: a JWT whose subject is an access key with `admin:Prometheus`,
 * signed with its secret key (HS512). Returns the reason of a refusal for the administrator of the scrape; undefined where it is
 * allowed. Temporary credentials are refused: they end too soon for a token that is made to last.
 */
export async function whyScrapeDenied(
  header: string | undefined,
  access: Access,
  now: Date,
  from: RequestOrigin,
): Promise<string | undefined> {
  const token = /^Bearer +(\S+)$/i.exec(header ?? '')?.[1];
  if (token === undefined) return `The metrics are read with a bearer token, and the request has none. ${howTo}`;
  const subject = subjectOf(token);
  if (subject === undefined) return `The bearer token is no JWT with a subject. ${howTo}`;
  const credentials = await signerOf(token, subject, access, now);
  if (credentials === undefined) {
    return `The bearer token is not signed by credentials of this server, has expired, or is of a user who is disabled or removed: were the root credentials changed? ${howTo}`;
  }
  const { principal } = credentials;
  const context = connectionContext(from, now);
  const decision = await access.authorize({ principal, action: 'admin:Prometheus', resource: '', context });
  return decision.kind === 'allow' ? undefined : `The policies of ${subject} do not allow admin:Prometheus.`;
}

/** During a rotation of root's key, the previous key is accepted too: Prometheus scrapes one server after the other. */
async function signerOf(token: string, subject: string, access: Access, now: Date) {
  for (const credentials of [await access.credentials(subject), await access.formerRoot?.(subject)]) {
    if (credentials === undefined || credentials.sessionToken !== undefined) continue;
    if (await isSignedBy(credentials.secretKey, token, now)) return credentials;
  }
  return undefined;
}

function subjectOf(token: string): string | undefined {
  try {
    return decodeJwt(token).sub;
  } catch {
    return undefined;
  }
}

/** The crypto library compares signatures in constant time. */
async function isSignedBy(secretKey: string, token: string, now: Date): Promise<boolean> {
  try {
    await jwtVerify(token, Buffer.from(secretKey), { algorithms: ['HS512'], issuer, currentDate: now });
    return true;
  } catch {
    return false;
  }
}

interface MetricsHandlerOptions {
  readonly authorization: 'jwt' | 'public';
  readonly access: Access;
  readonly sources: MetricSources;
  readonly clock: () => Date;
}

/** Answers Prometheus, also while the server is not ready. It gets the paths of the metrics alone: see `isMetricsPath`. */
export function createMetricsHandler({ authorization, access, sources, clock }: MetricsHandlerOptions): RequestHandler {
  return async (request) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return plain(405, 'The metrics are read by GET.\n', { allow: 'GET, HEAD' });
    }
    const group = groupOf(request.rawPath);
    if (group === undefined) {
      return plain(
        404,
        'Coffer serves the metrics of version 2: scrape /minio/v2/metrics/cluster, /node, /bucket or /resource.\n',
      );
    }
    if (authorization === 'jwt') {
      const issue = await whyScrapeDenied(request.headers.authorization, access, clock(), request);
      if (issue !== undefined) return plain(403, `${issue}\n`);
    }
    const values = await readSources(sources, group, clock().getTime());
    // Loaded lazily: most threads are never scraped, and the modules would delay the start.
    const { metricsText } = await import('./metrics-text.ts');
    const { contentType, text } = await metricsText(values, group);
    return plain(200, text, { 'content-type': contentType });
  };
}

/** Returns undefined for a path of MinIO's metrics of another version. */
function groupOf(rawPath: string): MetricGroup | undefined {
  return /^\/minio\/v2\/metrics\/(cluster|node|bucket|resource)$/.exec(rawPath)?.[1] as MetricGroup | undefined;
}

function plain(status: number, text: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8', ...headers },
    body: { kind: 'bytes', bytes: Buffer.from(text) },
  };
}
