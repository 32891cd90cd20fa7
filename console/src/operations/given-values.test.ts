import { expect, it } from 'vitest';
import { givenValues } from './given-values.ts';

it('reads what the environment sets from the text of a subsystem', () => {
  const text = '# SVC_REGION=eu\n# SVC_SITE_NAME=a=b\n#no\nsite region=us-east-1 name=\n';
  expect([...givenValues(text)]).toEqual([
    ['SVC_REGION', 'eu'],
    ['SVC_SITE_NAME', 'a=b'],
  ]);
});
