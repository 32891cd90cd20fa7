import { beforeAll, describe, expect, it } from 'vitest';
import { newElement } from '../../../protocol/s3/xml-edit.ts';
import { parseReplication, targetArn } from '../../../protocol/s3/bucket-replication.ts';
import {
  describeReplication,
  emptyReplication,
  endpointOf,
  freePriority,
  replicationDocument,
  replicationIssue,
  replicationRule,
} from './replication-rules.ts';
import { loadPageTexts } from '../texts/texts.ts';

beforeAll(loadPageTexts);

const target = targetArn('7a1e1b6e-5d0f-4b36-a1c5-2a0f8bb3bb11', 'copies');
const rule = { ...emptyReplication, id: 'all', target, prefix: 'a&b/' };

describe('replicationDocument', () => {
  it('is what the server reads', () => {
    expect(parseReplication(replicationDocument([rule])).rules).toEqual([
      {
        id: 'all',
        enabled: true,
        priority: 1,
        filter: { prefix: 'a&b/' },
        destination: target,
        target,
        deleteMarkers: true,
        deletes: false,
        replicaModifications: true,
        existingObjects: true,
      },
    ]);
  });
});

const tagged = replicationRule(
  newElement('Rule', [newElement('Filter', [newElement('Tag', [newElement('Key', 'k'), newElement('Value', 'v')])])]),
);

it('describes a rule', () => {
  expect(describeReplication({ ...rule, deletes: true }, () => 'there')).toEqual([
    'New versions of objects whose key begins with “a&b/” are sent to there.',
    'Sent too: delete markers; removals of versions; on a resync, what was there before.',
  ]);
});

it.each([
  [{}, [], undefined],
  [{ target: '' }, [], 'Choose a target. Add one first if there is none.'],
  [{}, [{ ...rule, priority: 1 }], 'Another rule has this priority.'],
  [{ priority: 1.5 }, [], 'The priority is a whole number from 0 on.'],
  [{ element: tagged.element }, [], 'A rule with tags cannot send delete markers.'],
])('of %j beside %j says what is wrong', (change, others, issue) => {
  expect(replicationIssue({ ...rule, ...change }, others)).toBe(issue);
});

it('finds a free priority', () => {
  expect(freePriority([])).toBe(1);
  expect(freePriority([rule, { ...rule, priority: 7 }])).toBe(8);
});

describe('endpointOf', () => {
  it.each([
    ['https://s3.example.com', { endpoint: 's3.example.com', secure: true }],
    ['s3.example.com:9000', { endpoint: 's3.example.com:9000', secure: true }],
    ['http://10.0.0.1:9000/', { endpoint: '10.0.0.1:9000', secure: false }],
    ['https://s3.example.com/path', undefined],
    ['https://a:b@s3.example.com', undefined],
    ['', undefined],
  ])('of %j', (text, endpoint) => {
    expect(endpointOf(text)).toEqual(endpoint);
  });
});
