import { describe, expect, it } from 'vitest';
import { findOperation, routes } from './routes.ts';
import { parseQuery } from './request.ts';
import { signedParameters } from '../../protocol/sigv2/verify-signature-v2.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { modelOperations } from '../../test/support/s3-api/s3-model.ts';

describe('findOperation', () => {
  it.each([
    ['GET', 'service', '', false, 'ListBuckets'],
    ['GET', 'bucket', 'prefix=a&marker=', false, 'ListObjects'],
    ['GET', 'bucket', 'list-type=2&prefix=', false, 'ListObjectsV2'],
    ['GET', 'object', 'versionId=null&x-id=GetObject', false, 'GetObject'],
    ['GET', 'object', 'partNumber=1', false, 'GetObject'],
    ['POST', 'bucket', '', false, 'PostObject'],
    ['PUT', 'object', '', true, 'CopyObject'],
    ['PUT', 'object', 'partNumber=1&uploadId=u', false, 'UploadPart'],
    ['PUT', 'object', 'partNumber=1&uploadId=u', true, 'UploadPartCopy'],
    ['GET', 'object', 'utm_source=mail', false, 'GetObject'],
    ['GET', 'object', '', true, 'GetObject'],
  ] as const)('%s of a %s with "%s" (copy: %s) is %s', (method, level, query, isCopy, name) => {
    expect(findOperation(method, level, parseQuery(query), isCopy).name).toBe(name);
  });

  it.each([
    ['GET', 'object', 'torrent', 'NotImplemented'],
    ['GET', 'object', 'unheard-of', 'NotImplemented'],
    ['GET', 'object', 'acl&tagging', 'InvalidArgument'],
    ['DELETE', 'object', 'uploads', 'MethodNotAllowed'],
    ['POST', 'object', '', 'MethodNotAllowed'],
    ['PATCH', 'object', '', 'MethodNotAllowed'],
  ] as const)('%s of a %s with "%s" is %s', (method, level, query, code) => {
    expect(() => findOperation(method, level, parseQuery(query), false)).toThrow(expect.objectContaining({ code }));
  });

  it('takes no subresource of the S3 model for a plain request, whatever its value', () => {
    const chosen = modelOperations().flatMap(({ query }) => query.split('&').map((part) => part.split('=')[0] ?? ''));
    for (const name of new Set(chosen.filter((one) => one !== '' && one !== 'select-type'))) {
      for (const query of [name, `${name}=x`]) {
        expect(findName('PUT', query)).not.toBe('PutObject');
        expect(findName('DELETE', query)).not.toBe('DeleteObject');
      }
    }
  });

  it.each(['bucket', 'object'] as const)('names each subresource of a %s that it does not implement', (level) => {
    for (const { query, method, path } of modelOperations()) {
      const name = query.split('&')[0]?.split('=')[0] ?? '';
      if (name === '' || name === 'list-type' || path.includes('{Key+}') !== (level === 'object')) continue;
      if (routes.some(([one, of, flags]) => one === method && of === level && flags.split(' ').includes(name)))
        continue;
      expect(refusal(method, level, name)).toMatchObject({
        code: 'NotImplemented',
        message: expect.stringContaining(name) as string,
      });
    }
  });

  it('has one row for each method, level and set of subresources, in alphabetical order', () => {
    const rows = routes.map(([method, level, flags]) => `${method} ${level} ${flags}`);
    expect(new Set(rows).size).toBe(rows.length);
    for (const [, , flags] of routes) expect(flags).toBe(flags.split(' ').sort().join(' '));
  });
});

/** The names of the rows of a table below. */
const names = (text: string) => text.split(';').map((row) => row.trim().split(' ')[0] ?? '');

const onlyOf = (text: string, other: string) => names(text).filter((name) => !names(other).includes(name));

