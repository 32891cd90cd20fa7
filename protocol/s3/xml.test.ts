import { XMLParser, XMLValidator } from 'fast-xml-parser';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { S3Error } from './s3-error.ts';
import { readXml, type XmlNode } from './xml-reader.ts';
import { element, markup, urlEncodeKey, xmlDocument, xmlText, type Xml } from './xml-writer.ts';

const limits = { maxBytes: 1_000_000 };

function codeOf(document: string | Buffer): string {
  try {
    readXml(document, limits);
    return 'none';
  } catch (error) {
    if (error instanceof S3Error) return error.code;
    throw error;
  }
}

describe('writing', () => {
  it('makes a document with the namespace of S3', () => {
    expect(
      xmlDocument('Root', [element('A', 'x'), undefined, element('B', [element('C', 1)]), element('D', undefined)]),
    ).toBe(
      '<?xml version="1.0" encoding="UTF-8"?>\n' +
        '<Root xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><A>x</A><B><C>1</C></B><D/></Root>',
    );
  });

  it('escapes markup and control characters', () => {
    expect(element('A', `<&>"'\u0001\r\n\u007f`)).toBe('<A>&lt;&amp;&gt;&quot;&apos;&#x1;&#xD;&#xA;&#x7F;</A>');
  });

  it('writes dates, numbers and booleans', () => {
    const when = new Date('2024-01-02T03:04:05.678Z');
    expect([element('A', when), element('A', 7), element('A', false)]).toEqual([
      '<A>2024-01-02T03:04:05.678Z</A>',
      '<A>7</A>',
      '<A>false</A>',
    ]);
  });

  it('encodes keys for encoding-type=url', () => {
    expect(urlEncodeKey("a/b c+d'(ü)*")).toBe('a/b+c%2Bd%27%28%C3%BC%29*');
  });
});

describe('writing what stands in an answer often', () => {
  it('puts finished markup and numbers into the gaps', () => {
    expect(markup`<Key>${xmlText('a<b')}</Key>${element('Size', 1)}<Parts>${2}</Parts>`).toBe(
      '<Key>a&lt;b</Key><Size>1</Size><Parts>2</Parts>',
    );
  });

  it('encodes a key that needs it as one that does not, character by character', () => {
    fc.assert(
      fc.property(
        fc.string({
          unit: fc.oneof(fc.constantFrom(...Array.from("aZ09-_.~*/ +!'()&<\n")), fc.string({ unit: 'binary' })),
        }),
        (key) => {
          fc.pre(key.isWellFormed());
          expect(urlEncodeKey(key)).toBe(Array.from(key, (character) => urlEncodeKey(character)).join(''));
          expect(decodeURIComponent(urlEncodeKey(key).replaceAll('+', ' '))).toBe(key);
          expect(urlEncodeKey(key)).toMatch(/^[a-zA-Z0-9\-_.~*/+%]*$/);
        },
      ),
    );
  });
});

