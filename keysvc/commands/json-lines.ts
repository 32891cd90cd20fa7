import { z } from 'zod';

/**
 * Reads a list of either generation of the protocol: JSON lines, or one object with a list of names. Errors where the list broke off
 * midway, with the text of the service.
 */
export function readListing<T>(text: string, item: z.ZodType<T>, namesAs: (name: string) => T): T[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.flatMap((line) => {
    const json: unknown = JSON.parse(line);
    const whole = wholeList.safeParse(json);
    if (whole.success) return (whole.data.names ?? whole.data.identities ?? []).map(namesAs);
    const failed = failure.safeParse(json);
    if (failed.success && failed.data.error !== '') throw new Error(failed.data.error);
    return [item.parse(json)];
  });
}

const failure = z.object({ error: z.string() });
const wholeList = z
  .object({ names: z.array(z.string()).nullish(), identities: z.array(z.string()).nullish(), continue_at: z.string() })
  .partial({ names: true, identities: true });
