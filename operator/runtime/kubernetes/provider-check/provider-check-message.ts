import { z } from 'zod';
import { identityProviderSpec } from '../../../api/identity-provider.ts';
import { metadata, type IdentityProvider } from '../../../api/object.ts';
import type { ProviderCheck } from '../../../reconcile/identity-provider/check-provider.ts';

/** Bytes that a kubelet keeps of a termination message. */
const maxMessageBytes = 4096;

const request = z.object({
  provider: z.object({ kind: z.literal('IdentityProvider'), metadata: metadata.loose(), spec: identityProviderSpec }),
  clientSecret: z.string(),
});

const answer = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('good'), issuer: z.string(), warnings: z.array(z.string()) }),
  z.object({
    kind: z.literal('broken'),
    // The reason of a condition: the API server refuses any other form.
    reason: z.string().regex(/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/),
    message: z.string(),
  }),
]);

interface CheckRequest {
  readonly provider: IdentityProvider;
  readonly clientSecret: string;
}

export function writeRequest({ provider, clientSecret }: CheckRequest): string {
  const { kind, metadata: of, spec } = provider;
  return JSON.stringify({ provider: { kind, metadata: { name: of.name }, spec }, clientSecret });
}

/** Errors for text that `writeRequest` did not write. */
export function readRequest(text: string): CheckRequest {
  return request.parse(JSON.parse(text));
}

/** Writes the result as a termination message. Long messages are cut. */
export function writeAnswer(check: ProviderCheck): string {
  for (let maxLength = 2_000; ; maxLength = Math.floor(maxLength / 2)) {
    const cut = (text: string) => (text.length > maxLength ? `${text.slice(0, maxLength)}…` : text);
    const text = JSON.stringify(
      check.kind === 'good'
        ? { ...check, warnings: check.warnings.slice(0, 8).map(cut) }
        : { ...check, message: cut(check.message) },
    );
    if (Buffer.byteLength(text) <= maxMessageBytes || maxLength < 16) return text;
  }
}

/** Returns undefined for text that no check wrote. */
export function readAnswer(text: string | undefined): ProviderCheck | undefined {
  try {
    return answer.parse(JSON.parse(text ?? ''));
  } catch {
    return undefined;
  }
}
