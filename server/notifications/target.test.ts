import { expect, it } from 'vitest';
import { rowAfter } from './target.ts';

const record = { of: 'the event' };
const event = { key: 'b/k', time: '2026-01-01T00:00:00.000Z', body: '', record };

it.each([
  ['s3:ObjectRemoved:Delete', 'removed'],
  ['s3:LifecycleExpiration:Delete', 'removed'],
  ['s3:LifecycleDelMarkerExpiration:Delete', 'removed'],
  ['s3:ObjectTagging:Delete', record],
  ['s3:ObjectRemoved:DeleteMarkerCreated', record],
  ['s3:ObjectCreated:DeleteTagging', record],
])('after %s a target with the last events has %j', (name, expected) => {
  expect(rowAfter({ ...event, name })).toEqual(expected);
});

it.each(['s3:ObjectRemoved:Delete', 's3:ObjectTagging:Put'])(
  'after %s of an old version it has what it had, and after the removal of the newest one the version before it',
  (name) => {
    expect(rowAfter({ ...event, name, current: 'unchanged' })).toBe('unchanged');
    const current = { of: 'the version before' };
    expect(rowAfter({ ...event, name, current })).toBe(current);
  },
);
