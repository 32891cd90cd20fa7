import { describe, expect, it } from 'vitest';
import { violationsOfVersions } from './check-versions.ts';
import type { Operation } from './operation.ts';
import { bodyOf, etagOf } from './s3-register.ts';

const put = (value: string, called: number, answer: 'done' | 'unknown' = 'done'): Operation => ({
  client: 0,
  key: 'key',
  called,
  answered: called + 1,
  action: { kind: 'put', value, condition: { kind: 'none' }, answer },
});
const version = (versionId: string, value: string | undefined, isLatest = false) => ({
  versionId,
  isLatest,
  etag: value === undefined ? undefined : etagOf(bodyOf(value)),
});
const operations = [put('one', 1), put('two', 3), put('lost', 5, 'unknown')];
const acknowledged = new Map([
  ['1', 'one'],
  ['2', 'two'],
  ['3', undefined],
]);
const whole = [version('3', undefined, true), version('2', 'two'), version('1', 'one')];

describe('the versions after a round', () => {
  it('are those of the acknowledged writes, and at most one for each write without an answer', () => {
    expect(violationsOfVersions(whole, acknowledged, operations)).toEqual([]);
    const [marker, ...rest] = whole;
    const withLost = [version('3', undefined, true), version('25', 'lost'), ...rest];
    expect(violationsOfVersions(withLost, acknowledged, operations)).toEqual([]);
    const twice = [version('3', undefined, true), version('26', 'lost'), ...withLost.slice(1)];
    expect(violationsOfVersions(twice, acknowledged, operations)).toHaveLength(1);
    expect(marker).toBeDefined();
  });

  it.each([
    ['a version is lost', whole.slice(0, 2)],
    ['a version has the body of another', [...whole.slice(0, 2), version('1', 'two')]],
    ['a version is of no write', [...whole, version('0', 'zero')]],
    ['a marker is of no deletion', [...whole, version('0', undefined)]],
    ['no version is the latest', whole.map((one) => ({ ...one, isLatest: false }))],
    ['an older version is the latest', whole.map((one, at) => ({ ...one, isLatest: at === 1 }))],
    ['the order is not that of the clients', [whole[0], whole[2], whole[1]].flatMap((one) => one ?? [])],
  ])('are wrong where %s', (_what, listed) => {
    expect(violationsOfVersions(listed, acknowledged, operations)).not.toEqual([]);
  });
});
