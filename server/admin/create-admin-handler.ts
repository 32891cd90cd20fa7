import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { Answer, RequestHandler } from '../access/answer.ts';
import type { IncomingRequest } from '../access/incoming-request.ts';
import { AdminError } from './admin-error.ts';
import { createKey, keyServiceState, keyServiceStatus, keyStatus } from './key-service-calls.ts';
import { maintenanceRoutes } from './maintenance-calls.ts';
import type { Route } from './route.ts';
import { infoMessage } from './server-info.ts';
import type { AdminServices, KeyAdministration } from './services.ts';

/** Calls of the key service have an older name below `admin/v3`; clients of both ages are served. */
const routes: readonly Route[] = [
  { method: 'GET', path: /^\/minio\/admin\/v[34]\/info$/, action: 'admin:ServerInfo', serve: serverInfo },
  {
    method: 'GET|POST',
    path: /^\/minio\/(admin\/v[34]\/kms|kms\/v1)\/status$/,
    action: 'admin:KMSKeyStatus',
    serve: ({ keys }) => keyServiceStatus(configured(keys)),
  },
  {
    method: 'GET',
    path: /^\/minio\/(admin\/v[34]\/kms|kms\/v1)\/key\/status$/,
    action: 'admin:KMSKeyStatus',
    serve: ({ keys }, query) => {
      const { source } = configured(keys);
      return keyStatus(source, query.get('key-id') || source.defaultKey);
    },
  },
  {
    method: 'POST',
    path: /^\/minio\/(admin\/v[34]\/kms|kms\/v1)\/key\/create$/,
    action: 'admin:KMSCreateKey',
    serve: ({ keys }, query) => createKey(configured(keys), query.get('key-id') ?? ''),
  },
  ...maintenanceRoutes,
];

/** The admin API. Rejects with an `S3Error`, which `http` answers as JSON; refusals of its own are answered here. */
export function createAdminHandler(services: AdminServices): RequestHandler {
  return async (request) => {
    const { principal } = await services.authenticate(request);
    if (principal.kind === 'anonymous') throw new S3Error('AccessDenied');
    const route = routeOf(request);
    const decision = await services.access.authorize({
      principal,
      action: route.action,
      resource: '',
      context: { 'aws:SourceIp': [request.remoteAddress], 'aws:SecureTransport': [String(request.secure)] },
    });
    if (decision.kind === 'deny') throw new S3Error('AccessDenied', undefined, { cause: new Error(decision.reason) });
    const served = serve(route, request, services);
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

async function serve(route: Route, request: IncomingRequest, services: AdminServices): Promise<Answer> {
  try {
    return answer(200, await route.serve(services, new URLSearchParams(request.rawQuery)));
  } catch (error) {
    if (!(error instanceof AdminError)) throw error;
    return refusal(error, request, services);
  }
}

/** An administrator who waited for long is told what went wrong, whatever it was. */
function failure(error: unknown, request: IncomingRequest, { server }: AdminServices): Answer {
  return answer(500, {
    Code: 'InternalError',
    Message: error instanceof Error ? error.message : String(error),
    Resource: request.rawPath,
    RequestId: request.requestId,
    HostId: server.deploymentId,
  });
}

function routeOf({ method, rawPath }: IncomingRequest): Route {
  const found = routes.filter(({ path }) => path.test(rawPath));
  const route = found.find((candidate) => candidate.method.split('|').includes(method));
  if (route !== undefined) return route;
  if (found.length > 0) throw new S3Error('MethodNotAllowed');
  throw new S3Error('NotImplemented', `This server does not offer the admin call ${method} ${rawPath.slice(0, 200)}.`);
}

async function serverInfo(services: AdminServices): Promise<unknown> {
  const [buckets, space, keyService] = await Promise.all([
    services.objects.listBuckets(),
    services.space(),
    keyServiceState(services.keys),
  ]);
  const now = (services.clock ?? (() => new Date()))();
  const others = services.others?.() ?? [];
  return infoMessage({ server: services.server, others, buckets: buckets.length, space, keyService, now });
}

function configured(keys: KeyAdministration | undefined): KeyAdministration {
  if (keys !== undefined) return keys;
  throw new AdminError('KMSNotConfigured', 'No key service is configured; set SVC_KMS_KEYSVC_ENDPOINT.');
}

function refusal(error: AdminError, request: IncomingRequest, { server }: AdminServices): Answer {
  return answer(error.status, {
    Code: error.code,
    Message: error.message,
    Resource: request.rawPath,
    RequestId: request.requestId,
    HostId: server.deploymentId,
  });
}

function answer(status: number, document: unknown): Answer {
  if (document === undefined) return { status, headers: {}, body: { kind: 'empty' } };
  const bytes = Buffer.from(JSON.stringify(document));
  return { status, headers: { 'content-type': 'application/json' }, body: { kind: 'bytes', bytes } };
}
