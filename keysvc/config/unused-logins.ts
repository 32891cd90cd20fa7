import { z } from 'zod';

const logins = z.object({
  keystore: z.object({
    vault: z.object({
      approle: z.record(z.string(), z.unknown()),
      kubernetes: z.record(z.string(), z.unknown()),
    }),
  }),
});

/** The settings that make each section a login; the first one decides. */
const settingsOf = { approle: ['id', 'secret'], kubernetes: ['role', 'jwt'] } as const;

/**
 * Describes the section of a login to Vault that is not used beside another one, although the file writes settings of it: a variable was empty, or the
 * setting that decides was forgotten. A section whose texts are empty in the file, as in sample files, is not meant.
 *
 * @param written the file before its variables are replaced
 * @param expanded a configuration that is taken
 */
export function warningsOfLogins(written: unknown, expanded: unknown): string[] {
  const before = logins.safeParse(written);
  const after = logins.safeParse(expanded);
  if (!before.success || !after.success) return [];
  return (['approle', 'kubernetes'] as const).flatMap((section) => {
    const [needed, other] = settingsOf[section];
    const from = before.data.keystore.vault[section];
    const isMeant = hasValue(from[needed]) || hasValue(from[other]);
    if (hasValue(after.data.keystore.vault[section][needed]) || !isMeant) return [];
    const used = section === 'approle' ? 'kubernetes' : 'approle';
    return [
      `keystore.vault.${section}.${needed} is empty, so that the login is by ${used}: set it and take out the section ${used}, or take out the section ${section}`,
    ];
  });
}

function hasValue(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}
