import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { SenderCheck } from '../access/authenticate.ts';
import type { IncomingRequest } from '../access/incoming-request.ts';
import type { AuthenticatedPrincipal } from '../access/principal.ts';
import { StsError, type StsErrorCode } from './sts-error.ts';
import type { StsParameters } from './sts-parameters.ts';

/** Who signed a form of STS. Rejects with an `StsError` for strangers. */
export type SignedCaller = (request: IncomingRequest, parameters: StsParameters) => Promise<AuthenticatedPrincipal>;

/** What refusals of signatures are called here; all others are AccessDenied. */
const codes: Readonly<Record<string, StsErrorCode>> = {
  SignatureDoesNotMatch: 'SignatureDoesNotMatch',
  InvalidAccessKeyId: 'InvalidClientTokenId',
  InvalidTokenId: 'InvalidClientTokenId',
  ExpiredToken: 'ExpiredToken',
  RequestTimeTooSkewed: 'RequestTimeTooSkewed',
};

/** By Signature Version 4 with the service `sts`, in the header alone: SDKs send no hash of the body, so that it is made here. */
export function signedCaller(check: SenderCheck): SignedCaller {
  return async (request, { bodyHash }) => {
    // A signature for another body would cover a form that says something else.
    const sent = request.headers['x-amz-content-sha256'];
    if (sent !== undefined && sent !== bodyHash) {
      throw new StsError('AccessDenied', 'x-amz-content-sha256 is not the SHA-256 of the form that came.');
    }
    if (request.headers.authorization === undefined) {
      throw new StsError('AccessDenied', 'This action needs a signature (Signature Version 4, service sts).');
    }
    try {
      const sender = await check(request, { services: ['sts'], bodyHash });
      if (sender !== undefined && sender.principal.kind !== 'anonymous') {
        request.watch?.isFrom(sender.principal);
        return sender.principal;
      }
    } catch (error) {
      if (!(error instanceof S3Error) || error.status >= 500) throw error;
      throw new StsError(codes[error.code] ?? 'AccessDenied', error.message, { cause: error });
    }
    throw new StsError('AccessDenied', 'This action needs a signature (Signature Version 4, service sts).');
  };
}
