import { z } from 'zod';

/** Tells an object of JSON from other values, as for any record. */
const anyRecord = z.record(z.string(), z.unknown());

/**
 * The schema of an object whose names are chosen by callers, e.g. those of users or tags. `z.record` leaves out the name `__proto__`
 * without an error.
 */
export function nameRecord<Value extends z.ZodType>(
  name: z.ZodType<string>,
  value: Value,
): z.ZodType<Record<string, z.output<Value>>, Record<string, z.input<Value>>> {
  return z.unknown().transform((given, context) => {
    const { error: notRecord } = anyRecord.safeParse(given);
    if (notRecord !== undefined) {
      for (const issue of notRecord.issues) context.addIssue({ ...issue });
      return z.NEVER;
    }
    const entries: (readonly [string, z.output<Value>])[] = [];
    for (const [key, one] of Object.entries(given as Readonly<Record<string, unknown>>)) {
      const [readName, readValue] = [name.safeParse(key), value.safeParse(one)];
      for (const { error } of [readName, readValue]) {
        for (const issue of error?.issues ?? []) context.addIssue({ ...issue, path: [key, ...issue.path] });
      }
      if (readName.success && readValue.success) entries.push([readName.data, readValue.data]);
    }
    return Object.fromEntries(entries);
  }) as unknown as z.ZodType<Record<string, z.output<Value>>, Record<string, z.input<Value>>>;
}
