import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { corsDocuments } from '../../test/support/s3-documents/cors.ts';
import { lifecycleDocuments } from '../../test/support/s3-documents/lifecycle.ts';
import { replicationDocuments } from '../../test/support/s3-documents/replication.ts';
import { elementAt, newElement, readEditable, textAt, withAll, without, withText, writeEdited } from './xml-edit.ts';

const rule = readEditable('<Rule><ID>a</ID><Filter><And><Prefix>p</Prefix><Tag/></And></Filter><ID>b</ID></Rule>');

it.each([
  ['lifecycle', lifecycleDocuments],
  ['replication', replicationDocuments],
  ['cors', corsDocuments],
])('writes each %s document as the server wrote it', (_name, documents) => {
  fc.assert(
    fc.property(documents, (document) => {
      expect(writeEdited(readEditable(document))).toBe(document);
    }),
    { numRuns: 300 },
  );
});

it('reads the first element of a path', () => {
  expect(textAt(rule, ['ID'])).toBe('a');
  expect(textAt(rule, ['Filter', 'And', 'Prefix'])).toBe('p');
  expect(elementAt(rule, ['Filter', 'Prefix'])).toBeUndefined();
});

it('changes one text, and makes the elements of its path', () => {
  expect(writeEdited(withText(rule, ['Filter', 'And', 'Prefix'], 'q'))).toBe(
    writeEdited(rule).replace('<Prefix>p</Prefix>', '<Prefix>q</Prefix>'),
  );
  expect(textAt(withText(rule, ['Expiration', 'Days'], '7'), ['Expiration', 'Days'])).toBe('7');
});

it('removes an element with the parents that have nothing else', () => {
  expect(elementAt(without(rule, ['Filter', 'And', 'Prefix']), ['Filter', 'And', 'Tag'])).toBeDefined();
  const alone = newElement('Rule', [newElement('Filter', [newElement('Prefix', 'p')])]);
  expect(without(alone, ['Filter', 'Prefix']).children).toEqual([]);
  expect(without(rule, ['Filter', 'Absent'])).toBe(rule);
});

it('replaces all children of a name in their place', () => {
  const next = withAll(rule, 'ID', [newElement('ID', 'c')]);
  expect(next.children.map(({ name }) => name)).toEqual(['ID', 'Filter']);
  expect(withAll(rule, 'New', [newElement('New', 'd')]).children.at(-1)).toEqual(newElement('New', 'd'));
});
