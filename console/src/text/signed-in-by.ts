import type { SessionAnswer } from '../../../protocol/console/answers.ts';
import { t } from '../texts/texts.ts';

/** Describes how the user signed in. */
export function signedInBy({ signedInBy: by }: Pick<SessionAnswer, 'signedInBy'>): string {
  switch (by.kind) {
    case 'keys':
      return t.shell.accessKey;
    case 'directory':
      return t.shell.directory;
    case 'provider':
      return providerName(by.displayName);
    default:
      return by satisfies never;
  }
}

/** The name of a provider: the label of its button without words such as "Sign in with". */
export function providerName(label: string): string {
  return label.replace(/^(?:sign|log) ?(?:in|on) (?:with|by|using|via|through) (?=\S)/i, '');
}