describe('a request that asks for no operation', () => {
  const methods = ['GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'PATCH'] as const;
  /** Each subresource with its type in the errors of AWS, and the methods that AWS or MinIO have for it. */
  const ofBucket = `
    abac BUCKET_ABAC GET,PUT; accelerate ACCELERATE GET,PUT; acl ACL GET,PUT; analytics ANALYTICS GET,PUT,DELETE;
    cors CORS GET,PUT,DELETE; delete MULTI_OBJECT_DELETE POST; encryption ENCRYPTION GET,PUT,DELETE; events EVENTS GET;
    intelligent-tiering INTELLIGENT_TIERING GET,PUT,DELETE; inventory INVENTORY GET,PUT,DELETE;
    lifecycle LIFECYCLE GET,PUT,DELETE; location LOCATION GET; logging LOGGING_STATUS GET,PUT; metrics METRICS GET,PUT,DELETE;
    metadataConfiguration BUCKET_METADATA_CONFIGURATION GET,POST,DELETE;
    metadataTable BUCKET_METADATA_TABLE_CONFIGURATION GET,POST,DELETE;
    metadataAnnotationTable BUCKET_METADATA_ANNOTATION_TABLE_CONFIGURATION PUT;
    metadataInventoryTable BUCKET_METADATA_INVENTORY_TABLE_CONFIGURATION PUT;
    metadataJournalTable BUCKET_METADATA_JOURNAL_TABLE_CONFIGURATION PUT;
    notification NOTIFICATION GET,PUT; object-lock OBJECT_LOCK_CONFIGURATION GET,PUT;
    ownershipControls OWNERSHIP_CONTROLS GET,PUT,DELETE; policy BUCKETPOLICY GET,PUT,DELETE; policyStatus POLICY_STATUS GET;
    publicAccessBlock PUBLIC_ACCESS_BLOCK GET,PUT,DELETE; replication REPLICATION GET,PUT,DELETE;
    replication-check REPLICATION_CHECK GET; replication-metrics REPLICATION_METRICS GET;
    replication-reset REPLICATION_RESET PUT; replication-reset-status REPLICATION_RESET_STATUS GET;
    replication-reset-cancel REPLICATION_RESET_CANCEL PUT;
    requestPayment REQUEST_PAYMENT GET,PUT; tagging TAGGING GET,PUT,DELETE; uploads UPLOADS GET;
    versioning VERSIONING GET,PUT; versions BUCKETVERSIONS GET; website WEBSITE GET,PUT,DELETE`;
  const ofObject = `
    acl ACL GET,PUT; annotation OBJECT_ANNOTATIONS GET,PUT,DELETE; attributes OBJECT_ATTRIBUTES GET;
    encryption OBJECT_ENCRYPTION PUT; legal-hold OBJECT_LOCK_LEGALHOLD GET,PUT; renameObject OBJECT PUT;
    restore RESTORE POST; retention OBJECT_LOCK_RETENTION GET,PUT; select SELECT POST;
    tagging OBJECT_TAGGING GET,PUT,DELETE; torrent TORRENT GET; uploadId UPLOAD GET,PUT,POST,DELETE; uploads UPLOADS POST`;
  const rowsOf = (level: 'bucket' | 'object', text: string) =>
    text.split(';').flatMap((row) => {
      const [name = '', type = '', allowed = ''] = row.trim().split(' ');
      return methods.map((method) => [method, level, name, type, allowed.split(',').includes(method)] as const);
    });
  const rows = [...rowsOf('bucket', ofBucket), ...rowsOf('object', ofObject)];

  it.each(rows.filter(([, , , , exists]) => !exists))(
    '%s of a %s with %s is not allowed',
    (method, level, name, type) => {
      const error = refusal(method, level, name);
      if (method === 'GET' && level === 'object' && name === 'uploads') {
        expect(error).toMatchObject({
          code: 'InvalidRequest',
          message: 'Key is not expected for the GET method ?uploads subresource',
        });
        return;
      }
      expect(error).toMatchObject({ code: 'MethodNotAllowed', details: { Method: method, ResourceType: type } });
      const served = routes.filter(([, of, flags]) => of === level && flags.split(' ').includes(name));
      expect(new Set(error?.headers['allow']?.split(', ').filter(Boolean))).toEqual(
        new Set(served.map(([one]) => one)),
      );
    },
  );

  it.each(rows.filter(([, , , , exists]) => exists))(
    '%s of a %s with %s is served, or named',
    (method, level, name) => {
      const of = { inventory: ['InvalidConfigurationId', undefined] }[name] ?? ['NotImplemented', undefined];
      expect(of).toContain(refusal(method, level, name)?.code);
    },
  );

  it.each(onlyOf(ofBucket, ofObject))('no key has %s', (name) => {
    for (const method of methods) {
      expect(refusal(method, 'object', name)).toMatchObject({
        code: name === 'logging' ? 'NoLoggingStatusForKey' : 'InvalidRequest',
        message: `There is no such thing as the ?${name} sub-resource for a key`,
      });
    }
  });

  it.each(onlyOf(ofObject, ofBucket))('%s needs a key', (name) => {
    for (const method of methods) {
      expect(refusal(method, 'bucket', name)).toMatchObject({
        code: 'InvalidRequest',
        message: 'A key must be specified',
      });
    }
  });

  it.each([
    ['GET', 'bucket', 'versioning&acl', 'acl, versioning'],
    ['HEAD', 'bucket', 'versions=&uploads', 'uploads, versions'],
    ['DELETE', 'object', 'uploadId=x&tagging', 'tagging, uploadId'],
    ['PUT', 'object', 'acl&retention&legal-hold', 'acl, legal-hold, retention'],
  ] as const)('%s of a %s with %s has parameters that conflict', (method, level, query, listed) => {
    expect(refusal(method, level, query)).toMatchObject({
      code: 'InvalidArgument',
      message: `Conflicting query string parameters: ${listed}`,
      details: { ArgumentName: 'ResourceType', ArgumentValue: listed.split(',')[0] },
    });
  });

  it.each([
    ['DELETE', 'service', 'SERVICE', 'GET'],
    ['PATCH', 'bucket', 'BUCKET', 'PUT, HEAD, DELETE, GET, POST'],
    ['POST', 'object', 'OBJECT', 'GET, HEAD, PUT, DELETE'],
  ] as const)('%s of a %s names the methods that it has', (method, level, type, allow) => {
    expect(refusal(method, level, '')).toMatchObject({
      code: 'MethodNotAllowed',
      details: { Method: method, ResourceType: type },
      headers: { allow },
    });
  });

  it('refuses a copy source where no object is copied', () => {
    expect(refusal('PUT', 'object', 'tagging', true)).toMatchObject({
      code: 'InvalidArgument',
      message: 'You can only specify a copy source header for copy requests.',
      details: { ArgumentName: 'x-amz-copy-source' },
    });
  });

  it('lists versions whatever the type of listing', () => {
    expect(findOperation('GET', 'bucket', parseQuery('list-type=2&versions'), false).name).toBe('ListObjectVersions');
  });
});

function refusal(method: string, level: 'service' | 'bucket' | 'object', query: string, isCopy = false) {
  try {
    findOperation(method, level, parseQuery(query), isCopy);
    return undefined;
  } catch (error) {
    if (error instanceof S3Error) return error;
    throw error;
  }
}

function findName(method: string, query: string): string {
  try {
    return findOperation(method, 'object', parseQuery(query), false).name;
  } catch {
    return 'refused';
  }
}

it('is chosen by parameters that a signature of version 2 covers, so that a URL is good for one operation', () => {
  const flags = new Set(routes.flatMap(([, , names]) => names.split(' ')));
  // The operations of a configuration with an ID refuse version 2.
  for (const name of ['', 'copy', 'list-type', 'id']) flags.delete(name);
  expect([...flags].filter((name) => !signedParameters.has(name))).toEqual([]);
});
