import { XMLParser, XMLValidator } from 'fast-xml-parser';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { S3Error } from './s3-error.ts';
import { readXml, XmlScanner, type XmlNode } from './xml-reader.ts';
import { element, markup, urlEncodeKey, xmlDocument, xmlText, type Xml, xmlSentence } from './xml-writer.ts';

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
    expect(element('A', [xmlSentence(`<&>"' &quot;`)])).toBe(`<A>&lt;&amp;&gt;"' &amp;quot;</A>`);
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

describe('writing what an answer contains often', () => {
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
  it.each([' ', '\t', '\n', '\r', '\r\n'])('takes %j for space inside a tag', (space) => {
    expect(readXml(`<A${space}b="c"${space}>x</A${space}>`, limits)).toEqual({ name: 'A', text: 'x', children: [] });
  });

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
    ' ',
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
    const chunks = fc.constantFrom(
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
      fc.property(fc.array(chunks, { maxLength: 60 }), (parts) => {
        const expected = parts.length === 0 ? ['MissingRequestBodyError'] : ['none', 'MalformedXML'];
        expect(expected).toContain(codeOf(parts.join('')));
      }),
      { numRuns: 2_000 },
    );
    for (const chunk of ['<', '<A ', ' b="c"', '<A b="c" ', '&', '<!--', '<?', '&#'])
      codeOf(`<A ${chunk.repeat(100_000)}`);
  });

  it('takes only what a general parser takes, and reads the same', () => {
    const parser = new XMLParser({
      preserveOrder: true,
      parseTagValue: false,
      trimValues: false,
      processEntities: false,
    });
    const chunks = fc.constantFrom('<A>', '</A>', '<B>', '</B>', '<C/>', 'x', ' ', '<D e="f">', '</D>');
    fc.assert(
      fc.property(fc.array(chunks, { maxLength: 10 }), (parts) => {
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

describe('a hostile document', () => {
  it.each([
    ['character references', (n: number) => `<A>${'&#65;'.repeat(n)}</A>`],
    ['named references', (n: number) => `<A>${'&lt;'.repeat(n)}</A>`],
    ['ampersands', (n: number) => `<A>${'&'.repeat(n)}</A>`],
    ['attributes', (n: number) => `<A${' b="c"'.repeat(n)}/>`],
    ['spaces in a tag', (n: number) => `<A${' '.repeat(n)}/>`],
    ['a long name', (n: number) => `<${'A'.repeat(n)}/>`],
    ['a long value', (n: number) => `<A b="${'c'.repeat(n)}"/>`],
    ['depth', (n: number) => '<A>'.repeat(n)],
    ['elements', (n: number) => `<A>${'<B/>'.repeat(n)}</A>`],
    ['comments', (n: number) => `<A>${'<!---->x'.repeat(n)}</A>`],
    ['comments without an end', (n: number) => `<A>${'<!--'.repeat(n)}`],
    ['sections', (n: number) => `<A>${'<![CDATA[]]>'.repeat(n)}</A>`],
    ['instructions', (n: number) => '<?'.repeat(n)],
    ['end tags', (n: number) => `<A>${'</A>'.repeat(n)}`],
    ['quotes', (n: number) => `<A ${'"'.repeat(n)}`],
    ['tags without an end', (n: number) => '<A '.repeat(n)],
  ])('of %s takes at most three steps for each character', (_what, make) => {
    for (const times of [1, 20, 300_000]) {
      const document = make(times);
      expect(stepsOf(document)).toBeLessThanOrEqual(3 * document.length);
    }
  });

  it('made of any markup takes at most three steps for each character', () => {
    const markup = ['<', '</', '<A', '>', '/>', ' b="c"', " d='", '&#65;', '&', ';', '<!--', '-->', '<![CDATA[', ']]>'];
    const chunks = fc.constantFrom(...markup, '<?', '?>', 'x', ' ', '"', '=', ':', '</A>');
    fc.assert(
      fc.property(fc.array(chunks, { minLength: 1, maxLength: 80 }), (parts) => {
        const document = parts.join('');
        // Each tag ends with a look at the character behind it.
        expect(stepsOf(document)).toBeLessThanOrEqual(3 * document.length + 3);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['65 attributes', `<A${' b="c"'.repeat(65)}/>`, 'more than 64 attributes'],
    ['1,300,000 attributes', `<A${' b="c"'.repeat(1_300_000)}/>`, 'more than 64 attributes'],
    ['100,001 elements', `<A>${'<B/>'.repeat(100_000)}</A>`, 'more than 100000 elements'],
    ['a name of 257 characters', `<${'A'.repeat(257)}/>`, 'longer than 256'],
    ['a reference to a property of objects', '<A>&toString;</A>', '"&toString;" is no known reference'],
  ])('with %s is refused', (_what, document, why) => {
    expect(() => readXml(document, { maxBytes: 16_000_000 })).toThrow(why);
    expect(() => readXml(document, { maxBytes: 16_000_000 })).toThrow(S3Error);
  });

  it('holds as many elements as its reader needs', () => {
    const document = '<A><B/><B/></A>';
    expect(readXml(document, { ...limits, maxElements: 3 }).children).toHaveLength(2);
    expect(() => readXml(document, { ...limits, maxElements: 2 })).toThrow('more than 2 elements');
  });

  it('is read to the same text as by a general parser, references included', () => {
    const parser = new XMLParser({ parseTagValue: false, trimValues: false, htmlEntities: true });
    const chunks = fc.constantFrom(
      '&lt;',
      '&gt;',
      '&amp;',
      '&quot;',
      '&apos;',
      '&#65;',
      '&#x1F642;',
      'a',
      ' b',
      ';',
      '#',
    );
    fc.assert(
      fc.property(fc.array(chunks, { minLength: 1, maxLength: 12 }), (parts) => {
        const document = `<A>x${parts.join('')}</A>`;
        const { A: text } = parser.parse(document) as { A: string };
        // The other one resolves what a reference resolves to once more.
        fc.pre(!document.includes('&amp;'));
        expect(readXml(document, limits).text).toBe(text);
      }),
      { numRuns: 200 },
    );
  });
});

/** Characters that the scanner looks at, whatever it says of the document in the end. */
function stepsOf(document: string): number {
  const scanner = new XmlScanner(document);
  try {
    scanner.read();
  } catch (error) {
    if (!(error instanceof S3Error)) throw error;
  }
  return scanner.steps;
}
