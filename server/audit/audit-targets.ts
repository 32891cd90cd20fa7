import type { AuditSettings } from '../../platform/settings/audit-settings.ts';

/** Where entries go, by the names that metrics and the log have for it, in an order that every thread finds. */
export function auditTargets({ file, webhooks }: AuditSettings): readonly string[] {
  return [...(file === undefined ? [] : ['file']), ...webhooks.map(({ id }) => `webhook:${id}`)];
}
