import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Acl,
  aclGroups,
  cannedAcls,
  changesNothing,
  findGrant,
  type Grant,
  isPublicAcl,
  ownerId,
  permissions,
  resolveAcl,
} from './acl.ts';
import { maxAclDocument, parseAcl, parseAclHeaders, writeAcl } from './access/acl-document.ts';
import { S3Error } from './s3-error.ts';
import { XmlScanner } from './xml-reader.ts';

const ann = 'a'.repeat(64);
const bob = 'b'.repeat(64);
const full = (grantee: string): Grant => ({ grantee, permission: 'FULL_CONTROL' });

describe('a canned ACL', () => {
  it.each<[(typeof cannedAcls)[number], readonly Grant[]]>([
    ['private', []],
    ['public-read', [{ grantee: 'AllUsers', permission: 'READ' }]],
    [
      'public-read-write',
      [
        { grantee: 'AllUsers', permission: 'READ' },
        { grantee: 'AllUsers', permission: 'WRITE' },
      ],
    ],
    ['authenticated-read', [{ grantee: 'AuthenticatedUsers', permission: 'READ' }]],
    ['bucket-owner-read', [{ grantee: ownerId, permission: 'READ' }]],
    ['bucket-owner-full-control', [full(ownerId)]],
    [
      'log-delivery-write',
      [
        { grantee: 'LogDelivery', permission: 'WRITE' },
        { grantee: 'LogDelivery', permission: 'READ_ACP' },
      ],
    ],
  ])('%s gives the owner full control, and these grants', (name, grants) => {
    expect(resolveAcl({ kind: 'canned', name }, ann)).toEqual({ owner: ann, grants: [full(ann), ...grants] });
  });

  it.each(cannedAcls)('%s changes nothing for the owner of the bucket, or grants something to others', (name) => {
    const { grants } = resolveAcl({ kind: 'canned', name }, ownerId);
    expect(changesNothing({ kind: 'canned', name })).toBe(grants.every(({ grantee }) => grantee === ownerId));
  });
});

describe('grants', () => {
  it.each<[string, readonly Grant[], string | undefined, boolean]>([
    ['full control of the owner', [full(ownerId)], undefined, true],
    ['full control of the owner, by name', [full(ownerId)], ownerId, true],
    ['another owner', [full(ownerId)], ann, false],
    ['a grant to a user', [full(ownerId), full(ann)], undefined, false],
    ['less for the owner', [{ grantee: ownerId, permission: 'READ' }], undefined, false],
    ['none', [], undefined, false],
  ])('change nothing or something: %s', (_, grants, owner, expected) => {
    expect(changesNothing({ kind: 'grants', grants, ...(owner !== undefined && { owner }) })).toBe(expected);
  });

  it.each<[Grant['grantee'], boolean]>([
    ['AllUsers', true],
    ['AuthenticatedUsers', true],
    ['LogDelivery', false],
    [ann, false],
  ])('to %s are public: %s', (grantee, expected) => {
    expect(isPublicAcl({ owner: ownerId, grants: [{ grantee, permission: 'READ' }] })).toBe(expected);
  });

  const caller = fc.constantFrom(undefined, ownerId, ann, bob);
  const grant = fc.record<Grant>({
    grantee: fc.constantFrom(ann, bob, ownerId, 'AllUsers', 'AuthenticatedUsers', 'LogDelivery'),
    permission: fc.constantFrom(...permissions),
  });
  const acl = fc.record<Acl>({ owner: fc.constantFrom(ownerId, ann), grants: fc.array(grant, { maxLength: 6 }) });

  it('give a permission to a caller exactly where one of them names both, or FULL_CONTROL', () => {
    fc.assert(
      fc.property(acl, caller, fc.constantFrom(...permissions), fc.boolean(), (one, who, permission, ignorePublic) => {
        const groups = who === undefined ? ['AllUsers'] : ['AllUsers', 'AuthenticatedUsers'];
        const names = [...(ignorePublic ? [] : groups), ...(who === undefined ? [] : [who])];
        const expected =
          one.grants.some((g) => names.includes(g.grantee) && [permission, 'FULL_CONTROL'].includes(g.permission)) ||
          (permission.endsWith('_ACP') && who === one.owner);
        expect(findGrant(one, { permission, caller: who, ignorePublic }) !== undefined).toBe(expected);
      }),
    );
  });

  it('are the same after they are written and read', () => {
    fc.assert(
      fc.property(acl, (one) => {
        expect(parseAcl(writeAcl(one))).toEqual({ kind: 'grants', ...one });
      }),
    );
  });
});

