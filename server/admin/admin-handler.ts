import { redactText } from '../../platform/output/redact-secrets.ts';
import type { Answer, RequestHandler, IncomingRequest } from '../http/contract/request.ts';
import { type AdminAnswer, type AdminCall, authorizeCall, createCall, type Route } from './call.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { currentPrincipal, whileAllowed } from '../auth/while-allowed.ts';
import { adminError, asAdminError } from '../administration/admin-error.ts';
import { accessKeyRoutes, revokeTokensRoutes } from './access-keys/access-keys.ts';
import { accountRoutes, userRoutes } from './users.ts';
import { attachmentRoutes, claimRoutes } from './policy-attachments.ts';
import { absentFeatureRoutes } from './absent-features.ts';
import { batchRoutes } from './batch-jobs.ts';
import { bucketArchiveRoutes, identityArchiveRoutes } from './archives.ts';
import { configRoutes } from './config.ts';
import { explainRoutes, policyRoutes } from './policies.ts';
import { federatedAccessKeyRoutes } from './access-keys/federated-access-keys.ts';
import { groupRoutes } from './groups.ts';
import { logRoutes } from './streams/logs.ts';
import { serviceRoutes } from './service.ts';
import { traceRoutes } from './streams/trace.ts';
import { keyRoutes } from './keys.ts';
import {
  idpConfigRoutes,
  ldapTestRoutes,
  openIdTestRoutes,
  userStatusCheckRoutes,
} from './identity-providers/identity-providers.ts';
import { infoRoutes } from './info.ts';
import { storageRoutes } from './storage.ts';
import { ldapRoutes } from './identity-providers/ldap.ts';
import { heldEventRoutes } from './held-events.ts';
import { notificationRoutes } from './notifications.ts';
import { maintenanceRoutes } from './maintenance.ts';
import { serviceAccountRoutes } from './access-keys/service-accounts.ts';
import type { AdminServices } from '../administration/services.ts';
import { backlogRoutes } from './replication/backlog.ts';
import { remoteTargetRoutes } from './replication/remote-targets.ts';
import { quotaRoutes } from './quota.ts';
import { tierRoutes } from './tiers/tiers.ts';
import { siteReplicationRoutes } from './sites/site-replication.ts';
import { healthRoutes } from './diagnostics/health-report.ts';
import { inspectionRoutes } from './diagnostics/inspection.ts';
import { metricRoutes } from './diagnostics/live-metrics.ts';
import { speedTestRoutes } from './diagnostics/speed-tests.ts';
import { usageRoutes } from './usage.ts';
import type { RequestError } from '../../protocol/request-error.ts';

/** Bytes per chunk, which bounds the memory of a slow client. */
const maxTextLength = 64 * 1024;

/** Writes each value on a line, in chunks of whole lines. Values of one batch go out together. */
async function* jsonLines(batches: AsyncIterable<readonly object[]>): AsyncGenerator<Buffer, void> {
  for await (const values of batches) {
    let text = '';
    for (const value of values) {
      text += `${JSON.stringify(value)}\n`;
      if (text.length < maxTextLength) continue;
      yield Buffer.from(text);
      text = '';
    }
    if (text !== '') yield Buffer.from(text);
  }
}

/** Makes the HTTP answer of a call. */
async function toAnswer(call: AdminCall, answer: AdminAnswer): Promise<Answer> {
  switch (answer.kind) {
    case 'none':
      return { status: answer.status ?? 200, headers: answer.headers ?? {}, body: { kind: 'empty' } };
    case 'json':
      return bytes(Buffer.from(JSON.stringify(answer.value)), 'application/json', answer.headers);
    case 'sealed': {
      if (call.services.plainDocuments === true)
        return bytes(Buffer.from(answer.value), 'text/plain; charset=utf-8', answer.headers);
      return bytes(await call.seal(Buffer.from(answer.value)), 'application/octet-stream', answer.headers);
    }
    case 'bytes':
      return bytes(answer.bytes, answer.contentType);
    case 'lines': {
      const { lines } = answer;
      const { stopping } = call.services;
      const ended = (gone: AbortSignal) => (stopping === undefined ? gone : AbortSignal.any([gone, stopping]));
      return {
        status: 200,
        headers: { 'content-type': 'application/x-ndjson' },
        body: { kind: 'endless', chunks: (gone) => jsonLines(lines(ended(gone))) },
      };
    }
    default:
      return answer satisfies never;
  }
}

function bytes(content: Buffer, contentType: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status: 200, headers: { 'content-type': contentType, ...headers }, body: { kind: 'bytes', bytes: content } };
}

/** All calls of the admin API. */
export const routes: readonly Route[] = [
  ...infoRoutes,
  ...storageRoutes,
  ...usageRoutes,
  ...quotaRoutes,
  ...notificationRoutes,
  ...heldEventRoutes,
  ...remoteTargetRoutes,
  ...backlogRoutes,
  ...siteReplicationRoutes,
  ...keyRoutes,
  ...maintenanceRoutes,
  ...serviceRoutes,
  ...traceRoutes,
  ...logRoutes,
  ...idpConfigRoutes,
  ...configRoutes,
  ...userStatusCheckRoutes,
  ...openIdTestRoutes,
  ...ldapTestRoutes,
  ...userRoutes,
  ...groupRoutes,
  ...policyRoutes,
  ...attachmentRoutes,
  ...claimRoutes,
  ...ldapRoutes,
  ...revokeTokensRoutes,
  ...serviceAccountRoutes,
  ...accessKeyRoutes,
  ...federatedAccessKeyRoutes,
  ...accountRoutes,
  ...identityArchiveRoutes,
  ...explainRoutes,
  ...bucketArchiveRoutes,
  // Last, because it also matches calls that are listed above.
  ...batchRoutes,
  ...tierRoutes,
  ...metricRoutes,
  ...speedTestRoutes,
  ...inspectionRoutes,
  ...healthRoutes,
  ...absentFeatureRoutes,
];

