import {
  type Acl,
  type AclGroup,
  aclGroups,
  type CannedAcl,
  cannedAcls,
  type Grant,
  ownerId,
  ownerName,
  type Permission,
  permissions,
  type RequestedAcl,
} from '../acl.ts';
import { S3Error } from '../s3-error.ts';
import { child, readXml, textOf, type XmlNode } from '../xml-reader.ts';
import { element, type Xml, xmlDocument } from '../xml-writer.ts';

/** Bytes. 100 grants take 35 KiB. */
export const maxAclDocument = 64 * 1_024;
/** @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/acl-overview.html */
const maxGrants = 100;

/** The headers that grant a permission. */
export const grantHeaders = [
  ['x-amz-grant-full-control', 'FULL_CONTROL'],
  ['x-amz-grant-read', 'READ'],
  ['x-amz-grant-write', 'WRITE'],
  ['x-amz-grant-read-acp', 'READ_ACP'],
  ['x-amz-grant-write-acp', 'WRITE_ACP'],
] as const satisfies readonly (readonly [string, Permission])[];

/**
 * Reads an AccessControlPolicy. Grantees are canonical users and groups; the type of one follows from its elements.
 *
 * @throws S3Error MalformedACLError, InvalidArgument for an ID or group that cannot exist, UnresolvableGrantByEmailAddress
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObjectAcl.html
 */
export function parseAcl(body: string | Buffer): RequestedAcl {
  try {
    const root = readXml(body, { maxBytes: maxAclDocument, maxElements: 1_000, root: 'AccessControlPolicy' });
    only(root, ['Owner', 'AccessControlList']);
    const list = child(root, 'AccessControlList');
    if (list === undefined) throw malformedAcl('"AccessControlPolicy" lacks "AccessControlList"');
    only(list, ['Grant']);
    const owner = child(root, 'Owner');
    if (owner !== undefined) only(owner, ['ID', 'DisplayName']);
    const id = owner && textOf(owner, 'ID')?.trim();
    if (owner !== undefined && id === undefined) throw malformedAcl('"Owner" lacks "ID"');
    return {
      kind: 'grants',
      grants: checkCount(list.children.map(parseGrant)),
      ...(id !== undefined && { owner: id }),
    };
  } catch (error) {
    if (error instanceof S3Error && error.code === 'MalformedXML') throw malformedAcl(error.message, error);
    throw error;
  }
}

function parseGrant(grant: XmlNode): Grant {
  only(grant, ['Grantee', 'Permission']);
  const permission = permissions.find((known) => known === textOf(grant, 'Permission')?.trim());
  if (permission === undefined) throw malformedAcl(`"Permission" is one of ${permissions.join(', ')}`);
  const grantee = child(grant, 'Grantee');
  if (grantee === undefined) throw malformedAcl('"Grant" lacks "Grantee"');
  only(grantee, ['ID', 'DisplayName', 'URI', 'EmailAddress']);
  const [named, more] = grantee.children.filter(({ name }) => name !== 'DisplayName');
  if (named === undefined || more !== undefined) throw malformedAcl('"Grantee" has an "ID" or a "URI"');
  return { grantee: granteeOf(named.name, named.text.trim()), permission };
}

function only(node: XmlNode, names: readonly string[]): void {
  const other = node.children.find(({ name }) => !names.includes(name));
  if (other !== undefined) throw malformedAcl(`"${other.name.slice(0, 64)}" is no element of "${node.name}"`);
}

/**
 * Reads `x-amz-acl` and the grants of the `x-amz-grant-…` headers; undefined without any of them.
 *
 * @throws S3Error InvalidArgument, InvalidRequest for a canned ACL together with grants, NotImplemented, UnresolvableGrantByEmailAddress
 */
export function parseAclHeaders(
  read: (name: string) => string | undefined,
  of: 'bucket' | 'object',
): RequestedAcl | undefined {
  // An empty value is as good as none, also in a form.
  const canned = read('x-amz-acl') === '' ? undefined : read('x-amz-acl');
  const hasGrants = grantHeaders.some(([name]) => read(name) !== undefined);
  if (canned !== undefined && hasGrants) {
    throw new S3Error('InvalidRequest', 'Specifying both Canned ACLs and Header Grants is not allowed');
  }
  const grants = grantHeaders.flatMap(([name, permission]) => {
    const text = read(name);
    return text === undefined ? [] : parseGrantees(name, text).map((grantee) => ({ grantee, permission }));
  });
  if (hasGrants) return { kind: 'grants', grants: checkCount(grants) };
  return canned === undefined ? undefined : { kind: 'canned', name: parseCanned(canned, of) };
}