const document = (grants: string, owner = `<Owner><ID>${ownerId}</ID></Owner>`) =>
  `<AccessControlPolicy>${owner}<AccessControlList>${grants}</AccessControlList></AccessControlPolicy>`;
const grantOf = (grantee: string, permission = 'READ') =>
  `<Grant><Grantee>${grantee}</Grantee><Permission>${permission}</Permission></Grant>`;

describe('an AccessControlPolicy', () => {
  it('has users and groups', () => {
    const group = `<URI>${aclGroups.AllUsers}</URI>`;
    expect(
      parseAcl(document(grantOf(`<ID>${ann}</ID><DisplayName>ann</DisplayName>`) + grantOf(group, 'WRITE'))),
    ).toEqual({
      kind: 'grants',
      owner: ownerId,
      grants: [
        { grantee: ann, permission: 'READ' },
        { grantee: 'AllUsers', permission: 'WRITE' },
      ],
    });
    expect(parseAcl(document('', ''))).toEqual({ kind: 'grants', grants: [] });
  });

  it.each([
    ['no XML', 'hello', 'MalformedACLError'],
    ['another root', '<Acl/>', 'MalformedACLError'],
    ['no list', '<AccessControlPolicy/>', 'MalformedACLError'],
    [
      'two lists',
      '<AccessControlPolicy><AccessControlList/><AccessControlList/></AccessControlPolicy>',
      'MalformedACLError',
    ],
    ['another element', document('<Deny/>'), 'MalformedACLError'],
    ['an owner without ID', document('', '<Owner/>'), 'MalformedACLError'],
    ['no grantee', document('<Grant><Permission>READ</Permission></Grant>'), 'MalformedACLError'],
    ['a grantee of nothing', document(grantOf('')), 'MalformedACLError'],
    [
      'a grantee of two kinds',
      document(grantOf(`<ID>${ann}</ID><URI>${aclGroups.AllUsers}</URI>`)),
      'MalformedACLError',
    ],
    ['no permission', document(`<Grant><Grantee><ID>${ann}</ID></Grantee></Grant>`), 'MalformedACLError'],
    ['another permission', document(grantOf(`<ID>${ann}</ID>`, 'DELETE')), 'MalformedACLError'],
    ['an ID that is none', document(grantOf('<ID>ann</ID>')), 'InvalidArgument'],
    [
      'a group that is none',
      document(grantOf('<URI>http://acs.amazonaws.com/groups/global/Some</URI>')),
      'InvalidArgument',
    ],
    ['the name of a group', document(grantOf('<URI>AllUsers</URI>')), 'InvalidArgument'],
    ['an address', document(grantOf('<EmailAddress>a@example.com</EmailAddress>')), 'UnresolvableGrantByEmailAddress'],
    ['101 grants', document(grantOf(`<ID>${ann}</ID>`).repeat(101)), 'MalformedACLError'],
    ['a DOCTYPE', `<!DOCTYPE a>${document('')}`, 'MalformedACLError'],
  ])('is refused with %s', (_, body, code) => {
    expect(() => parseAcl(body)).toThrow(expect.objectContaining({ code }));
  });

  it('is parsed or refused whatever it holds, in linear time', () => {
    const part = fc.constantFrom(
      '<AccessControlPolicy>',
      '</AccessControlPolicy>',
      '<AccessControlList>',
      '</AccessControlList>',
      '<Grant>',

      '</Grant>',
      '<Grantee xsi:type="Group">',
      '</Grantee>',
      '<URI>',
      '</URI>',
      '<ID>',
      '</ID>',
      '<Owner>',
      '</Owner>',

      '<Permission>',
      '</Permission>',
      'READ',
      ann,
      aclGroups.AllUsers,
      '&amp;',
      '&#x0;',
      '<![CDATA[',
      ']]>',
      '<!--',
      ' ',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(part, fc.string({ maxLength: 8 })), { maxLength: 200 }), (parts) => {
        const text = parts.join('');
        expectRefusal(() => parseAcl(text));
        const scanner = new XmlScanner(text);
        expectRefusal(() => scanner.read());
        expect(scanner.steps).toBeLessThanOrEqual(3 * text.length + 10);
      }),
      { numRuns: 500 },
    );
  });

  it('is refused at once where it is large or deep', () => {
    const started = performance.now();
    expectRefusal(() => parseAcl('<a>'.repeat(maxAclDocument / 3)));
    expectRefusal(() => parseAcl(document('<Grant/>'.repeat(8_000))));
    expectRefusal(() => parseAcl(Buffer.alloc(maxAclDocument + 1, 0x20)));
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});

