import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

type ContextLines =
  | { readonly kind: 'read'; readonly values: Readonly<Record<string, readonly string[]>> }
  | { readonly kind: 'wrong'; readonly message: string };

/** Parses condition keys of a request, one `key=value` per line. A repeated key has several values. */
export function parseContext(text: string): ContextLines {
  // A map: a key may be `constructor`.
  const values = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const trimmed = line.trim();
    if (trimmed === '') continue;
    const at = trimmed.indexOf('=');
    if (at < 1) return { kind: 'wrong', message: say(t.explain.writeKeyValueSuchAsAwsSourceip, { trimmed }) };
    const key = trimmed.slice(0, at).trim();
    values.set(key, [...(values.get(key) ?? []), trimmed.slice(at + 1).trim()]);
  }
  return { kind: 'read', values: Object.fromEntries(values) };
}
