import type { SessionAnswer } from '../../../contract/answers.ts';
import { providerName } from './provider-name.ts';

/** By what somebody signed in, in a word or two. */
export function signedInBy({ signedInBy: by }: Pick<SessionAnswer, 'signedInBy'>): string {
  switch (by.kind) {
    case 'keys':
      return 'access key';
    case 'directory':
      return 'directory';
    case 'provider':
      return providerName(by.displayName);
    default:
      return by satisfies never;
  }
}
