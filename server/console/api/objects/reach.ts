import { supportedKeys } from '../../../../protocol/policy/known-names.ts';
import type { Access, Principal } from '../../../auth/principal.ts';
import type { AttachmentTarget } from '../../../auth/identities/subject.ts';
import {
  type Extent,
  type Reach,
  type Reaching,
  type ReachRight,
  reachRights,
} from '../../../../protocol/console/reach-answers.ts';

const actions: Readonly<Record<ReachRight, { readonly action: string; readonly onObjects: boolean }>> = {
  list: { action: 's3:ListBucket', onObjects: false },
  read: { action: 's3:GetObject', onObjects: true },
  write: { action: 's3:PutObject', onObjects: true },
  delete: { action: 's3:DeleteObject', onObjects: true },
  administer: { action: 's3:PutBucketPolicy', onObjects: false },
};

/** Lists the condition keys of the request, whose values are unknown here. The values of the keys about the user are known. */
const requestKeys = supportedKeys
  .map((key) => key.toLowerCase())
  .filter((key) => !/^(?:jwt|ldap):|^aws:(?:username|userid|principaltype|groups)$/.test(key));

/**
 * Returns what the principal may do in a bucket. `all` is what the policies allow for a request without conditions, `some` what they may
 * allow for some keys, or under conditions.
 */
export async function reachOf(access: Pick<Access, 'authorize'>, principal: Principal, bucket: string): Promise<Reach> {
  const found = await Promise.all(
    reachRights.map(async (right) => [right, await extentOf(access, principal, bucket, right)] as const),
  );
  return Object.fromEntries(found.filter(([, extent]) => extent !== undefined));
}

async function extentOf(
  access: Pick<Access, 'authorize'>,
  principal: Principal,
  bucket: string,
  right: ReachRight,
): Promise<Extent | undefined> {
  const { action, onObjects } = actions[right];
  const asked = { principal, action, context: {} };
  const whole = await access.authorize({ ...asked, resource: onObjects ? `${bucket}/*` : bucket });
  if (whole.kind === 'allow') return 'all';
  const part = await access.authorize({
    ...asked,
    resource: onObjects ? `${bucket}/` : bucket,
    unknown: { below: onObjects, keys: requestKeys },
  });
  return part.kind === 'allow' ? 'some' : undefined;
}

/** Returns an external user of whom only this attachment, or this policy, is known. */
export function principalOf(who: Exclude<Reaching, { readonly kind: 'user' }>): Principal {
  if (who.kind === 'anonymous') return { kind: 'anonymous' };
  const targets: AttachmentTarget[] = who.kind === 'policy' ? [] : [who];
  return {
    kind: 'temporary',
    accessKey: '',
    subject: {
      kind: 'federated',
      source: who.kind.startsWith('ldap') ? 'ldap' : 'openid',
      provider: who.kind === 'claim' ? who.provider : '',
      parent: '',
      displayName: '',
      policies: who.kind === 'policy' ? [who.name] : [],
      targets,
      claims: {},
    },
    expiration: new Date(8.64e15),
  };
}