/** The admin API. It answers its own errors and rejects with an `S3Error` otherwise, which the listener answers as JSON. */
export function createAdminHandler(services: AdminServices): RequestHandler {
  return async (request) => {
    const authenticated = await services.authenticate(request);
    const { principal } = authenticated;
    request.audit?.setPrincipal(principal);
    if (principal.kind === 'anonymous') throw new S3Error('AccessDenied');
    const found = routeOf(request);
    if (found === undefined) return audited(unknownCall(request), request, services);
    const { route, parts } = found;
    const call = createCall(services, request, authenticated, principal, parts);
    await authorizeRoute(route, call);
    const served = serve(route, call);
    if (route.slow !== true) return served;
    return {
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: {
        kind: 'slow',
        early: Buffer.from(' '),
        result: served.catch((error: unknown) => failure(error, request, services)),
      },
    };
  };
}

async function authorizeRoute({ action: asked, own, keys, someKey }: Route, call: AdminCall): Promise<void> {
  const action = [typeof asked === 'function' ? asked(call) : asked].flat();
  // The operation is the action without its prefix: CreateUser for `admin:CreateUser`.
  call.request.audit?.setOperation((action[0] ?? '').replace(/^.*:/, ''));
  const resources = keys === undefined ? [''] : keys(call);
  for (const resource of resources) {
    const unknown = someKey === true ? ({ below: true, keys: [] } as const) : undefined;
    await authorizeCall(call, { action, resource, allowedByDefault: own, unknown });
  }
}

/** Reports whether the caller, as the identities have it now, may still make the call. */
async function isStillAllowed(route: Route, call: AdminCall): Promise<boolean> {
  const principal = await currentPrincipal(call.services.access, call.principal);
  if (principal === undefined || principal.kind === 'anonymous') return false;
  try {
    // The audit has the decisions of the call itself.
    await authorizeRoute(route, { ...call, principal, request: { ...call.request, audit: undefined } });
    return true;
  } catch (error) {
    if (error instanceof S3Error && error.code === 'AccessDenied') return false;
    throw error;
  }
}

async function serve(route: Route, call: AdminCall): Promise<Answer> {
  try {
    const answer = await toAnswer(call, await route.serve(call));
    if (answer.body.kind !== 'endless') return answer;
    const chunks = whileAllowed(answer.body.chunks, () => isStillAllowed(route, call));
    return { ...answer, body: { kind: 'endless', chunks } };
  } catch (error) {
    const rejected = asAdminError(error);
    if (rejected === undefined) throw error;
    return audited(rejected, call.request, call.services);
  }
}

/** Answers any error of a slow call with its message, because the status was sent long before. */
function failure(error: unknown, request: IncomingRequest, { server }: AdminServices): Answer {
  return errorAnswer(500, {
    Code: 'InternalError',
    Message: redactText(error instanceof Error ? error.message : String(error)),
    Resource: request.rawPath,
    RequestId: request.requestId,
    HostId: server.deploymentId,
  });
}

/** Returns undefined for a call that the server does not offer. */
function routeOf({
  method,
  rawPath,
}: IncomingRequest): { readonly route: Route; readonly parts: readonly string[] } | undefined {
  let known = false;
  for (const route of routes) {
    const found = route.path.exec(rawPath);
    if (found === null) continue;
    known = true;
    if (route.method.split('|').includes(method)) return { route, parts: found.slice(1).map(decoded) };
  }
  if (known) throw new S3Error('MethodNotAllowed');
  return undefined;
}

function decoded(part: string | undefined): string {
  try {
    return decodeURIComponent(part ?? '');
  } catch {
    throw new S3Error('InvalidURI');
  }
}

/** By the status of it the clients of a MinIO know a server that is older than a call, and do without. */
function unknownCall({ method, rawPath }: IncomingRequest): RequestError {
  const call = `${method} ${rawPath.slice(0, 200)}`;
  return adminError('XMinioAdminVersionMismatch', `This server does not offer the admin call ${call}.`);
}

function audited(error: RequestError, request: IncomingRequest, services: AdminServices): Answer {
  request.audit?.setError({ code: error.code, message: error.message });
  return refusal(error, request, services);
}

function refusal(error: RequestError, request: IncomingRequest, { server }: AdminServices): Answer {
  return errorAnswer(error.status, {
    Code: error.code,
    Message: redactText(error.message),
    Resource: request.rawPath,
    RequestId: request.requestId,
    HostId: server.deploymentId,
  });
}

function errorAnswer(status: number, document: unknown): Answer {
  const bytes = Buffer.from(JSON.stringify(document));
  return { status, headers: { 'content-type': 'application/json' }, body: { kind: 'bytes', bytes } };
}
