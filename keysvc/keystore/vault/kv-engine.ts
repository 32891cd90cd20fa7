import { z } from 'zod';
import type { WriteOutcome } from '../remote/confirm-created.ts';
import { readJson } from '../remote/json-answer.ts';
import type { VaultClient } from './vault-client.ts';

/** What differs between the versions of Vault's key-value engine. */
export interface KvEngine {
  /** Undefined where there is none. */
  read(name: string): Promise<Buffer | undefined>;
  write(name: string, record: Buffer): Promise<WriteOutcome>;
  /** Whether there was one. */
  remove(name: string): Promise<boolean>;
  list(): Promise<readonly string[]>;
}

const keys = z.object({ data: z.object({ keys: z.array(z.string()) }) });

/** The names in a folder of the engine; folders within it end in a slash. */
export async function listFolder(client: VaultClient, path: string): Promise<readonly string[]> {
  const call = { method: 'GET', path: `${path}/`, query: 'list=true', capability: 'list' } as const;
  const answer = await client.expect(call, 200, 404);
  // So it answers for a folder that is empty.
  if (answer.status === 404) return [];
  const found = readJson(answer.text, keys, `the vault ${client.name}`).data.keys;
  return found.filter((name) => !name.endsWith('/'));
}

export function joinPath(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('/');
}
