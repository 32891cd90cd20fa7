import type { AuthenticatedPrincipal } from '../access/principal.ts';
import { subjectOf } from '../access/subject-of.ts';
import { parentName } from '../identities/subject.ts';
import { expirationIn } from './credential-lifetime.ts';
import { type GrantServices, grantCredentials } from './grant-credentials.ts';
import { checkSession, sessionRequest } from './session-request.ts';
import type { SignedCaller } from './signed-caller.ts';
import type { StsAction } from './sts-action.ts';
import { assumedRoleUser, credentialsElement } from './sts-documents.ts';
import { StsError } from './sts-error.ts';

export interface AssumeRoleServices extends GrantServices {
  readonly caller: SignedCaller;
  readonly clock: () => Date;
}

/** Where neither the request nor a setting says. Seconds. */
const defaultDuration = 3_600;

/**
 * Credentials for a while with the rights of the user who asks, as they are at each request, narrowed by the session policy. No role
 * is needed: a RoleArn is taken, since SDKs must send one, and means nothing.
 *
 * @see https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html
 */
export function assumeRole(services: AssumeRoleServices): StsAction {
  return {
    name: 'AssumeRole',
    async serve(parameters, request) {
      const caller = await services.caller(request, parameters);
      refuseBorrowed(caller);
      const session = sessionRequest(parameters);
      checkSession(session);
      const now = services.clock();
      const subject = subjectOf(caller) ?? { kind: 'root' };
      const granted = await grantCredentials(services, {
        action: 'AssumeRole',
        caller,
        watch: request.watch,
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

/** What was borrowed is not lent on: credentials could be renewed for ever, past their own end. */
function refuseBorrowed({ kind }: AuthenticatedPrincipal): void {
  if (kind !== 'temporary' && kind !== 'service-account') return;
  const what = kind === 'temporary' ? 'temporary credentials' : 'an access key';
  throw new StsError('AccessDenied', `AssumeRole is for users, not for ${what}; call it with the user's own keys.`);
}
