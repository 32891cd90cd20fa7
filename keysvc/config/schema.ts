import { maxTimer, maxTimerMs } from '../../platform/settings/parse-value.ts';
import { z } from 'zod';
import { nameRecord } from '../../protocol/json/name-record.ts';
import { keyNameError } from '../../protocol/key-service/names.ts';
import { denyPatternError } from '../../protocol/key-service/policy.ts';
import { pathsThatMaySkipAuth, routes } from '../../protocol/key-service/routes.ts';
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

/** Later releases have the level of a log here, a word with or without a number that is added, or a number. Every level but `off` is on. */
const log = z
  .string()
  .trim()
  .toUpperCase()
  .pipe(
    z
      .string()
      .regex(/^(?:ON|OFF|(?:DEBUG|INFO|WARN|ERROR)(?:\s*\+[+-]?\d+)?|[+-]?\d+)$/, 'is neither on nor off nor a level'),
  )
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

const pattern = text.max(512, 'is longer than 512 characters');

/** A line that denies nothing by a mistake would open in silence what it was to guard. */
const denied = pattern.superRefine((value, context) => {
  const issue = denyPatternError(value);
  if (issue !== undefined) context.addIssue({ code: 'custom', message: `"${value}" ${issue}: it would deny nothing` });
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
  // An empty text is a line too: it may come of a variable that is empty.
  deny: optional(
    z
      .array(z.preprocess((value) => value ?? '', denied))
      .refine(({ length }) => length <= 1000, 'has more than 1000 patterns'),
  ),
  identities: optional(texts(text).refine(({ length }) => length <= 10_000, 'has more than 10000 identities')),
});

const api = z.strictObject({ skip_auth: optional(flag), timeout: optional(timeout) });

/** The paths of calls, also with a slash at the end. Those that are not paths of a call, such as those of other releases, have no effect. */
const apis = nameRecord(text, optional(api)).superRefine((written, context) => {
  for (const [path, settings] of Object.entries(written)) {
    if (settings?.skip_auth !== true || !needsCertificate(path.replace(/\/$/, ''))) continue;
    const message = `always needs a certificate: skip_auth is for ${pathsThatMaySkipAuth.join(', ')} alone`;
    context.addIssue({ code: 'custom', path: [path], message });
  }
});

function needsCertificate(path: string): boolean {
  return routes.some((route) => route.path === path && !route.maySkipAuth && route.access !== 'none');
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
  policy: optional(nameRecord(text, optional(policy))),
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
  keys: optional(z.array(optional(z.strictObject({ name: optional(keyName) }))).max(10_000)),
  keystore: optional(nameRecord(text, z.unknown())),
});

export type ConfigFile = z.infer<typeof configFile>;
