import { expect, it } from 'vitest';
import { first } from './en/first.ts';
import { pages } from './en/pages.ts';
import { knownSentenceKeys } from './known-sentence-keys.ts';
import { sentenceKeys } from './sentence-keys.ts';

it('finds a key that is the beginning of its text, and no other', () => {
  const keys = {
    keepTheSecretKeyNow: 'Keep the secret key now: it is not shown again.',
    secretKeyWarningAtTheTop: 'Keep the secret key now: it is not shown again.',
    secretKey: 'Secret key of the user',
    theWholeTextOfThis: 'The whole text of this',
  };
  expect(sentenceKeys({ part: keys })).toEqual(['part.keepTheSecretKeyNow']);
});

it('has no new key that is the beginning of its text, and lists none that is gone', () => {
  expect([...sentenceKeys({ ...first, ...pages })].toSorted()).toEqual([...knownSentenceKeys].toSorted());
});
