import * as fc from 'fast-check';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parseLifecycle } from '../../protocol/s3/lifecycle/bucket-lifecycle.ts';
import { elementAt, readEditable, textAt, withText } from '../../protocol/s3/xml-edit.ts';
import type { XmlNode } from '../../protocol/s3/xml-reader.ts';
import { withForeignElements } from '../../test/support/s3-documents/foreign-elements.ts';
import { lifecycleDocuments } from '../../test/support/s3-documents/lifecycle.ts';
import { editRule, type RuleOptions } from '../commands/lifecycle/rule-options.ts';
import {
  readLifecycleDocument,
  withEditedRule,
  withoutRule,
  withRule,
  writeLifecycleDocument,
  type LifecycleRuleFields,
} from './lifecycle-document.ts';

const rules: readonly LifecycleRuleFields[] = [
  { ID: 'days', Status: 'Enabled', Filter: { Prefix: 'logs/' }, Expiration: { Days: 3 } },
  {
    ID: 'tags',
    Status: 'Disabled',
    Filter: {
      And: {
        Prefix: 'p',
        Tags: [
          { Key: 'k', Value: 'v & w' },
          { Key: 'l', Value: '1' },
        ],
        ObjectSizeLessThan: 9,
      },
    },
    NoncurrentVersionExpiration: { NoncurrentDays: 2, NewerNoncurrentVersions: 4 },
  },
  {
    ID: 'tag',
    Status: 'Enabled',
    Filter: { Tag: { Key: 'k', Value: 'v' } },
    AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 },
  },
  {
    ID: 'tier',
    Status: 'Enabled',
    Transition: { Days: 0, StorageClass: 'WARM' },
    NoncurrentVersionTransition: { NoncurrentDays: 5, StorageClass: 'COLD' },
  },
  { ID: 'date', Status: 'Enabled', Expiration: { Date: '2030-01-01T00:00:00Z', ExpiredObjectAllVersions: true } },
  { ID: 'markers', Status: 'Enabled', Expiration: { ExpiredObjectDeleteMarker: true } },
];

describe('the document of lifecycle rules', () => {
  it.each(rules)('keeps the rule $ID', (rule) => {
    expect(readLifecycleDocument(writeLifecycleDocument([rule]))).toEqual([rule]);
  });

  it('names an empty prefix where a rule has no filter', () => {
    expect(writeLifecycleDocument([{ ID: 'all', Status: 'Enabled', Expiration: { Days: 1 } }])).toContain(
      '<Filter><Prefix/></Filter>',
    );
  });

  it('refuses another document', () => {
    expect(() => readLifecycleDocument('<Other/>')).toThrow('LifecycleConfiguration');
  });
});

/** All that the server accepts, also with elements that no version of this program knows. */
const documents = fc.oneof(lifecycleDocuments, withForeignElements(lifecycleDocuments));
const same = (rule: LifecycleRuleFields) => rule;
const rulesOf = (document: string) => readEditable(document).children.filter(({ name }) => name === 'Rule');
const idsOf = (document: string) => rulesOf(document).map((rule) => textAt(rule, ['ID']) ?? '');

const editedBy = (document: string, id: string, options: RuleOptions) =>
  withEditedRule(document, id, (rule) => editRule(rule, options, '')) ?? '';
const childrenBut = (node: XmlNode | undefined, ...names: readonly string[]) =>
  node?.children.filter(({ name }) => !names.includes(name));
/** What an expiration has besides its time. */
const endOf = (node: XmlNode | undefined) => childrenBut(node && elementAt(node, ['Expiration']), 'Days', 'Date') ?? [];
const laterIn = (text: string) => new Set(text.match(/<Later\w*/g));
/** What is in a tag goes with the tag. */
const withoutTags = (text: string) => text.replaceAll(/<Tag>.*?<\/Tag>/gs, '');

/** The rules as the server takes them. An empty prefix of the older form is none. */
const meaningOf = (document: string) =>
  parseLifecycle(document).map(({ filter: { deprecated: _older, prefix, ...filter }, ...rule }) => ({
    ...rule,
    filter: { ...filter, ...(prefix && { prefix }) },
  }));
const jsonOf = (document: string) =>
  JSON.parse(JSON.stringify(readLifecycleDocument(document))) as readonly LifecycleRuleFields[];

describe('an export', () => {
  it('is the same rules for the server when it is imported again', () => {
    fc.assert(
      fc.property(lifecycleDocuments, (document) => {
        expect(meaningOf(writeLifecycleDocument(jsonOf(document)))).toEqual(meaningOf(document));
      }),
      { numRuns: 500 },
    );
  });
});

