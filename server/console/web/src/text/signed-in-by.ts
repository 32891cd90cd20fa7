import type { SessionAnswer } from '../../../contract/answers.ts';

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

/** What a provider is called in a sentence: the label of its button without the words that make it one. */
export function providerName(label: string): string {
  return label.replace(/^(?:sign|log) ?(?:in|on) (?:with|by|using|via|through) (?=\S)/i, '');
}
