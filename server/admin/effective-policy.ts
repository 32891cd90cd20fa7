import { parsePolicyDocument } from '../../protocol/policy/parse-policy.ts';
import type { PolicyDocument } from '../../protocol/policy/document.ts';
import { policyJson } from '../../protocol/policy/serialize-policy.ts';
import type { IdentityReader } from '../identities/identities.ts';
import type { Subject } from '../identities/subject.ts';

/** All statements of a subject's policies as one document; of root, who has none, those of `consoleAdmin`. */
export async function effectivePolicy(
  identities: Pick<IdentityReader, 'policiesOf' | 'policy'>,
  subject: Subject,
): Promise<Readonly<Record<string, unknown>>> {
  const names = subject.kind === 'root' ? ['consoleAdmin'] : await identities.policiesOf(subject);
  const documents: PolicyDocument[] = [];
  for (const name of names) {
    const found = await identities.policy(name);
    if (found !== undefined) documents.push(found.document);
  }
  return policyJson({ version: '2012-10-17', statements: documents.flatMap(({ statements }) => statements) });
}

/** As text with an indent of one, which is how clients print it. */
export function shownPolicy(document: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(document, null, 1);
}

/** An inline policy in the form of all others. */
export function shownInlinePolicy(text: string): string {
  return shownPolicy(policyJson(parsePolicyDocument(text)));
}
