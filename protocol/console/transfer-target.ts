import type { TransferForm } from './transfer-answers.ts';

/** Returns the last name of a key or of a folder. */
export function nameOf(entry: string): string {
  const whole = entry.endsWith('/') ? entry.slice(0, -1) : entry;
  return whole.slice(whole.lastIndexOf('/') + 1);
}

/** Returns the key that an object gets at the target. The entry is the chosen object or folder that it belongs to. */
export function targetKey(
  { target, rename }: Pick<TransferForm, 'target' | 'rename'>,
  entry: string,
  key: string,
): string {
  const name = rename ?? nameOf(entry);
  return `${target.prefix}${name}${entry.endsWith('/') ? `/${key.slice(entry.length)}` : ''}`;
}

/** Returns the reason why a transfer is impossible; undefined if it is possible. */
export function transferIssue(form: Omit<TransferForm, 'kind' | 'replace'>): string | undefined {
  const { objects, folders, target, rename } = form;
  const entries = [...objects, ...folders];
  if (entries.length === 0) return 'Choose objects or folders.';
  if (rename !== undefined && entries.length > 1) return 'One entry alone can get another name.';
  if (rename === '' || rename?.includes('/') === true) return 'A name has at least one character and no slash.';
  if (target.prefix !== '' && !target.prefix.endsWith('/')) return 'A folder ends in a slash.';
  if (target.bucket !== form.bucket) return undefined;
  for (const entry of entries) {
    const moved = targetKey(form, entry, entry);
    if (moved === entry) return `${entry} is there already.`;
    if (entry.endsWith('/') && moved.startsWith(entry)) return `${entry} cannot go into itself.`;
  }
  return undefined;
}
