import { changesNothing, type RequestedAcl } from '../../../protocol/s3/acl.ts';
import {
  grantHeaderOf,
  grantHeaders,
  maxAclDocument,
  parseAcl,
  parseAclHeaders,
} from '../../../protocol/s3/access/acl-document.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { authorizedDocument } from '../authorized-document.ts';
import { hasAclHeaders } from '../object-headers.ts';
import type { PolicyContext, S3Call, VersionActions } from '../operation.ts';
import { header } from '../request.ts';

/**
 * Reads the ACL of a new object from the headers, and requires the permission to set it. An ACL that changes nothing needs none.
 *
 * @throws S3Error AccessDenied, and the errors of `parseAclHeaders`
 */
export async function aclOfNewObject(call: S3Call): Promise<RequestedAcl | undefined> {
  const acl = aclHeaders(call, 'object');
  if (acl !== undefined && !changesNothing(acl)) await call.requireAclOfNewObject();
  return acl;
}

/** Reads the ACL of a new bucket, as `aclOfNewObject` does. */
export async function aclOfNewBucket(call: S3Call): Promise<RequestedAcl | undefined> {
  const acl = aclHeaders(call, 'bucket');
  if (acl !== undefined && !changesNothing(acl)) await call.require('s3:PutBucketAcl', call.bucket);
  return acl;
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