describe('reading', () => {
  it('knows elements, text, CDATA, comments and references, and drops prefixes', () => {
    const document =
      '\uFEFF<?xml version="1.0"?>\n<!-- c --><s:A xmlns:s="x" b=\'y\' >t&lt;&#65;&#x1F642;<B/><s:C > v </s:C><![CDATA[<&lt;>]]></s:A >\n';
    expect(readXml(document, limits)).toEqual({
      name: 'A',
      text: 't<A🙂<&lt;>',
      children: [
        { name: 'B', text: '', children: [] },
        { name: 'C', text: ' v ', children: [] },
      ],
    });
  });

  it.each([
    '',
    ' ',
    'text',
    '<A>',
    '</A>',
    '<A></B>',
    '<A><B></A></B>',
    '<A/><B/>',
    '<A>x</A>y',
    '<A',
    '<A>&nope;</A>',
    '<A>&amp</A>',
    '<A>&#xD800;</A>',
    '<A>&#x110000;</A>',
    '<A>&#0x1;</A>',
    '<A b></A>',
    '<A b=c></A>',
    '<A b="<"></A>',
    '< A></A>',
    '<A>a < b</A>',
    '<!DOCTYPE A><A/>',
    '<!DOCTYPE A [<!ENTITY e "x">]><A>&e;</A>',
    '<A><!ENTITY e "x"></A>',
    '<![CDATA[x]]>',
    '<A><![CDATA[x</A>',
    '<A><!-- x</A>',
    '<?xml',
    '<1/>',
    '<s:A></t:A>',
    '<A>'.repeat(21),
    '<A>'.repeat(100_000),
  ])('refuses %j', (document) => {
    expect(codeOf(document)).toBe('MalformedXML');
  });

  it('refuses bytes that are not UTF-8', () => {
    expect(codeOf(Buffer.from([0x3c, 0x41, 0x3e, 0xff, 0x3c, 0x2f, 0x41, 0x3e]))).toBe('MalformedXML');
  });

  it('refuses more bytes than the limit', () => {
    expect(() => readXml('<A>xx</A>', { maxBytes: 8 })).toThrow('more than 8 bytes');
  });

  it('refuses another root than the expected', () => {
    expect(() => readXml('<A/>', { ...limits, root: 'B' })).toThrow('root element is "A" where "B" is expected');
  });

  it('gives back whatever was written', () => {
    const name = fc.constantFrom('A', 'Key', 'x-y', 'C.d');
    const character = fc
      .oneof(fc.integer({ min: 0, max: 0x2ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
      .map((point) => String.fromCodePoint(point));
    const node: fc.Memo<XmlNode> = fc.memo((depth): fc.Arbitrary<XmlNode> =>
      depth > 1
        ? fc.record({
            name,
            text: fc.constant(''),
            children: fc.array(node(depth - 1), { minLength: 1, maxLength: 3 }),
          })
        : fc.record({ name, text: fc.string({ unit: character }), children: fc.constant([]) }),
    );
    fc.assert(
      fc.property(node(4), (root) => {
        expect(readXml(write(root), limits)).toEqual(root);
      }),
    );
  });

  it('refuses whatever comes with an S3Error, in time that grows with its length', () => {
    const pieces = fc.constantFrom(
      '<',
      '>',
      '/',
      'A',
      'b="c"',
      ' ',
      '&',
      ';',
      '<!--',
      '-->',
      '<![CDATA[',
      ']]>',
      '<?',
      '?>',
      '"',
      '=',
      ':',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 60 }), (parts) => {
        expect(['none', 'MalformedXML']).toContain(codeOf(parts.join('')));
      }),
      { numRuns: 2_000 },
    );
    for (const piece of ['<', '<A ', ' b="c"', '<A b="c" ', '&', '<!--', '<?', '&#'])
      codeOf(`<A ${piece.repeat(100_000)}`);
  });

  it('takes only what a general parser takes, and reads the same', () => {
    const parser = new XMLParser({
      preserveOrder: true,
      parseTagValue: false,
      trimValues: false,
      processEntities: false,
    });
    const pieces = fc.constantFrom('<A>', '</A>', '<B>', '</B>', '<C/>', 'x', ' ', '<D e="f">', '</D>');
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 10 }), (parts) => {
        const document = `<R>${parts.join('')}</R>`;
        const valid = XMLValidator.validate(document) === true;
        expect(codeOf(document)).toBe(valid ? 'none' : 'MalformedXML');
        if (!valid) return;
        const names = JSON.stringify(parser.parse(document))
          .match(/"[A-Z]"/g)
          ?.map((name) => name.slice(1, 2));
        expect(namesOf(readXml(document, limits))).toEqual(names);
      }),
      { numRuns: 1_000 },
    );
  });
});

function write(node: XmlNode): Xml {
  return element(node.name, node.children.length > 0 ? node.children.map(write) : node.text);
}

function namesOf(node: XmlNode): string[] {
  return [node.name, ...node.children.flatMap(namesOf)];
}
