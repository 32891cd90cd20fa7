import type { Access, Principal } from '../access/principal.ts';
import type { TemporaryCredentials } from '../access/temporary-credentials-record.ts';
import type { TemporaryCredentialsStore } from '../access/temporary-credentials.ts';
import type { Subject } from '../identities/subject.ts';
import type { SessionRequest } from './session-request.ts';
import { StsError } from './sts-error.ts';

export interface GrantServices {
  readonly temporary: Pick<TemporaryCredentialsStore, 'create'>;
  readonly authorize: Access['authorize'];
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
}

/**
 * Makes temporary credentials. Everyone may have them for themselves, unless a policy of theirs denies the action: for instance by
 * the condition `sts:DurationSeconds`, those that would live too long.
 */
export async function grantCredentials(services: GrantServices, grant: Grant): Promise<TemporaryCredentials> {
  const { subject, session, expiration } = grant;
  const seconds = session.durationSeconds ?? Math.round((expiration.getTime() - grant.now.getTime()) / 1_000);
  const decision = await services.authorize({
    principal: grant.caller ?? { kind: 'temporary', accessKey: '', subject, expiration },
    action: `sts:${grant.action}`,
    resource: '',
    context: { 'sts:DurationSeconds': [String(seconds)] },
    allowedUnlessDenied: true,
  });
  if (decision.kind === 'deny') {
    throw new StsError('AccessDenied', `A policy denies sts:${grant.action} for ${seconds} seconds.`, {
      cause: new Error(decision.reason),
    });
  }
  return services.temporary.create({
    subject,
    parentName: grant.parentName,
    ...(grant.roleArn === undefined ? {} : { roleArn: grant.roleArn }),
    ...(session.policy === undefined ? {} : { sessionPolicy: session.policy }),
    ...(session.revokeType === undefined ? {} : { revokeType: session.revokeType }),
    expiration,
  });
}
