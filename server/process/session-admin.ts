import type { BodyMemory } from '../streams/body-memory.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { verifiedBody } from '../auth/verified-body.ts';
import { createAdminHandler } from '../admin/admin-handler.ts';
import type { SessionAdmin } from '../console/services.ts';
import { MessageBody } from '../http/message-body.ts';
import { sendAnswer } from '../http/send-answer.ts';
import { WatchedAccess, requestOf } from './session-request.ts';

type AdminServices = Parameters<typeof createAdminHandler>[0];

/**
 * Runs calls of the admin API for sessions of the console. The session takes the place of the signature. Documents are not encrypted under
 * the caller's secret key: the page does not have it, and the connection protects them as it protects everything else of the console.
 */
export function createSessionAdmin(
  services: Omit<AdminServices, 'authenticate' | 'plainDocuments'> & { readonly bodies?: BodyMemory },
): SessionAdmin {
  return {
    async serve(message, response, call) {
      const body = new MessageBody(message, response, false, services.bodies);
      const access = new WatchedAccess(services.access);
      const handle = createAdminHandler({
        ...services,
        access,
        plainDocuments: true,
        authenticate: (request, headers = request.headers) =>
          Promise.resolve({ principal: call.principal, ...verifiedBody(request, headers, undefined) }),
      });
      try {
        const answer = await handle(requestOf(message, body, call, call.path));
        const headers = { ...answer.headers, 'cache-control': 'no-store' };
        await sendAnswer(message, response, { ...answer, headers }, { requestId: call.requestId });
      } catch (error) {
        const denied = error instanceof S3Error && error.code === 'AccessDenied';
        if (!denied || access.denied === undefined || response.headersSent) throw error;
        throw new S3Error('AccessDenied', await call.explain(access.denied), { cause: error });
      } finally {
        body.release();
      }
    },
  };
}
