import { changesNothing, type RequestedAcl } from '../../../protocol/s3/acl.ts';
import {
  grantHeaderOf,
  grantHeaders,
  maxAclDocument,
  parseAcl,
  parseAclHeaders,
} from '../../../protocol/s3/access/acl-document.ts';
import type { ObjectOwnership } from '../../../protocol/s3/access/ownership-controls.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { authorizedDocument } from '../authorized-document.ts';
import { hasAclHeaders } from '../object-headers.ts';
import type { PolicyContext, S3Call, VersionActions } from '../operation.ts';
import { header } from '../request.ts';
import type { CannedAclRule } from './canned-acl-rule.ts';

/**
 * Reads the ACL of a new object from the headers, and requires the permission to set it. An ACL that changes nothing needs none. A canned
 * ACL is ignored where ACLs do not count: nothing of it is stored, and it needs no permission either, but a Deny holds.
 *
 * @throws S3Error AccessDenied, and the errors of `parseAclHeaders`
 */
export async function aclOfNewObject(call: S3Call): Promise<RequestedAcl | undefined> {
  const acl = aclHeaders(call, 'object');
  if (acl === undefined || changesNothing(acl)) return acl;
  const { bucket, cannedAcls, objects } = call;
  if (acl.kind === 'canned' && cannedAcls.kind === 'ignore' && !(await objects.countsAcl(acl, bucket))) {
    const resource = `${bucket}/${call.key}`;
    await call.requireAll([{ action: 's3:PutObject', alsoDeniedBy: 's3:PutObjectAcl', resource }]);
    return ignored(call, acl, cannedAcls);
  }
  await call.requireAclOfNewObject();
  return acl;
}

/**
 * Reads the ACL of a new bucket, as `aclOfNewObject` does.
 *
 * @param options the ownership of the new bucket, and the condition keys of its creation
 */
export async function aclOfNewBucket(
  call: S3Call,
  options: { readonly ownership: ObjectOwnership | undefined; readonly conditions: PolicyContext },
): Promise<RequestedAcl | undefined> {
  const acl = aclHeaders(call, 'bucket');
  if (acl === undefined || changesNothing(acl)) return acl;
  const { bucket, cannedAcls, objects } = call;
  const counts = options.ownership !== undefined && options.ownership !== 'BucketOwnerEnforced';
  if (acl.kind === 'canned' && cannedAcls.kind === 'ignore' && !counts) {
    await objects.countsAcl(acl);
    const { conditions } = options;
    await call.requireAll([
      { action: 's3:CreateBucket', alsoDeniedBy: 's3:PutBucketAcl', resource: bucket, conditions },
    ]);
    return ignored(call, acl, cannedAcls);
  }
  await call.require('s3:PutBucketAcl', bucket);
  return acl;
}

function ignored(
  { bucket, request }: S3Call,
  { name: acl }: Extract<RequestedAcl, { readonly kind: 'canned' }>,
  { report }: Extract<CannedAclRule, { readonly kind: 'ignore' }>,
): undefined {
  report({ bucket, acl, userAgent: header(request.headers, 'user-agent') });
}

function aclHeaders({ request }: S3Call, of: 'bucket' | 'object'): RequestedAcl | undefined {
  return parseAclHeaders((name) => header(request.headers, name), of);
}

/**
 * Reads the ACL that a request sets, from its headers or its body, and authorizes the caller. The grants of the body are condition keys as
 * those of the headers are, so that a Deny of a grant holds for both.
 *
 * @throws S3Error AccessDenied; MissingSecurityHeader without an ACL, UnexpectedContent for two, and the errors of the parsers
 */
export async function authorizedAcl(call: S3Call, actions: VersionActions): Promise<RequestedAcl> {
  const of = call.key === '' ? 'bucket' : 'object';
  if (hasAclHeaders(call.request.headers)) {
    const resource = of === 'bucket' ? call.bucket : `${call.bucket}/${call.key}`;
    await call.requireVersion(actions, resource, call.query.get('versionId'));
    const acl = aclHeaders(call, of);
    if (call.auth.size !== undefined && call.auth.size > 0) throw new S3Error('UnexpectedContent');
    if (acl !== undefined) return acl;
  }
  return authorizedDocument(call, {
    actions,
    keys: grantHeaders.map(([name]) => `s3:${name}`),
    maxBytes: maxAclDocument,
    parse: parseDocument,
    context: grantContext,
  });
}

function parseDocument(document: Buffer): RequestedAcl {
  if (document.length > 0) return parseAcl(document);
  throw new S3Error('MissingSecurityHeader', undefined, { details: { MissingHeaderName: 'x-amz-acl' } });
}

function grantContext(acl: RequestedAcl): PolicyContext {
  if (acl.kind === 'canned') return {};
  const keys = grantHeaders.flatMap(([name, permission]) => {
    const value = grantHeaderOf(acl.grants, permission);
    return value === undefined ? [] : [[`s3:${name}`, [value]] as const];
  });
  return Object.fromEntries(keys);
}
