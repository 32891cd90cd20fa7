import type { Logger } from '../platform/logger.ts';
import packageJson from '../package.json' with { type: 'json' };
import type { RequestHandler } from './access/answer.ts';
import type { RequestEvents } from './access/request-events.ts';
import type { AssumeRoleWithWebIdentity } from './sts/assume-role-with-web-identity.ts';
import { traceSettings } from './observability/tracing/trace-settings.ts';
import type { Stores } from './observability/tracing/traced-stores.ts';

/** What of a thread is traced. */
export interface RequestTracing {
  stores(stores: Stores): Stores;
  handler(inner: RequestHandler, events: RequestEvents): RequestHandler;
  assumeRole(assume: AssumeRoleWithWebIdentity): AssumeRoleWithWebIdentity;
  close(): Promise<void>;
}

/** Milliseconds that the last spans get. */
const lastMs = 5_000;

/** By the standard variables of OpenTelemetry; undefined, and none of its packages loaded, where they ask for nothing. */
export async function openRequestTracing(
  env: Readonly<Record<string, string | undefined>>,
  log: Logger,
): Promise<RequestTracing | undefined> {
  const settings = traceSettings(env);
  if (settings === undefined) return undefined;
  for (const warning of settings.warnings) log.warn(warning);
  const [{ openTracing }, { traced }] = await Promise.all([
    import('./observability/tracing/tracing.ts'),
    import('./observability/tracing/traced-stores.ts'),
  ]);
  const opened = openTracing(settings, packageJson.version);
  const { tracing } = opened;
  return {
    stores: (stores) => traced(stores, tracing),
    handler: (inner, events) => tracing.handler(inner, events),
    assumeRole: (assume) => (request) => tracing.span('token.verify', {}, () => assume(request)),
    close: () => opened.close(lastMs),
  };
}
