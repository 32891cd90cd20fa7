import { expect, it } from 'vitest';
import { removesObject } from './target.ts';

it.each([
  ['s3:ObjectRemoved:Delete', true],
  ['s3:LifecycleExpiration:Delete', true],
  ['s3:ObjectTagging:Delete', false],
  ['s3:ObjectRemoved:DeleteMarkerCreated', false],
  ['s3:LifecycleDelMarkerExpiration:Delete', false],
  ['s3:ObjectCreated:DeleteTagging', false],
])('%s removes the object of a target with the last events: %s', (name, expected) => {
  expect(removesObject(name)).toBe(expected);
});
