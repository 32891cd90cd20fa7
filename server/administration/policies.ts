import type { IdentityReader, NamedDocument } from '../auth/identities/identities.ts';
import { evaluate, type NamedPolicy } from '../../protocol/policy/evaluate.ts';
import { type PolicyDocument, policyJson } from '../../protocol/policy/document.ts';
import { parsePolicyDocument } from '../../protocol/policy/parse-policy.ts';
import type { Subject } from '../auth/identities/subject.ts';
import { adminError } from './admin-error.ts';

/** Splits `a,b`; it keeps the order and drops spaces and duplicates. */
export function policyNames(text: string): readonly string[] {
  const names = text.split(',').map((name) => name.trim());
  return [...new Set(names)].filter((name) => name !== '');
}

/** Returns the policy; rejects if it does not exist. */
export async function existingPolicy(identities: Pick<IdentityReader, 'policy'>, name: string): Promise<NamedDocument> {
  const policy = await identities.policy(name);
  if (policy !== undefined) return policy;
  throw adminError('XMinioAdminNoSuchPolicy', `There is no policy ${JSON.stringify(name.slice(0, 128))}.`);
}

/** Reports whether a policy alone allows listing a bucket, or reading or writing any object in it. */
export function allowsInBucket(policy: NamedPolicy, bucket: string): boolean {
  const asked = [
    ['s3:ListBucket', bucket],
    ['s3:GetObject', `${bucket}/`],
    ['s3:PutObject', `${bucket}/`],
  ] as const;
  return asked.some(
    ([action, resource]) => evaluate([policy], { action, resource, context: {}, variables: {} }).effect === 'allow',
  );
}

/** Reports whether two policies are equal, whatever the order of lists. Throws if the text is not a policy. */
export function samePolicy(text: string, document: PolicyDocument): boolean {
  return unordered(policyJson(parsePolicyDocument(text))) === unordered(policyJson(document));
}

function unordered(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    Array.isArray(part) ? part.map((one) => unordered(one)).toSorted() : part,
  );
}

/** Returns all statements of a subject's policies as one document; those of `consoleAdmin` for root. */
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
  // Policies that are much alike, such as those of a MinIO, repeat statements.
  const statements = new Map(documents.flatMap((one) => one.statements).map((one) => [textOf(one), one]));
  return policyJson({ version: '2012-10-17', statements: [...statements.values()] });
}

function textOf(statement: PolicyDocument['statements'][number]): string {
  return JSON.stringify(policyJson({ version: '2012-10-17', statements: [statement] }));
}

/** Formats JSON with an indent of one, as clients print it. */
export function shownPolicy(document: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(document, null, 1);
}

/** Formats an inline policy in the same way. */
export function shownInlinePolicy(text: string): string {
  return shownPolicy(policyJson(parsePolicyDocument(text)));
}
