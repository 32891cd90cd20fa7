import type { PolicyDocument } from '../../protocol/policy/document.ts';
import { parsePolicyDocument } from '../../protocol/policy/parse-policy.ts';
import { policyJson } from '../../protocol/policy/serialize-policy.ts';

/** Whether a text says the same as a document, in whatever order the lists are. Throws where it is no policy. */
export function samePolicy(text: string, document: PolicyDocument): boolean {
  return unordered(policyJson(parsePolicyDocument(text))) === unordered(policyJson(document));
}

function unordered(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    Array.isArray(part) ? part.map((one) => unordered(one)).toSorted() : part,
  );
}
