import { z } from 'zod';
import { KeyStoreError } from '../keystore.ts';
import { readJson } from '../remote/json-answer.ts';
import type { RemoteAnswer } from '../remote/remote.ts';
import type { AzureVault } from './azure-vault.ts';

/** The most that a page may hold. */
const pageSize = 25;
const maxPages = 4000;

/** The name as it was given: the vault takes `KEY` and `key` for the same, and the policies of a key service do not. */
export const nameTag = 'key-name';

export const secretAttributes = z.object({
  created: z.number().optional(),
  enabled: z.boolean().optional(),
  nbf: z.number().optional(),
  exp: z.number().optional(),
  recoveryLevel: z.string().optional(),
});
export const secretItem = z.object({
  id: z.string(),
  attributes: secretAttributes,
  tags: z.record(z.string(), z.string()).optional(),
});
const page = z.object({ value: z.array(secretItem).nullish(), nextLink: z.string().nullish() });

export type SecretItem = z.infer<typeof secretItem>;

/** The items behind a path, page by page; none where there is nothing. `see` is shown each answer. */
export async function* listItems(
  vault: AzureVault,
  path: string,
  key?: string,
  see: (answer: RemoteAnswer) => void = () => {},
): AsyncIterable<SecretItem> {
  let next: string | undefined = `${path}?maxresults=${pageSize}`;
  for (let count = 0; next !== undefined; count++) {
    if (count === maxPages)
      throw new KeyStoreError('unavailable', `the key vault ${vault.endpoint}: ${path} has no end`);
    const call = { method: 'GET', path: next, permission: 'List', ...(key === undefined ? {} : { key }) } as const;
    const answer: RemoteAnswer = await vault.expect(call, ...(key === undefined ? [200] : [200, 404]));
    see(answer);
    if (answer.status === 404) return;
    const found = readJson(answer.text, page, `the key vault ${vault.endpoint}`);
    yield* found.value ?? [];
    next = found.nextLink ?? undefined;
  }
}

/** The name of a key, from what a listing tells. */
export function keyNameOf({ id, tags }: SecretItem): string {
  return tags?.[nameTag] ?? id.split('/secrets/')[1]?.split('/')[0] ?? '';
}
