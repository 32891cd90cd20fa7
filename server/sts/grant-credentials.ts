import { connectionContext, type RequestOrigin, timeContext } from '../auth/condition-keys.ts';
import type { Access, Principal } from '../auth/principal.ts';
import type { RequestWatch } from '../http/contract/request.ts';
import type { TemporaryCredentials } from '../auth/temporary-credentials-record.ts';
import type { TemporaryCredentialsStore } from '../auth/temporary-credentials.ts';
import type { IdentityReader } from '../auth/identities/identities.ts';
import type { Subject } from '../auth/identities/subject.ts';
import type { SessionRequest } from './sts-request.ts';
import { StsError } from './sts-error.ts';

export interface GrantServices {
  readonly temporary: Pick<TemporaryCredentialsStore, 'create'>;
  readonly authorize: Access['authorize'];
  readonly identities: Pick<IdentityReader, 'policiesOf'>;
}

export interface Grant {
  /** The action of STS that asks, without `sts:`. */
  readonly action: string;
  readonly subject: Subject;
  /** As MinIO's clients name the subject. */
  readonly parentName: string;
  readonly roleArn?: string;
  readonly session: SessionRequest;
  readonly expiration: Date;
  readonly now: Date;
  /** Who asks, where that is somebody whom the server knows already. */
  readonly caller?: Principal;
  /** Of the request that asks. */
  readonly watch?: RequestWatch | undefined;
  /** Where it comes from; absent where no request asks, as for a session of the console that is renewed. */
  readonly from?: RequestOrigin | undefined;
}

/**
 * Makes temporary credentials. Everyone may have them for themselves, unless a policy of theirs denies the action: for instance by
 * the condition `sts:DurationSeconds`, those that would live too long.
 */
export async function grantCredentials(services: GrantServices, grant: Grant): Promise<TemporaryCredentials> {
  const { subject, session, expiration, watch } = grant;
  const seconds = session.durationSeconds ?? Math.round((expiration.getTime() - grant.now.getTime()) / 1_000);
  const asked = { action: `sts:${grant.action}`, resource: '' };
  const decision = await services.authorize({
    principal: grant.caller ?? { kind: 'temporary', accessKey: '', subject, expiration },
    ...asked,
    context: { ...originContext(grant), 'sts:DurationSeconds': [String(seconds)] },
    allowedUnlessDenied: true,
  });
  watch?.decided(asked, decision);
  if (decision.kind === 'deny') {
    throw new StsError('AccessDenied', `A policy denies sts:${grant.action} for ${seconds} seconds.`, {
      cause: new Error(decision.reason),
    });
  }
  // Before there are credentials: what cannot be read must not leave some behind that nobody is told of.
  const policies = watch === undefined ? [] : await services.identities.policiesOf(subject);
  const made = await services.temporary.create({
    subject,
    parentName: grant.parentName,
    ...(grant.roleArn === undefined ? {} : { roleArn: grant.roleArn }),
    ...(session.policy === undefined ? {} : { sessionPolicy: session.policy }),
    ...(session.revokeType === undefined ? {} : { revokeType: session.revokeType }),
    expiration,
  });
  const role = grant.roleArn === undefined ? {} : { roleArn: grant.roleArn };
  watch?.granted({ principal: made.principal, policies, ...role });
  return made;
}

function originContext({ from, now }: Pick<Grant, 'from' | 'now'>): Readonly<Record<string, readonly string[]>> {
  return from === undefined ? timeContext(now) : connectionContext(from, now);
}
