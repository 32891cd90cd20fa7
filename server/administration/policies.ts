import type { IdentityReader, NamedDocument } from '../auth/identities/identities.ts';
import { AdminError } from './admin-error.ts';
import { evaluate, type NamedPolicy } from '../../protocol/policy/evaluate.ts';
import { type PolicyDocument, policyJson } from '../../protocol/policy/document.ts';
import { parsePolicyDocument } from '../../protocol/policy/parse-policy.ts';
import type { Subject } from '../auth/identities/subject.ts';

/** From `a,b` to its names; the order stays, spaces and repetitions go. */
export function policyNames(text: string): readonly string[] {
  const names = text.split(',').map((name) => name.trim());
  return [...new Set(names)].filter((name) => name !== '');
}

/** Rejects where there is none of that name. */
export async function existingPolicy(identities: Pick<IdentityReader, 'policy'>, name: string): Promise<NamedDocument> {
  const policy = await identities.policy(name);
  if (policy !== undefined) return policy;
  throw new AdminError('XMinioAdminNoSuchPolicy', `There is no policy ${JSON.stringify(name.slice(0, 128))}.`);
}

/** Whether a policy by itself allows to look into a bucket, or to read or put an object of any name. */
export function concernsBucket(policy: NamedPolicy, bucket: string): boolean {
  const asked = [
    ['s3:ListBucket', bucket],
    ['s3:GetObject', `${bucket}/`],
    ['s3:PutObject', `${bucket}/`],
  ] as const;
  return asked.some(
    ([action, resource]) => evaluate([policy], { action, resource, context: {}, variables: {} }).effect === 'allow',
  );
}

/** Whether a text says the same as a document, in whatever order the lists are. Throws where it is no policy. */
export function samePolicy(text: string, document: PolicyDocument): boolean {
  return unordered(policyJson(parsePolicyDocument(text))) === unordered(policyJson(document));
}

function unordered(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    Array.isArray(part) ? part.map((one) => unordered(one)).toSorted() : part,
  );
}

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
