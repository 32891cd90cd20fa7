import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { Answer, RequestHandler } from '../access/answer.ts';
import type { IncomingRequest } from '../access/incoming-request.ts';
import { toAnswer } from './admin-answer.ts';
import { authorizeCall, createCall } from './admin-call.ts';
import type { AdminError } from './admin-error.ts';
import { asAdminError } from './as-admin-error.ts';
import { accessKeyRoutes } from './access-key-routes.ts';
import { accountRoutes } from './account-info.ts';
import { attachmentRoutes } from './attachment-routes.ts';
import { absentFeatureRoutes } from './absent-features.ts';
import { bucketArchiveRoutes } from './bucket-archive-routes.ts';
import { claimRoutes } from './claim-routes.ts';
import { configRoutes } from './config-routes.ts';
import { explainRoutes } from './explain-routes.ts';
import { federatedAccessKeyRoutes } from './federated-access-key-routes.ts';
import { groupRoutes } from './group-routes.ts';
import { logRoutes } from './log-routes.ts';
import { serviceRoutes } from './service-routes.ts';
import { traceRoutes } from './trace-routes.ts';
import { identityArchiveRoutes } from './identity-archive-routes.ts';
import { keyRoutes } from './key-routes.ts';
import { idpConfigRoutes } from './idp-config-routes.ts';
import { infoRoutes } from './info-routes.ts';
import { ldapRoutes } from './ldap-routes.ts';
import { ldapTestRoutes } from './ldap-test-routes.ts';
import { maintenanceRoutes } from './maintenance-calls.ts';
import { openIdTestRoutes } from './openid-test-routes.ts';
import { personCheckRoutes } from './person-check-routes.ts';
import { policyRoutes } from './policy-routes.ts';
import type { AdminCall, Route } from './route.ts';
import { revokeTokensRoutes } from './revoke-tokens.ts';
import { serviceAccountRoutes } from './service-account-routes.ts';
import type { AdminServices } from './services.ts';
import { usageRoutes } from './usage-routes.ts';
import { userRoutes } from './user-routes.ts';

/** Every call that there is. */
export const routes: readonly Route[] = [
  ...infoRoutes,
  ...usageRoutes,
  ...keyRoutes,
  ...maintenanceRoutes,
  ...serviceRoutes,
  ...traceRoutes,
  ...logRoutes,
  ...idpConfigRoutes,
  ...configRoutes,
  ...personCheckRoutes,
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
  // Last: what there is of these stands above.
  ...absentFeatureRoutes,
];

/** The admin API. Rejects with an `S3Error`, which `http` answers as JSON; refusals of its own are answered here. */
export function createAdminHandler(services: AdminServices): RequestHandler {
  return async (request) => {
    const authenticated = await services.authenticate(request);
    const { principal } = authenticated;
    request.watch?.isFrom(principal);
    if (principal.kind === 'anonymous') throw new S3Error('AccessDenied');
    const { route, parts } = routeOf(request);
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

async function authorizeRoute({ action: asked, own, keys }: Route, call: AdminCall): Promise<void> {
  const { services, request, principal } = call;
  const action = [typeof asked === 'function' ? asked(call) : asked].flat();
  // By the name that policies know: `admin:CreateUser` is CreateUser.
  request.watch?.isFor((action[0] ?? '').replace(/^.*:/, ''));
  const resources = keys === undefined ? [''] : keys(call);
  for (const resource of resources) {
    await authorizeCall(services, request, principal, { action, resource, own: own === true });
  }
}

async function serve(route: Route, call: AdminCall): Promise<Answer> {
  try {
    return await toAnswer(call, await route.serve(call));
  } catch (error) {
    const refused = asAdminError(error);
    if (refused === undefined) throw error;
    call.request.watch?.refused({ code: refused.code, message: refused.message });
    return refusal(refused, call.request, call.services);
  }
}

/** An administrator who waited for long is told what went wrong, whatever it was. */
function failure(error: unknown, request: IncomingRequest, { server }: AdminServices): Answer {
  return errorAnswer(500, {
    Code: 'InternalError',
    Message: error instanceof Error ? error.message : String(error),
    Resource: request.rawPath,
    RequestId: request.requestId,
    HostId: server.deploymentId,
  });
}

function routeOf({ method, rawPath }: IncomingRequest): { readonly route: Route; readonly parts: readonly string[] } {
  let known = false;
  for (const route of routes) {
    const found = route.path.exec(rawPath);
    if (found === null) continue;
    known = true;
    if (route.method.split('|').includes(method)) return { route, parts: found.slice(1).map(decoded) };
  }
  if (known) throw new S3Error('MethodNotAllowed');
  throw new S3Error('NotImplemented', `This server does not offer the admin call ${method} ${rawPath.slice(0, 200)}.`);
}

function decoded(part: string | undefined): string {
  try {
    return decodeURIComponent(part ?? '');
  } catch {
    throw new S3Error('InvalidURI');
  }
}

function refusal(error: AdminError, request: IncomingRequest, { server }: AdminServices): Answer {
  return errorAnswer(error.status, {
    Code: error.code,
    Message: error.message,
    Resource: request.rawPath,
    RequestId: request.requestId,
    HostId: server.deploymentId,
  });
}

function errorAnswer(status: number, document: unknown): Answer {
  const bytes = Buffer.from(JSON.stringify(document));
  return { status, headers: { 'content-type': 'application/json' }, body: { kind: 'bytes', bytes } };
}
