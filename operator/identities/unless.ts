import { TenantRefusal } from '../declared/tenant-refusal.ts';

/** Undefined where the server answers one of these codes: what is not there is told by a refusal. */
export async function unless<T>(codes: readonly string[], answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof TenantRefusal && codes.includes(error.code)) return undefined;
    throw error;
  }
}
