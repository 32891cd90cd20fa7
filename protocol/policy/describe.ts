import type { NamedPolicy, PolicyRequest } from './evaluate.ts';
import type { Found } from './survey.ts';

/** `s3:GetObject on "bucket/key"`. */
export function describeRequest({ action, resource }: Pick<PolicyRequest, 'action' | 'resource'>): string {
  return resource === '' ? action : `${action} on "${resource}"`;
}

export function describeFound({ policy, statement }: Found, request: PolicyRequest): string {
  const verb = statement.source.effect === 'Allow' ? 'allows' : 'denies';
  return `statement ${statement.label} of policy "${policy.name}" ${verb} ${describeRequest(request)}`;
}

export function describeSilence(policies: readonly NamedPolicy[], request: PolicyRequest): string {
  const among =
    policies.length === 0
      ? 'was looked at, since there is no policy that'
      : `of ${policies.map(({ name }) => `"${name}"`).join(', ')}`;
  return `no statement ${among} allows ${describeRequest(request)}`;
}
