import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readPlainObjectList } from './plain-object-list.ts';
import { readListObjects } from './responses.ts';
import { S3Error } from './s3-error.ts';
import { readXml, type XmlNode } from './xml-reader.ts';
import { element, xmlDocument } from './xml-writer.ts';

interface ListedObject {
  readonly key: string;
  readonly size: number;
  readonly etag: string;
  readonly owner: boolean;
}

function documentOf(objects: readonly ListedObject[], prefixes: readonly string[]): string {
  return xmlDocument('ListBucketResult', [
    element('Name', 'photos'),
    element('IsTruncated', false),
    element('Delimiter', undefined),
    ...objects.map(({ key, size, etag, owner }) =>
      element('Contents', [
        element('Key', key),
        element('LastModified', new Date(1_700_000_000_000)),
        element('ETag', `"${etag}"`),
        element('Size', size),
        owner ? element('Owner', [element('ID', 'id'), element('DisplayName', 'name')]) : undefined,
        element('ChecksumType', undefined),
        element('StorageClass', 'STANDARD'),
      ]),
    ),
    ...prefixes.map((prefix) => element('CommonPrefixes', [element('Prefix', prefix)])),
  ]);
}

const key = fc.string({ minLength: 1, unit: fc.constantFrom('a', '/', '&', '<', '>', ' ', '"', 'é', '\n', '%', ']') });
const object = fc.record({
  key,
  size: fc.nat(),
  etag: fc.string({ unit: fc.constantFrom('0', '9', 'a', 'f', '-') }),
  owner: fc.boolean(),
});

function textIn(node: XmlNode, name: string): string | undefined {
  return node.children.find((one) => one.name === name)?.text;
}

/** The values that the general reader finds, undefined if it refuses the document. */
function generally(document: string): { objects: unknown[]; prefixes: unknown[] } | undefined {
  let root: XmlNode;
  try {
    root = readXml(document, { maxBytes: 1_000_000, root: 'ListBucketResult' });
  } catch (error) {
    if (error instanceof S3Error) return undefined;
    throw error;
  }
  return {
    objects: root.children
      .filter(({ name }) => name === 'Contents')
      .map((node) => ({ key: textIn(node, 'Key'), size: textIn(node, 'Size'), etag: textIn(node, 'ETag') })),
    prefixes: root.children.filter(({ name }) => name === 'CommonPrefixes').map((node) => textIn(node, 'Prefix')),
  };
}

describe('a listing in the plain form', () => {
  it('holds what the general reader finds', () => {
    fc.assert(
      fc.property(fc.array(object, { maxLength: 5 }), fc.array(key, { maxLength: 3 }), (objects, prefixes) => {
        const plain = readPlainObjectList(documentOf(objects, prefixes));
        expect(plain?.objects.map((one) => one.key)).toEqual(objects.map((one) => one.key));
        expect(plain?.objects.map((one) => one.etag)).toEqual(objects.map(({ etag }) => `"${etag}"`));
        expect(plain?.commonPrefixes).toEqual(prefixes);
        expect(plain?.fields.get('IsTruncated')).toBe('false');
      }),
    );
  });

  it('is never read otherwise than by the general reader, whatever is cut out or put in', () => {
    const markup = fc.constantFrom(
      '<',
      '>',
      '/',
      '</Key>',
      '<Key>',
      '<!--',
      '-->',
      '<![CDATA[',
      ']]>',
      '&amp;',
      ' a="b"',
    );
    const change = fc.record({ at: fc.nat(700), cut: fc.nat(12), put: fc.oneof(markup, fc.constant('')) });
    fc.assert(
      fc.property(fc.array(object, { maxLength: 2 }), fc.array(change, { maxLength: 3 }), (objects, changes) => {
        let document = documentOf(objects, ['p/']);
        for (const { at, cut, put } of changes) document = document.slice(0, at) + put + document.slice(at + cut);
        let plain;
        try {
          plain = readPlainObjectList(document);
        } catch (error) {
          expect(error).toBeInstanceOf(S3Error);
        }
        if (plain === undefined) return;
        const found = plain.objects.map((one) => ({ key: one.key, size: one.size, etag: one.etag }));
        expect({ objects: found, prefixes: plain.commonPrefixes }).toEqual(generally(document));
      }),
    );
  });

  it.each([
    ['attributes', '<Contents a="b"><Key>k</Key></Contents>'],
    ['a comment', '<Contents><Key>k<!-- c --></Key></Contents>'],
    ['CDATA', '<Contents><Key><![CDATA[k]]></Key></Contents>'],
    ['a second key', '<Contents><Key>k</Key><Key>l</Key></Contents>'],
    ['no key', '<Contents><Size>1</Size></Contents>'],
    ['deeper elements', '<Contents><Key>k</Key><Owner><A><B>x</B></A></Owner></Contents>'],
    ['an empty object', '<Contents/>'],
    ['an empty prefix', '<CommonPrefixes/>'],
  ])('is none with %s', (_, inner) => {
    expect(readPlainObjectList(`<ListBucketResult>${inner}</ListBucketResult>`)).toBeUndefined();
  });

  it.each(['<ListBucketResult>', '<Other></Other>', '', '<ListBucketResult></ListBucketResult>x'])(
    'is not %j',
    (document) => {
      expect(readPlainObjectList(document)).toBeUndefined();
    },
  );
});

describe('a page of objects', () => {
  it('is the same in both forms', () => {
    const contents = '<Contents><Key>a+b%20c</Key><ETag>&quot;e&quot;</ETag><Size>3</Size></Contents>';
    const rest =
      '<EncodingType>url</EncodingType><IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>';
    const plain = readListObjects(`<ListBucketResult>${contents}${rest}</ListBucketResult>`);
    expect(plain).toEqual(readListObjects(`<ListBucketResult><!-- c -->${contents}${rest}</ListBucketResult>`));
    expect(plain).toMatchObject({ objects: [{ key: 'a b c', size: 3, etag: 'e' }], continuationToken: 't' });
  });

  it('that is truncated needs a token', () => {
    const document = '<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>';
    expect(() => readListObjects(document)).toThrow('NextContinuationToken');
  });
});
