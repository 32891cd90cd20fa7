import type { ProviderCheck } from '../../operator/reconcile/check-provider.ts';
import type { ProviderCheck as Answer } from '../doubles/kubernetes/kubernetes-double.ts';

const good: ProviderCheck = { kind: 'good', issuer: 'https://id.example.com', warnings: [] };

/** What a check pod writes when the provider is as it should be. */
export const goodProvider: Answer = () => ({ exitCode: 0, message: JSON.stringify(good) });

export function brokenProvider(reason: string, message: string): Answer {
  const broken: ProviderCheck = { kind: 'broken', reason, message };
  return () => ({ exitCode: 0, message: JSON.stringify(broken) });
}
