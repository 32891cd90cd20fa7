import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { chartFile } from './chart-values.ts';

// Every metric that an alert or a dashboard asks for is one that the operator or a server exports, and all of the operator are looked at.

const exported = [
  ...readFileSync(new URL('../../operator/runtime/kubernetes/metrics.ts', import.meta.url), 'utf8').matchAll(
    /name: '(coffer_operator_[a-z_]+)'/g,
  ),
].flatMap(([, name]) => name ?? []);

const serverMetrics = new URL('../../server/observability/metrics/', import.meta.url);
const ofServers = readdirSync(serverMetrics)
  .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  .flatMap((name) => [
    ...readFileSync(new URL(name, serverMetrics), 'utf8').matchAll(/['`]((?:minio|coffer)_[a-z0-9_]+)['`]/g),
  ])
  .flatMap(([, name]) => name ?? []);

function metricsIn(text: string): string[] {
  const names = [...text.matchAll(/\b(?:minio|coffer(?!_dev))_[a-z0-9_]+/g)].map(([name]) => name.replace(/_bucket$/, ''));
  return [...new Set(names)].sort();
}

interface Alerts {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert: string;
      readonly expr: string;
      readonly labels: { readonly severity: string };
      readonly annotations: { readonly summary: string; readonly description: string };
    }[];
  }[];
}

const alerts = parse(chartFile('coffer-operator', 'files/alerts.yaml')) as Alerts;
const rules = alerts.groups.flatMap((group) => group.rules);
interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets: readonly { readonly expr: string }[] }[];
}

function metricsOfDashboard(name: string): string[] {
  const { panels } = JSON.parse(chartFile('coffer-operator', `dashboards/${name}.json`)) as Dashboard;
  return metricsIn(panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)).join('\n'));
}

describe('alerts', () => {
  it.each(rules)('$alert asks for metrics that there are', ({ expr }) => {
    expect(metricsIn(expr).length).toBeGreaterThan(0);
    for (const name of metricsIn(expr)) expect([...exported, ...ofServers]).toContain(name);
  });
  it.each(rules)('$alert has a severity and says what to do', ({ labels, annotations }) => {
    expect(['warning', 'critical']).toContain(labels.severity);
    expect(annotations.summary).not.toBe('');
    expect(annotations.description.length).toBeGreaterThan(40);
  });
});

describe('the dashboards', () => {
  it('show every metric of the operator', () => {
    expect(metricsOfDashboard('coffer-operator')).toEqual([...new Set(exported)].sort());
  });
  it('ask servers for metrics that there are', () => {
    const asked = metricsOfDashboard('coffer-server');
    expect(asked.length).toBeGreaterThan(8);
    for (const name of asked) expect(ofServers).toContain(name);
  });
});