function parseCanned(text: string, of: 'bucket' | 'object'): CannedAcl {
  if (text === 'aws-exec-read') {
    throw new S3Error(
      'NotImplemented',
      'The canned ACL aws-exec-read is not implemented: no EC2 reads from this store.',
      {
        details: { ArgumentName: 'x-amz-acl' },
      },
    );
  }
  const found = cannedAcls.find((name) => name === text);
  if (found !== undefined && (of === 'bucket' || found !== 'log-delivery-write')) return found;
  throw invalid('x-amz-acl', text, 'The canned ACL does not exist.');
}

/** Reads `id="…", uri="…"`. The values have no commas, and the quotes may be absent. */
function parseGrantees(header: string, text: string): readonly string[] {
  return text.split(',').map((part) => {
    const equals = part.indexOf('=');
    const kind = part.slice(0, Math.max(0, equals)).trim().toLowerCase();
    const value = part.slice(equals + 1).trim();
    const element = kind.length > 20 ? undefined : headerElements.get(kind);
    const quotes = value.length > 1 && value.startsWith('"') && value.endsWith('"') ? 1 : 0;
    const bare = value.slice(quotes, value.length - quotes);
    if (element === undefined || bare.includes('"')) throw invalid(header, text, 'Argument format not recognized');
    return granteeOf(element, bare);
  });
}

const headerElements: ReadonlyMap<string, string> = new Map([
  ['id', 'ID'],
  ['uri', 'URI'],
  ['emailaddress', 'EmailAddress'],
]);

function granteeOf(element: string, value: string): string {
  switch (element) {
    case 'ID':
      if (/^[0-9a-f]{64}$/.test(value)) return value;
      throw invalid('CanonicalUser/ID', value, 'Invalid id');
    case 'URI': {
      const group = Object.entries(aclGroups).find(([, uri]) => uri === value)?.[0];
      if (group !== undefined) return group;
      throw invalid('Group/URI', value, 'Invalid group uri');
    }
    default:
      throw new S3Error('UnresolvableGrantByEmailAddress', undefined, {
        details: { emailAddress: value.slice(0, 100) },
      });
  }
}

function checkCount(grants: readonly Grant[]): readonly Grant[] {
  if (grants.length <= maxGrants) return grants;
  throw malformedAcl(`an ACL has at most ${maxGrants} grants, and this one has ${grants.length}`);
}

function invalid(name: string, value: string, message: string): S3Error {
  return new S3Error('InvalidArgument', message, {
    details: { ArgumentName: name, ArgumentValue: value.slice(0, 100) },
  });
}

function malformedAcl(why: string, cause?: unknown): S3Error {
  const message = why.startsWith('The XML') ? why : `The XML you provided is no valid ACL: ${why}.`;
  return new S3Error('MalformedACLError', message, { cause });
}

/** Returns the value of the header that has the same grants of a permission; undefined if it has none. */
export function grantHeaderOf(grants: readonly Grant[], permission: Permission): string | undefined {
  const of = grants.filter((one) => one.permission === permission).map(({ grantee }) => grantee);
  if (of.length === 0) return undefined;
  return of.map((grantee) => (isGroup(grantee) ? `uri="${aclGroups[grantee]}"` : `id="${grantee}"`)).join(', ');
}

/** Writes the document that GetBucketAcl and GetObjectAcl answer. */
export function writeAcl({ owner, grants }: Acl): string {
  const list = grants.map(({ grantee, permission }) =>
    element('Grant', [writeGrantee(grantee), element('Permission', permission)]),
  );
  return xmlDocument('AccessControlPolicy', [element('Owner', user(owner)), element('AccessControlList', list)]);
}

function writeGrantee(grantee: string): Xml {
  const xsi = 'http://www.w3.org/2001/XMLSchema-instance';
  return isGroup(grantee)
    ? element('Grantee', [element('URI', aclGroups[grantee])], { 'xmlns:xsi': xsi, 'xsi:type': 'Group' })
    : element('Grantee', user(grantee), { 'xmlns:xsi': xsi, 'xsi:type': 'CanonicalUser' });
}

function user(id: string): readonly (Xml | undefined)[] {
  return [element('ID', id), id === ownerId ? element('DisplayName', ownerName) : undefined];
}

function isGroup(grantee: string): grantee is AclGroup {
  return Object.hasOwn(aclGroups, grantee);
}
