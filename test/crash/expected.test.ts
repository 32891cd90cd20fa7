import { describe, expect, it } from 'vitest';
import { complaintsAboutVersions } from './compare-versions.ts';
import { DELETE_MARKER, ExpectedObjects, ExpectedUploads, halfMoves, IN_DOUBT, knownVersions } from './expected.ts';

function answered(...contents: readonly (string | undefined)[]): ExpectedObjects {
  const expected = new ExpectedObjects();
  for (const content of contents) {
    expected.begin('b/k', content);
    expected.acknowledge('b/k');
  }
  return expected;
}

const part = { seed: 1, size: 1, etag: '"1"' };
const shown = (id: string, parts: readonly (readonly [number, string])[] = []) => ({
  id,
  name: 'b/k',
  parts: new Map(parts),
});

function begun(): ExpectedUploads {
  const uploads = new ExpectedUploads();
  uploads.begin('b/k');
  uploads.begun('b/k', 'one');
  uploads.beginPart('one', 1);
  uploads.partDone('one', 1, part);
  return uploads;
}

describe('what is expected of an object', () => {
  it('is the last answer, and neither an older one nor nothing', () => {
    const expected = answered('old', 'new');
    expect(expected.complaint('b/k', 'new')).toBeUndefined();
    expect(expected.complaint('b/k', 'old')).toBe('b/k is old, where new was answered');
    expect(expected.complaint('b/k', undefined)).toBe('b/k is absent, where new was answered');
  });

  it('is nothing after a deletion', () => {
    expect(answered('old', undefined).complaint('b/k', 'old')).toBe('b/k is old, where absent was answered');
  });

  it('is either while an answer is missing, and nothing else', () => {
    const expected = answered('old');
    expected.begin('b/k', 'new');
    expect(expected.known('b/k')).toBe(IN_DOUBT);
    expect(['old', 'new', 'other'].map((shown) => expected.complaint('b/k', shown) === undefined)).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('is what it was after a refusal', () => {
    const expected = answered('old');
    expected.begin('b/k', 'new');
    expected.refuse('b/k');
    expect(expected.complaint('b/k', 'new')).toBeDefined();
  });

  it('is what a restarted server showed once', () => {
    const expected = answered('old');
    expected.begin('b/k', 'new');
    expected.settle('b/k', 'new');
    expect(expected.complaint('b/k', 'old')).toBeDefined();
  });
});

function written(): ExpectedObjects {
  const expected = new ExpectedObjects();
  for (const [content, id] of [
    ['one', '1'],
    ['two', '2'],
    [undefined, '3'],
  ] as const) {
    expected.begin('b/k', content);
    expected.acknowledge('b/k', id);
  }
  return expected;
}
const all = { 'b/k?versionId=1': 'one', 'b/k?versionId=2': 'two', 'b/k?versionId=3': DELETE_MARKER };
const complaintsOf = (expected: ExpectedObjects, shown: Readonly<Record<string, string>>) =>
  complaintsAboutVersions(new Map(Object.entries(shown)), expected);

describe('what is expected of versions', () => {
  it('is each that was answered, newest first', () => {
    expect(knownVersions(written(), 'b/k')?.map(({ versionId, content }) => [versionId, content])).toEqual([
      ['3', DELETE_MARKER],
      ['2', 'two'],
      ['1', 'one'],
    ]);
    expect(complaintsOf(written(), all)).toEqual([]);
  });

  it('is no other, none less and no other content', () => {
    expect(complaintsOf(written(), { ...all, 'b/k?versionId=4': 'four' })).toEqual([
      'b/k?versionId=4 is four, and no client wrote it',
    ]);
    expect(complaintsOf(written(), { ...all, 'b/k?versionId=1': 'two' })).toHaveLength(1);
    const { 'b/k?versionId=1': _, ...less } = all;
    expect(complaintsOf(written(), less)).toEqual(['b/k?versionId=1 is absent, where one was answered']);
    expect(complaintsOf(written(), { ...all, 'b/k?versionId=2&tagging': 'tag' })).toHaveLength(1);
  });

  it('is either while an answer is missing, and nothing is then removed', () => {
    for (const shown of [all, { ...all, 'b/k?versionId=4': 'four' }]) {
      const expected = written();
      expected.begin('b/k', 'four');
      expect(knownVersions(expected, 'b/k')).toBeUndefined();
      expected.begin('b/k', 'five');
      expected.acknowledge('b/k', '5');
      expect(knownVersions(expected, 'b/k')).toBeUndefined();
      expect(complaintsOf(expected, { ...shown, 'b/k?versionId=5': 'five' })).toEqual([]);
    }
  });
});

describe('what is expected of an upload', () => {
  it('is that it is there with every part that was answered', () => {
    expect(begun().complaints([shown('one', [[1, '"1"']])])).toEqual([]);
    expect(begun().complaints([])).toEqual(['the upload one of b/k was begun and is gone']);
    expect(begun().complaints([shown('one')])).toEqual(['part 1 of one of b/k is absent, where "1" was answered']);
    expect(begun().complaints([shown('one', [[1, '"2"']])])).toEqual([
      'part 1 of one of b/k is "2", where "1" was answered',
    ]);
  });

  it('is that it is gone when it has ended', () => {
    const uploads = begun();
    uploads.end('one');
    uploads.ended('one');
    expect(uploads.complaints([shown('one', [[1, '"1"']])])).toEqual(['the upload one of b/k has ended and is there']);
  });

  it('is either while the answer to its end is missing', () => {
    for (const there of [[], [shown('one', [[1, '"1"']])]]) {
      const uploads = begun();
      uploads.end('one');
      expect(uploads.complaints(there)).toEqual([]);
    }
  });

  it('is that no other client began one, but the one without an answer', () => {
    expect(new ExpectedUploads().complaints([shown('stranger')])).toEqual([
      'the upload stranger of b/k was begun by nobody',
    ]);
    const uploads = new ExpectedUploads();
    uploads.begin('b/k');
    expect(uploads.complaints([shown('unheard')])).toEqual([]);
  });
});

const names = ['b/from', 'b/to'] as const;
function moving(): ExpectedObjects {
  const expected = new ExpectedObjects();
  expected.begin('b/from', 'content');
  expected.acknowledge('b/from');
  expected.beginMove({ from: 'b/from', to: 'b/to', content: 'content' });
  return expected;
}

describe('a rename without an answer', () => {
  it.each([
    ['done', [undefined, 'content'], 0],
    ['not done', ['content', undefined], 0],
    ['half done, with both names', ['content', 'content'], 1],
    ['half done, with neither', [undefined, undefined], 1],
  ] as const)('may be %s: %o', (_what, shown, complaints) => {
    const contents = new Map(names.map((name, at) => [name as string, shown[at]]));
    expect(halfMoves(moving().moves, (name) => contents.get(name))).toHaveLength(complaints);
    for (const name of names) expect(moving().complaint(name, contents.get(name))).toBeUndefined();
  });

  it('is no longer looked at when it was answered, refused, or followed by another change', () => {
    const [answered, rejected, followed] = [moving(), moving(), moving()];
    for (const name of names) answered.acknowledge(name);
    for (const name of names) rejected.refuse(name);
    followed.begin('b/to', 'new');
    expect([answered, rejected, followed].flatMap(({ moves }) => moves)).toEqual([]);
  });
});
