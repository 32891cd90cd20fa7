import { randomBytes } from 'node:crypto';
import { Router, type Request, type Response } from 'express';
import type { ConsoleServices } from '../../services.ts';
import type { Authorizer } from '../authorize.ts';
import { guardHeader } from '../browser-security.ts';
import { auditOf } from '../request-audit.ts';
import { originOf } from '../request-source.ts';
import { currentSession } from '../sign-in/current-session.ts';
import { consoleError } from '../console-error.ts';

/**
 * The calls of the admin API that pages use, by their names there. Calls that change the caller's own secret key are not among them: a
 * signature proves that the caller knows the present one, and a cookie does not.
 */
const callNames: ReadonlySet<string> = new Set([
  'info',
  'datausageinfo',
  'trace',
  'log',
  'service',
  'kms/status',
  'kms/key/status',
  'kms/key/create',
  'kms/key/import',
  'kms/key/list',
  'kms/key/delete',
  'coffer/kms/key/usage',
  'coffer/kms/key/rotate',
  'coffer/kms/key/describe',
  'help-config-kv',
  'get-config-kv',
  'set-config-kv',
  'del-config-kv',
  'list-config-history-kv',
  'restore-config-history-kv',
  'export-iam',
  'import-iam',
  'import-iam-v2',
  'coffer/usage',
  'coffer/verify',
  'coffer/snapshot',
  'coffer/scrub',
  'coffer/quarantine',
  'coffer/read-only',
  'coffer/bucket-quota',
  'set-bucket-quota',
  'coffer/notifications',
  'coffer/notifications/held',
  'coffer/notifications/held/drop',
  'coffer/notifications/held/retry',
  'list-remote-targets',
  'set-remote-target',
  'remove-remote-target',
  'start-job',
  'describe-job',
  'cancel-job',
  'coffer/batch-jobs',
  'tier',
  'tier-stats',
]);

/** The calls that name a tier in their path. */
const tierCall = /^tier\/[A-Z0-9][A-Z0-9._-]{0,63}$/;

/**
 * Calls of the admin API for the pages: `/admin/NAME?…` with the method, query and body of the call, whose documents are plain. Errors have
 * the form of the admin API.
 *
 * Reads need the header of the console too, so that no page of another site can start a long answer.
 */
export function adminCallRoutes({ admin }: Pick<ConsoleServices, 'admin'>, authorizer: Authorizer): Router {
  const router = Router();
  router.use('/admin', async (request: Request, response: Response) => {
    if (request.get(guardHeader) === undefined) {
      throw consoleError('CrossSiteRequest', `The header ${guardHeader} is missing.`);
    }
    const path = adminPathOf(request.path);
    if (admin === undefined || path === undefined) {
      throw consoleError('NotFound', `The console has no admin call ${request.path.slice(0, 100)}.`);
    }
    await admin.serve(request, response, {
      principal: currentSession(response).credentials.principal,
      origin: originOf(request),
      requestId: randomBytes(8).toString('hex').toUpperCase(),
      path,
      rawQuery: request.originalUrl.split('?').slice(1).join('?'),
      audit: auditOf(response),
      explain: (rejected) => authorizer.explain({ request, response }, rejected),
    });
  });
  return router;
}

/** Returns the path of the admin API for `/NAME`; undefined for a call that no page uses. */
export function adminPathOf(path: string): string | undefined {
  const name = path.slice(1);
  if (!callNames.has(name) && !tierCall.test(name)) return undefined;
  return name.startsWith('coffer/')
    ? `/minio/admin/coffer/v1/${name.slice('coffer/'.length)}`
    : `/minio/admin/v4/${name}`;
}
