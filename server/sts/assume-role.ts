import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { CallerVerifier } from '../auth/access.ts';
import type { IncomingRequest } from '../http/contract/request.ts';
import { type AuthenticatedPrincipal, subjectOf, accountId as account, displayNameOf } from '../auth/principal.ts';
import { type StsErrorCode, assumedRoleUser, credentialsElement, stsError } from './sts-error.ts';
import { type StsParameters, expirationIn, checkSession, sessionRequest, type StsAction } from './sts-request.ts';
import { parentName } from '../auth/identities/subject.ts';
import { type GrantServices, grantCredentials } from './grant-credentials.ts';
import { element } from '../../protocol/s3/xml-writer.ts';

/** Returns the signer of an STS request. Rejects with a `RequestError` without a valid signature. */
type SignedCaller = (request: IncomingRequest, parameters: StsParameters) => Promise<AuthenticatedPrincipal>;

/** STS codes for errors of signatures; others are AccessDenied. */
const codes: Readonly<Record<string, StsErrorCode>> = {
  SignatureDoesNotMatch: 'SignatureDoesNotMatch',
  InvalidAccessKeyId: 'InvalidClientTokenId',
  InvalidTokenId: 'InvalidClientTokenId',
  ExpiredToken: 'ExpiredToken',
  RequestTimeTooSkewed: 'RequestTimeTooSkewed',
};

/** Verifies Signature Version 4 for the service `sts`, in the header only. SDKs send no hash of the body, so it is computed here. */
export function signedCaller(check: CallerVerifier): SignedCaller {
  return async (request, { bodyHash }) => {
    // The signature must cover this form.
    const sent = request.headers['x-amz-content-sha256'];
    if (sent !== undefined && sent !== bodyHash) {
      throw stsError('AccessDenied', 'x-amz-content-sha256 is not the SHA-256 of the form that came.');
    }
    if (request.headers.authorization === undefined) {
      throw stsError('AccessDenied', 'This action needs a signature (Signature Version 4, service sts).');
    }
    try {
      const sender = await check(request, { services: ['sts'], bodyHash });
      if (sender !== undefined && sender.principal.kind !== 'anonymous') {
        request.audit?.setPrincipal(sender.principal);
        return sender.principal;
      }
    } catch (error) {
      if (!(error instanceof S3Error) || error.status >= 500) throw error;
      throw stsError(codes[error.code] ?? 'AccessDenied', error.message, { cause: error });
    }
    throw stsError('AccessDenied', 'This action needs a signature (Signature Version 4, service sts).');
  };
}

interface AssumeRoleServices extends GrantServices {
  readonly caller: SignedCaller;
  readonly clock: () => Date;
}

/** Default in seconds. */
const defaultDuration = 3_600;

/**
 * Temporary credentials with the rights of the calling user at each request, bounded by the session policy. A RoleArn is ignored: SDKs must
 * send one, but there are no roles.
 *
 * @see https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html
 */
export function assumeRole(services: AssumeRoleServices): StsAction {
  return {
    name: 'AssumeRole',
    async serve(parameters, request) {
      const caller = await services.caller(request, parameters);
      refuseDelegated(caller);
      const session = sessionRequest(parameters);
      checkSession(session);
      const now = services.clock();
      const subject = subjectOf(caller) ?? { kind: 'root' };
      const granted = await grantCredentials(services, {
        action: 'AssumeRole',
        caller,
        audit: request.audit,
        from: request,
        subject,
        parentName: parentName(subject, caller.accessKey),
        session,
        expiration: expirationIn(session.durationSeconds ?? defaultDuration, now),
        now,
      });
      return { result: [assumedRoleUser('', granted), credentialsElement(granted)], granted };
    },
  };
}

/** Temporary credentials and service accounts cannot get more credentials, which could outlive them. */
function refuseDelegated({ kind }: AuthenticatedPrincipal): void {
  if (kind !== 'temporary' && kind !== 'service-account') return;
  const what = kind === 'temporary' ? 'temporary credentials' : 'an access key';
  throw stsError('AccessDenied', `AssumeRole is for users, not for ${what}; call it with the user's own keys.`);
}

/** @see https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html */
export function getCallerIdentity(services: { readonly caller: SignedCaller }): StsAction {
  return {
    name: 'GetCallerIdentity',
    async serve(parameters, request) {
      const caller = await services.caller(request, parameters);
      const result = [element('Arn', arnOf(caller)), element('UserId', caller.accessKey), element('Account', account)];
      return { result };
    },
  };
}

function arnOf(caller: AuthenticatedPrincipal): string {
  const subject = subjectOf(caller);
  if (subject?.kind === 'root') return `arn:aws:iam::${account}:root`;
  if (caller.kind === 'user') return `arn:aws:iam::${account}:user/${displayNameOf(caller)}`;
  const through = subject?.kind === 'federated' ? subject.provider : 'user';
  return `arn:aws:sts::${account}:assumed-role/${through}/${displayNameOf(caller)}`;
}
