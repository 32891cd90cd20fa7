import { maxTimer, maxTimerMs } from '../../platform/settings/parse-value.ts';
import { z } from 'zod';
import { keyNameError } from '../../protocol/key-service/names.ts';
import { policyPatternError } from '../../protocol/key-service/policy.ts';
import { pathsThatMaySkipAuth } from '../../protocol/key-service/routes.ts';
import { parseDuration } from './duration.ts';
import { optional, texts } from './unset.ts';

/** The format of the configuration file, after `${NAME}` is replaced. `config.ts` converts it. */

const text = z.string();
const onOff = z
  .string()
  .toLowerCase()
  .pipe(z.enum(['on', 'off']));

/** The words of YAML 1.1, as the protocol's releases read them. */
const flag = z
  .string()
  .toLowerCase()
  .pipe(z.enum(['true', 'yes', 'on', 'y', 'false', 'no', 'off', 'n']))
  .transform((word) => ['true', 'yes', 'on', 'y'].includes(word));

/** Later releases have the level of a log here, a word with or without a number, or a number. Every level but `off` is on. */
const log = z
  .string()
  .trim()
  .toUpperCase()
  .pipe(z.string().regex(/^(?:ON|OFF|(?:DEBUG|INFO|WARN|ERROR)(?:\+\d+)?|-?\d+)$/, 'is neither on nor off nor a level'))
  .transform((level) => (level === 'OFF' ? 'off' : 'on'));

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
  allow: optional(texts(pattern).refine(({ length }) => length <= 1000, 'has more than 1000 patterns')),
  deny: optional(texts(pattern).refine(({ length }) => length <= 1000, 'has more than 1000 patterns')),
  identities: optional(texts(identity).refine(({ length }) => length <= 10_000, 'has more than 10000 identities')),
});

const api = z.strictObject({ skip_auth: optional(flag), timeout: optional(timeout) });

/** The paths of the protocol, also with a slash at the end. Those of other releases have no effect. */
const apis = z.record(text, optional(api)).superRefine((written, context) => {
  for (const [path, settings] of Object.entries(written)) {
    const error = apiPathError(path, settings?.skip_auth === true);
    if (error !== undefined) context.addIssue({ code: 'custom', path: [path], message: error });
  }
});

function apiPathError(path: string, skipsAuth: boolean): string | undefined {
  if (!/^\/(?:version|v1\/[a-z/]+)\/?$/.test(path)) return 'is no path of a call, such as /v1/status';
  if (!skipsAuth || (pathsThatMaySkipAuth as readonly string[]).includes(path.replace(/\/$/, ''))) return undefined;
  return `always needs a certificate: skip_auth is for ${pathsThatMaySkipAuth.join(', ')} alone`;
}

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
          identities: optional(texts(text)),
          header: optional(z.strictObject({ cert: optional(text) })),
        }),
      ),
    }),
  ),
  policy: optional(z.record(text, optional(policy))),
  cache: optional(
    z.strictObject({
      expiry: optional(
        z.strictObject({ any: optional(duration), unused: optional(duration), offline: optional(duration) }),
      ),
    }),
  ),
  api: optional(apis),
  log: optional(z.strictObject({ error: optional(log), audit: optional(log) })),
  shutdown: optional(z.strictObject({ delay: optional(timeout) })),
  keys: optional(z.array(z.strictObject({ name: keyName })).max(10_000)),
  keystore: optional(z.record(text, z.unknown())),
});

export type ConfigFile = z.infer<typeof configFile>;
