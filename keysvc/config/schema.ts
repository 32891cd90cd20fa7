import { maxTimer, maxTimerMs } from '../../platform/settings/parse-value.ts';
import { z } from 'zod';
import { keyNameError } from '../../protocol/key-service/names.ts';
import { policyPatternError } from '../../protocol/key-service/policy.ts';
import { pathsThatMaySkipAuth } from '../../protocol/key-service/routes.ts';
import { parseDuration } from './duration.ts';

/** The format of the configuration file, after `${NAME}` is replaced. `config.ts` converts it. */

const text = z.string();
/** An empty value in YAML is null, which counts as missing. */
const optional = <T extends z.ZodType>(schema: T) => schema.nullish().transform((value) => value ?? undefined);
const onOff = z.enum(['on', 'off']);

const duration = z.string().transform((value, context) => {
  const milliseconds = parseDuration(value);
  if (milliseconds === undefined) {
    context.addIssue({ code: 'custom', message: `"${value}" is no duration; write for example 30s, 5m or 1h30m` });
    return z.NEVER;
  }
  return milliseconds;
});

/** A duration that a timer waits. */
const timeout = duration.refine(
  (ms) => ms <= maxTimerMs,
  `is longer than ${maxTimer}, the longest time that a timer can wait`,
);

const pattern = text.superRefine((value, context) => {
  const issue = policyPatternError(value);
  if (issue !== undefined) context.addIssue({ code: 'custom', message: `"${value}" ${issue}` });
});

const identity = text.regex(/^[0-9a-f]{64}$/, {
  error: (issue) =>
    `"${String(issue.input)}" is no identity: 64 lower-case hexadecimal digits, as "keysvc identity of CERTIFICATE" prints them`,
});

const keyName = text.superRefine((value, context) => {
  const issue = keyNameError(value);
  if (issue !== undefined) {
    const message = `"${value}" is no key name (${issue}): 1 to 80 letters, digits, "_" or "-"`;
    context.addIssue({ code: 'custom', message });
  }
});

const policy = z.strictObject({
  allow: optional(z.array(pattern).max(1000)),
  deny: optional(z.array(pattern).max(1000)),
  identities: optional(z.array(identity).max(10_000)),
});

const api = z.strictObject({ skip_auth: optional(z.boolean()), timeout: optional(timeout) });

export const configFile = z.strictObject({
  version: optional(z.literal('v1')),
  address: optional(text),
  root: optional(text),
  admin: optional(z.strictObject({ identity: optional(text) })),
  tls: optional(
    z.strictObject({
      key: optional(text),
      cert: optional(text),
      password: optional(text),
      ca: optional(text),
      auth: optional(onOff),
      proxy: optional(
        z.strictObject({
          identities: optional(z.array(text).max(1000)),
          header: optional(z.strictObject({ cert: optional(text) })),
        }),
      ),
    }),
  ),
  policy: optional(z.record(text, policy)),
  cache: optional(
    z.strictObject({
      expiry: optional(
        z.strictObject({ any: optional(duration), unused: optional(duration), offline: optional(duration) }),
      ),
    }),
  ),
  api: optional(z.partialRecord(z.enum(pathsThatMaySkipAuth), api)),
  log: optional(z.strictObject({ error: optional(onOff), audit: optional(onOff) })),
  shutdown: optional(z.strictObject({ delay: optional(timeout) })),
  keys: optional(z.array(z.strictObject({ name: keyName })).max(10_000)),
  keystore: optional(z.record(text, z.unknown())),
});

export type ConfigFile = z.infer<typeof configFile>;