const parse = (headers: Record<string, string>) => parseAclHeaders((name) => headers[name], 'object');

describe('the headers of an ACL', () => {
  it('are a canned ACL, grants, or nothing', () => {
    expect(parse({})).toBeUndefined();
    expect(parse({ 'x-amz-acl': '' })).toBeUndefined();
    expect(parse({ 'x-amz-acl': 'public-read' })).toEqual({ kind: 'canned', name: 'public-read' });
    expect(
      parse({
        'x-amz-grant-read': `id="${ann}", URI = ${aclGroups.AllUsers}`,
        'x-amz-grant-full-control': `id=${bob}`,
      }),
    ).toEqual({
      kind: 'grants',
      grants: [full(bob), { grantee: ann, permission: 'READ' }, { grantee: 'AllUsers', permission: 'READ' }],
    });
  });

  it.each<[string, Record<string, string>, string]>([
    ['a canned ACL that is none', { 'x-amz-acl': 'public' }, 'InvalidArgument'],
    ['the canned ACL of a bucket', { 'x-amz-acl': 'log-delivery-write' }, 'InvalidArgument'],
    ['the canned ACL of EC2', { 'x-amz-acl': 'aws-exec-read' }, 'NotImplemented'],
    ['both', { 'x-amz-acl': 'private', 'x-amz-grant-read': `id="${ann}"` }, 'InvalidRequest'],
    ['no form', { 'x-amz-grant-read': ann }, 'InvalidArgument'],
    ['an empty grant', { 'x-amz-grant-read': '' }, 'InvalidArgument'],
    ['another kind', { 'x-amz-grant-read': `name="${ann}"` }, 'InvalidArgument'],
    ['an open quote', { 'x-amz-grant-read': `id="${ann}` }, 'InvalidArgument'],
    ['an ID that is none', { 'x-amz-grant-read': 'id="ann"' }, 'InvalidArgument'],
    ['a group that is none', { 'x-amz-grant-read': 'uri="AllUsers"' }, 'InvalidArgument'],
    ['an address', { 'x-amz-grant-read': 'emailAddress="a@example.com"' }, 'UnresolvableGrantByEmailAddress'],
    ['101 grants', { 'x-amz-grant-read': Array.from({ length: 101 }, () => `id=${ann}`).join() }, 'MalformedACLError'],
  ])('are refused with %s', (_, headers, code) => {
    expect(() => parse(headers)).toThrow(expect.objectContaining({ code }));
  });

  it('are parsed or refused whatever they hold, in linear time', () => {
    const part = fc.constantFrom('id', 'uri', '=', '"', ',', ' ', ann, aclGroups.LogDelivery);
    fc.assert(
      fc.property(fc.array(fc.oneof(part, fc.string({ maxLength: 4 })), { maxLength: 60 }), (parts) => {
        expectRefusal(() => parse({ 'x-amz-grant-read': parts.join('') }));
      }),
    );
    const started = performance.now();
    for (const text of [
      `id=${' '.repeat(60_000)}"`,
      '='.repeat(60_000),
      `${' '.repeat(60_000)}x`,
      ','.repeat(60_000),
    ]) {
      expectRefusal(() => parse({ 'x-amz-grant-read': text }));
    }
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});

/** Runs a parser, which may throw errors of S3 alone. */
function expectRefusal(run: () => unknown): void {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(S3Error);
    expect((error as S3Error).status).toBeLessThan(502);
  }
}