describe('a change of a document', () => {
  it('of the tags that a rule is for is that alone for the server', () => {
    const tags = { a: 'b', c: 'd' };
    fc.assert(
      fc.property(lifecycleDocuments, (document) => {
        const [first, ...others] = meaningOf(document);
        // The server refuses these together with tags.
        fc.pre(first?.abortUploadsDays === undefined && first?.markerDays === undefined);
        fc.pre(first?.expiration === undefined || !('loneMarkers' in first.expiration));
        const changed = editedBy(document, idsOf(document)[0] ?? '', { tags: 'a=b&c=d' });
        expect(meaningOf(changed)).toEqual([{ ...first, filter: { ...first?.filter, tags } }, ...others]);
      }),
      { numRuns: 500 },
    );
  });

  it('that changes nothing is the same document', () => {
    fc.assert(
      fc.property(documents, (document) => {
        for (const id of idsOf(document)) expect(withEditedRule(document, id, same)).toBe(document);
      }),
    );
  });

  it('leaves everything else as it came: the status of a rule', () => {
    fc.assert(
      fc.property(documents, (document) => {
        const [id = ''] = idsOf(document);
        const edited = withEditedRule(document, id, (rule) => ({ ...rule, Status: 'Changed' })) ?? '';
        const root = readEditable(document);
        const [first] = rulesOf(document);
        const expected = root.children.map((node) =>
          isDeepStrictEqual(node, first) ? withText(node, ['Status'], 'Changed') : node,
        );
        expect(readEditable(edited).children).toEqual(expected);
      }),
    );
  });

  it('leaves everything else as it came: the days of an expiration', () => {
    fc.assert(
      fc.property(documents, (document) => {
        const [id = ''] = idsOf(document);
        const [edited, ...others] = rulesOf(editedBy(document, id, { expireDays: '77' }));
        const [before, ...rest] = rulesOf(document);
        expect(others).toEqual(rest);
        expect(childrenBut(edited, 'Expiration')).toEqual(childrenBut(before, 'Expiration'));
        expect(endOf(edited)).toEqual(endOf(before));
        expect(edited && textAt(edited, ['Expiration', 'Days'])).toBe('77');
      }),
    );
  });

  it('leaves everything else as it came: the tags that a rule is for', () => {
    const tags = [
      { Key: 'a', Value: 'b' },
      { Key: 'c', Value: 'd' },
    ];
    fc.assert(
      fc.property(documents, (document) => {
        const [id = ''] = idsOf(document);
        const changed = editedBy(document, id, { tags: 'a=b&c=d' });
        const [before] = readLifecycleDocument(document);
        const [after] = readLifecycleDocument(changed);
        expect(after?.Filter?.And?.Tags).toEqual(tags);
        const prefixOf = (rule: typeof before) => rule?.Prefix ?? rule?.Filter?.Prefix ?? rule?.Filter?.And?.Prefix;
        expect(prefixOf(after)).toBe(prefixOf(before));
        const sizeOf = (rule: typeof before) =>
          rule?.Filter?.ObjectSizeLessThan ?? rule?.Filter?.And?.ObjectSizeLessThan;
        expect(sizeOf(after)).toBe(sizeOf(before));
        expect(childrenBut(rulesOf(changed)[0], 'Filter', 'Prefix')).toEqual(
          childrenBut(rulesOf(document)[0], 'Filter', 'Prefix'),
        );
        expect(rulesOf(changed).slice(1)).toEqual(rulesOf(document).slice(1));
        expect(laterIn(withoutTags(changed))).toEqual(laterIn(withoutTags(document)));
      }),
    );
  });

  it('adds a rule, and removes it again', () => {
    fc.assert(
      fc.property(documents, (document) => {
        const added = withRule(document, { ID: 'new', Status: 'Enabled', Expiration: { Days: 1 } });
        expect(idsOf(added)).toEqual([...idsOf(document), 'new']);
        expect(withoutRule(added, 'new')).toEqual({ document });
      }),
    );
  });

  it('keeps several transitions of a rule, and refuses to edit them by flags', () => {
    const transitions = [30, 60].map(
      (days) => `<Transition><Days>${days}</Days><StorageClass>T${days}</StorageClass></Transition>`,
    );
    const document = `<LifecycleConfiguration><Rule><ID>a</ID><Status>Enabled</Status><Filter/>${transitions.join('')}</Rule></LifecycleConfiguration>`;
    expect(withEditedRule(document, 'a', (rule) => editRule(rule, { disable: true }, ''))).toContain(
      transitions.join(''),
    );
    expect(writeLifecycleDocument(readLifecycleDocument(document))).toContain(transitions.join(''));
    expect(() =>
      withEditedRule(document, 'a', (rule) => editRule(rule, { transitionDays: '3', tier: 'x' }, '')),
    ).toThrow('2 elements Transition');
  });

  it('names no rule that is absent', () => {
    const document = writeLifecycleDocument(rules);
    expect(withEditedRule(document, 'absent', same)).toBeUndefined();
    expect(withoutRule(document, 'absent')).toBeUndefined();
    expect(withoutRule(writeLifecycleDocument(rules.slice(0, 1)), 'days')).toEqual({ document: undefined });
  });
});
