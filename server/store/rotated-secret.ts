import { readSecretFile } from '../../platform/settings/read-setting-file.ts';

/**
 * Reads a secret again from its file. Returns undefined for a file that is empty or being replaced: the refusal by the other side is the error
 * then.
 */
export async function readSecretAgain(path: string): Promise<string | undefined> {
  try {
    const text = await readSecretFile(path);
    return text === '' ? undefined : text;
  } catch {
    return undefined;
  }
}
