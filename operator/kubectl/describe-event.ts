import type { KubeObject } from '../kube/kube-api.ts';
import type { EventStatus } from './status-model.ts';

interface EventFields {
  readonly type?: string;
  readonly reason?: string;
  readonly note?: string;
  readonly eventTime?: string | null;
  readonly deprecatedLastTimestamp?: string | null;
  readonly deprecatedCount?: number;
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string };
  readonly regarding?: { readonly kind?: string; readonly name?: string };
}

/** An event of `events.k8s.io/v1`, whoever wrote it: older writers leave only the fields called deprecated. */
export function describeEvent(event: KubeObject): EventStatus {
  const fields = event as KubeObject & EventFields;
  const at = fields.series?.lastObservedTime ?? fields.deprecatedLastTimestamp ?? fields.eventTime;
  return {
    at: at ?? event.metadata.creationTimestamp ?? '',
    type: fields.type ?? 'Normal',
    reason: fields.reason ?? '',
    message: fields.note ?? '',
    count: fields.series?.count ?? fields.deprecatedCount ?? 1,
  };
}

export function isAbout(event: KubeObject, kind: string, name: string): boolean {
  const { regarding } = event as KubeObject & EventFields;
  return regarding?.kind === kind && regarding.name === name;
}
