import { bareResource } from '../../protocol/policy/arns.ts';
import type { ExistingAcl } from '../objects/attributes/existing-object.ts';
import { type Acl, type AclQuestion, findGrant, type Permission } from '../../protocol/s3/acl.ts';
import type { BucketAccess } from '../objects/buckets/bucket-access.ts';
import { type AccessRequest, canonicalIdOf } from './principal.ts';

/** Returns the ACL of an object, or of one of its versions; undefined for an absent one. */
export type ObjectAclSource = (bucket: string, key: string, versionId?: string) => Promise<ExistingAcl | undefined>;

/**
 * The permissions of a bucket's ACL that allow actions on the bucket or its objects.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/acl-overview.html#acl-access-policy-permission-mapping
 */
const onBucket: ReadonlyMap<string, Permission> = new Map([
  ['s3:listbucket', 'READ'],
  ['s3:listbucketversions', 'READ'],
  ['s3:listbucketmultipartuploads', 'READ'],
  ['s3:getbucketacl', 'READ_ACP'],
  ['s3:putbucketacl', 'WRITE_ACP'],
  ['s3:putobject', 'WRITE'],
  ['s3:abortmultipartupload', 'WRITE'],
  ['s3:listmultipartuploadparts', 'WRITE'],
]);

/** The permissions of an object's ACL. */
const onObject: ReadonlyMap<string, Permission> = new Map([
  ['s3:getobject', 'READ'],
  ['s3:getobjectversion', 'READ'],
  ['s3:getobjectacl', 'READ_ACP'],
  ['s3:getobjectversionacl', 'READ_ACP'],
  ['s3:putobjectacl', 'WRITE_ACP'],
  ['s3:putobjectversionacl', 'WRITE_ACP'],
]);

/** Deleting needs WRITE on the bucket, and the caller must own the object. */
const deletions = /^s3:deleteobject(?:version)?$/;

interface AclDecision {
  /** Why an ACL allows the request; undefined if none does. */
  readonly reason?: string;
  /** The id of the object whose ACL allows the request: no other one may be read or changed. */
  readonly objectId?: string;
  /** The object does not exist, so that no ACL can allow its read. */
  readonly absent?: true;
}

/** Decides a request by the ACLs of its bucket and its object. It reads the object only for actions that depend on its ACL. */
export async function decideByAcl(
  request: AccessRequest,
  { acl, ignorePublicAcls }: NonNullable<BucketAccess['acls']>,
  source: ObjectAclSource,
): Promise<AclDecision> {
  const action = request.action.toLowerCase();
  const [bucket = '', ...rest] = bareResource(request.resource).split('/');
  const key = rest.join('/');
  const ask = (permission: Permission): AclQuestion => ({
    permission,
    caller: canonicalIdOf(request.principal),
    ignorePublic: ignorePublicAcls,
  });
  // The caller owns what it creates, and who owns an object sets its ACL.
  const setsNewAcl = request.ofNewObject === true && action === 's3:putobjectacl';
  const ofBucket = setsNewAcl ? 'WRITE' : onBucket.get(action);
  if (ofBucket !== undefined) return grantedBy(acl, ask(ofBucket), `the bucket ${bucket}`);
  const ofObject = onObject.get(action);
  const deletes = deletions.test(action);
  if (ofObject === undefined && !deletes) return {};
  if (deletes && findGrant(acl, ask('WRITE')) === undefined) return {};
  // The keys come with the body.
  if (request.unknown?.below === true) {
    return deletes && request.unknown.every !== true ? { reason: 'the objects of the caller may be deleted' } : {};
  }
  if (key === '') return {};
  const found = await source(bucket, key, request.context['s3:versionid']?.[0]);
  if (found === undefined) return ofObject === undefined ? {} : { absent: true };
  if (ofObject !== undefined) {
    const granted = grantedBy(found.acl, ask(ofObject), `${bucket}/${key}`);
    return granted.reason === undefined ? granted : { ...granted, objectId: found.id };
  }
  const owns = found.acl.owner === ask('WRITE').caller;
  const reason = `the caller owns ${bucket}/${key} and may write into the bucket`;
  return owns ? { reason, objectId: found.id } : {};
}

function grantedBy(acl: Acl, question: AclQuestion, what: string): AclDecision {
  const grant = findGrant(acl, question);
  if (grant === undefined) return {};
  const how = grant === 'owner' ? 'the caller owns it' : `grants ${grant.permission} to ${grant.grantee}`;
  return { reason: `the ACL of ${what}: ${how}` };
}
