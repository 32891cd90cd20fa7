import type { Answer } from '../access/answer.ts';
import type { IncomingRequest } from '../access/incoming-request.ts';
import { asS3Error } from '../s3/as-s3-error.ts';
import { hostId } from '../s3/error-answer.ts';

/** Below `/minio/admin/` and `/minio/kms/` refusals are JSON with the field names of the XML. */
export function answerAdminError(error: unknown, request: IncomingRequest): Answer {
  const refusal = asS3Error(error);
  const document = {
    Code: refusal.wireCode,
    Message: refusal.message,
    ...refusal.details,
    Resource: request.rawPath,
    RequestId: request.requestId,
    HostId: hostId,
  };
  return {
    status: refusal.status,
    headers: { 'content-type': 'application/json' },
    body: { kind: 'bytes', bytes: Buffer.from(JSON.stringify(document)) },
  };
}
