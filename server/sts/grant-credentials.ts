import { authorizeRequest } from '../auth/authorize.ts';
import { connectionContext, type RequestOrigin, timeContext } from '../auth/condition-keys.ts';
import type { Access, Principal } from '../auth/principal.ts';
import type { AuditContext } from '../http/contract/request.ts';
import type { TemporaryCredentials } from '../auth/temporary-credentials-record.ts';
import type { TemporaryCredentialsStore } from '../auth/temporary-credentials.ts';
import type { IdentityReader } from '../auth/identities/identities.ts';
import type { Subject } from '../auth/identities/subject.ts';
import type { SessionRequest } from './sts-request.ts';
import { stsError } from './sts-error.ts';

export interface GrantServices {
  readonly temporary: Pick<TemporaryCredentialsStore, 'create'>;
  readonly authorize: Access['authorize'];
  readonly identities: Pick<IdentityReader, 'policiesOf'>;
}

export interface Grant {
  /** The STS action without `sts:`. */
  readonly action: string;
  readonly subject: Subject;
  /** The subject's name for MinIO clients. */
  readonly parentName: string;
  readonly roleArn?: string;
  readonly session: SessionRequest;
  readonly expiration: Date;
  readonly now: Date;
  /** The caller, if the request was signed. */
  readonly caller?: Principal;
  /** The audit context of the request. */
  readonly audit?: AuditContext | undefined;
  /** The origin of the request; absent without a request, e.g. when the console renews a session. */
  readonly from?: RequestOrigin | undefined;
}

/** Makes temporary credentials. The action is allowed by default; a policy can deny it, e.g. by the condition `sts:DurationSeconds`. */
export async function grantCredentials(services: GrantServices, grant: Grant): Promise<TemporaryCredentials> {
  const { subject, session, expiration, audit } = grant;
  const seconds = session.durationSeconds ?? Math.round((expiration.getTime() - grant.now.getTime()) / 1_000);
  const context = {
    principal: grant.caller ?? { kind: 'temporary' as const, accessKey: '', subject, expiration },
    conditions: { ...originContext(grant), 'sts:DurationSeconds': [String(seconds)] },
    audit,
  };
  const right = { action: `sts:${grant.action}`, resource: '', allowedByDefault: true };
  const decision = (await authorizeRequest(services, context, right))?.decision;
  if (decision?.kind === 'deny') {
    throw stsError('AccessDenied', `A policy denies sts:${grant.action} for ${seconds} seconds.`, {
      cause: new Error(decision.reason),
    });
  }
  // Reads the policies first, so that a failure leaves no unknown credentials.
  const policies = audit === undefined ? [] : await services.identities.policiesOf(subject);
  const made = await services.temporary.create({
    subject,
    parentName: grant.parentName,
    ...(grant.roleArn === undefined ? {} : { roleArn: grant.roleArn }),
    ...(session.policy === undefined ? {} : { sessionPolicy: session.policy }),
    ...(session.revokeType === undefined ? {} : { revokeType: session.revokeType }),
    expiration,
  });
  const role = grant.roleArn === undefined ? {} : { roleArn: grant.roleArn };
  audit?.setGrant({ principal: made.principal, policies, ...role });
  return made;
}

function originContext({ from, now }: Pick<Grant, 'from' | 'now'>): Readonly<Record<string, readonly string[]>> {
  return from === undefined ? timeContext(now) : connectionContext(from, now);
}
