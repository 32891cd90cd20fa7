import { z } from 'zod';
import type { NameChange } from '../../../protocol/console/identity-answers.ts';

/** The difference of a list of names, in a form. */
export function nameChange(names: z.ZodType<readonly string[]>): z.ZodType<NameChange> {
  return z.strictObject({ add: names, remove: names });
}
