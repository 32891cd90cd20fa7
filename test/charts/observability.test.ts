import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { chartFile } from './chart-values.ts';

// Every metric that an alert or the dashboard asks for is one that the operator exports, and every one is looked at.

const exported = [
  ...readFileSync(new URL('../../operator/kubernetes/metrics.ts', import.meta.url), 'utf8').matchAll(
    /name: '(coffer_operator_[a-z_]+)'/g,
  ),
].flatMap(([, name]) => name ?? []);

function metricsIn(text: string): string[] {
  const names = [...text.matchAll(/\bcoffer_operator_[a-z_]+/g)].map(([name]) => name.replace(/_bucket$/, ''));
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
const dashboard = JSON.parse(chartFile('coffer-operator', 'dashboards/coffer-operator.json')) as {
  readonly panels: readonly { readonly title: string; readonly targets: readonly { readonly expr: string }[] }[];
};

describe('alerts', () => {
  it.each(rules)('$alert asks for metrics that there are', ({ expr }) => {
    expect(metricsIn(expr).length).toBeGreaterThan(0);
    for (const name of metricsIn(expr)) expect(exported).toContain(name);
  });
  it.each(rules)('$alert has a severity and says what to do', ({ labels, annotations }) => {
    expect(['warning', 'critical']).toContain(labels.severity);
    expect(annotations.summary).not.toBe('');
    expect(annotations.description.length).toBeGreaterThan(40);
  });
});

describe('the dashboard', () => {
  const text = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)).join('\n');
  it('shows every metric of the operator', () => {
    expect(metricsIn(text)).toEqual([...new Set(exported)].sort());
  });
});
