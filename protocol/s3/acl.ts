/**
 * The canonical ID of the owner of all buckets. A store is one account, and its root user has this ID. 64 hexadecimal digits, as clients
 * expect.
 */
export const ownerId = 'c0ffe2'.padEnd(64, '0');
export const ownerName = 'coffer';

/** The predefined groups of S3. */
export const aclGroups = {
  AllUsers: 'http://acs.amazonaws.com/groups/global/AllUsers',
  AuthenticatedUsers: 'http://acs.amazonaws.com/groups/global/AuthenticatedUsers',
  LogDelivery: 'http://acs.amazonaws.com/groups/s3/LogDelivery',
} as const;

export type AclGroup = keyof typeof aclGroups;

export const permissions = ['FULL_CONTROL', 'READ', 'WRITE', 'READ_ACP', 'WRITE_ACP'] as const;
export type Permission = (typeof permissions)[number];

export interface Grant {
  /** A canonical ID, or the name of a group. They never equal: an ID has 64 hexadecimal digits. */
  readonly grantee: string;
  readonly permission: Permission;
}

/** @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/acl-overview.html */
export interface Acl {
  /** A canonical ID. */
  readonly owner: string;
  readonly grants: readonly Grant[];
}

export const cannedAcls = [
  'private',
  'public-read',
  'public-read-write',
  'authenticated-read',
  'bucket-owner-read',
  'bucket-owner-full-control',
  'log-delivery-write',
] as const;
export type CannedAcl = (typeof cannedAcls)[number];

/** The ACL that a request asks for. `owner` is the owner that a document names. */
export type RequestedAcl =
  | { readonly kind: 'canned'; readonly name: CannedAcl }
  | { readonly kind: 'grants'; readonly grants: readonly Grant[]; readonly owner?: string };

/** Returns the ACL of a new bucket or object, or of one whose owner is `owner`. */
export function resolveAcl(requested: RequestedAcl | undefined, owner: string): Acl {
  if (requested?.kind === 'grants') return { owner, grants: requested.grants };
  const given = cannedGrants(requested?.name ?? 'private').filter(({ grantee }) => grantee !== owner);
  return { owner, grants: [{ grantee: owner, permission: 'FULL_CONTROL' }, ...given] };
}

/** Returns the grants of a canned ACL, without the owner's full control. */
function cannedGrants(name: CannedAcl): readonly Grant[] {
  switch (name) {
    case 'private':
      return [];
    case 'public-read':
      return [{ grantee: 'AllUsers', permission: 'READ' }];
    case 'public-read-write':
      return [
        { grantee: 'AllUsers', permission: 'READ' },
        { grantee: 'AllUsers', permission: 'WRITE' },
      ];
    case 'authenticated-read':
      return [{ grantee: 'AuthenticatedUsers', permission: 'READ' }];
    case 'bucket-owner-read':
      return [{ grantee: ownerId, permission: 'READ' }];
    case 'bucket-owner-full-control':
      return [{ grantee: ownerId, permission: 'FULL_CONTROL' }];
    case 'log-delivery-write':
      return [
        { grantee: 'LogDelivery', permission: 'WRITE' },
        { grantee: 'LogDelivery', permission: 'READ_ACP' },
      ];
    default:
      return name satisfies never;
  }
}

/** Reports whether the owner has full control, and no one else has any right. */
export function isPrivate({ owner, grants }: Acl): boolean {
  return grants.length > 0 && grants.every((one) => one.grantee === owner && one.permission === 'FULL_CONTROL');
}

/** Reports whether the ACL changes nothing for a bucket or object of the bucket's owner. */
export function changesNothing(requested: RequestedAcl): boolean {
  if (requested.kind === 'grants' && requested.owner !== undefined && requested.owner !== ownerId) return false;
  return isPrivate(resolveAcl(requested, ownerId));
}

/** Reports whether the ACL grants something to everyone, or to everyone with credentials, as S3 counts. */
export function isPublicAcl({ grants }: Acl): boolean {
  return grants.some(({ grantee }) => grantee === 'AllUsers' || grantee === 'AuthenticatedUsers');
}

export interface AclQuestion {
  readonly permission: Permission;
  /** The canonical ID of the caller; undefined for one without credentials. */
  readonly caller: string | undefined;
  /** Grants to everyone, and to everyone with credentials, do not count. */
  readonly ignorePublic: boolean;
}

/** Finds what gives the caller the permission: the ownership of the ACL, or a grant. */
export function findGrant(acl: Acl, { permission, caller, ignorePublic }: AclQuestion): 'owner' | Grant | undefined {
  const ofAcl = permission === 'READ_ACP' || permission === 'WRITE_ACP';
  if (ofAcl && caller === acl.owner) return 'owner';
  return acl.grants.find((grant) => {
    if (grant.permission !== permission && grant.permission !== 'FULL_CONTROL') return false;
    if (grant.grantee === 'AllUsers') return !ignorePublic;
    if (grant.grantee === 'AuthenticatedUsers') return !ignorePublic && caller !== undefined;
    return grant.grantee === caller;
  });
}
