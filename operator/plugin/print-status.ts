import { counted } from '../../platform/text/message-text.ts';
import type { NamespaceStatus, ResourceState, TenantStatus } from './status-model.ts';

interface Tree {
  readonly text: string;
  readonly children?: readonly Tree[];
}

/** Prints a tree as lines with branches. */
export function treeLines({ text, children = [] }: Tree): readonly string[] {
  const last = children.length - 1;
  const below = children.flatMap((child, index) => {
    const [head = '', ...rest] = treeLines(child);
    const [branch, stem] = index === last ? ['└─ ', '   '] : ['├─ ', '│  '];
    return [branch + head, ...rest.map((line) => stem + line)];
  });
  return [text, ...below];
}

/** Prints rows as columns of equal width, two spaces apart. */
export function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, cell.length);
  }
  return rows.map((row) =>
    row
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** Prints an age like kubectl: `3s`, `12m`, `5h`, `17d`. A negative age is in the future and has no sign. */
export function shortDuration(milliseconds: number): string {
  const seconds = Math.round(Math.abs(milliseconds) / 1000);
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 120 * 60) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86400)}d`;
}

/** Days of life below which an operator-made certificate is reported: it is renewed earlier. */
const soonDays = 7;

/** Prints the status for users. Ages are relative to `now`. */
export function printStatus(status: NamespaceStatus, now: Date): string {
  const trees = [
    ...status.tenants.map((tenant) => tenantTree(tenant, now)),
    ...status.unused.map((state) => resourceTree(state, now)),
  ];
  const notes = status.missed.map((issue) => `could not read ${issue}`);
  if (trees.length === 0) return [`No Tenant in the namespace ${status.namespace}.`, ...notes].join('\n');
  return [...trees.map((tree) => treeLines(tree).join('\n')), ...notes].join('\n\n');
}

function tenantTree(tenant: TenantStatus, now: Date): Tree {
  const { text, children = [] } = resourceTree(tenant, now);
  const used = [
    ...(tenant.keyService === undefined ? [] : [tenant.keyService]),
    ...tenant.identityProviders,
    ...tenant.buckets,
    ...tenant.identities,
  ];
  return { text, children: [...children, ...used.map((state) => resourceTree(state, now))] };
}

function resourceTree(state: ResourceState, now: Date): Tree {
  return {
    text: headline(state),
    children: [
      ...conditionLeaves(state, now),
      ...addressLeaves(state),
      ...group(
        'pods',
        state.pods.map(({ name, state, restarts, node = '', startedAt, message }) => {
          const age = startedAt === undefined ? '' : `since ${since(startedAt, now)}`;
          return [name, state, counted(restarts, 'restart'), age, node, message ?? ''];
        }),
      ),
      ...group(
        'certificates',
        state.certificates.map(({ name, notAfter }) => [name, expiry(notAfter, now)]),
      ),
      ...group(
        'events',
        state.events.map(({ at, type, reason, message, count }) => [
          `${since(at, now)} ago`,
          type,
          reason,
          count > 1 ? `${message} (${count} times)` : message,
        ]),
      ),
    ],
  };
}

function headline(state: ResourceState): string {
  const { kind, name, servers, health, version, rollout, issuer } = state;
  const facts = [
    servers === undefined ? undefined : `${servers} servers`,
    health,
    version === undefined ? undefined : `version ${version}`,
    rollout === undefined
      ? undefined
      : `rolls for ${rollout.reason}: ${rollout.updated} of ${rollout.total} pods are new`,
    issuer,
    state.paused ? 'paused' : undefined,
    state.hibernated ? 'hibernated' : undefined,
  ].filter((fact) => fact !== undefined);
  return [`${mark(state)} ${kind} ${name}`, ...facts].join('  ');
}

function mark(state: ResourceState): string {
  if (!state.exists) return '[does not exist]';
  if (!state.upToDate) return '[not observed yet: is the operator running?]';
  if (state.ready === 'True') return '[ready]';
  return state.ready === 'False' ? '[not ready]' : '[unknown]';
}

function conditionLeaves({ conditions }: ResourceState, now: Date): readonly Tree[] {
  return columns(
    conditions.map(({ type, status, reason, message, lastTransitionTime }) => [
      type,
      status,
      reason,
      `${message} (${since(lastTransitionTime, now)})`,
    ]),
  ).map((text) => ({ text }));
}

function addressLeaves({ addresses = {} }: ResourceState): readonly Tree[] {
  return group('addresses', Object.entries(addresses));
}

function group(title: string, rows: readonly (readonly string[])[]): readonly Tree[] {
  return rows.length === 0 ? [] : [{ text: title, children: columns(rows).map((text) => ({ text })) }];
}

function expiry(notAfter: string, now: Date): string {
  const left = Date.parse(notAfter) - now.getTime();
  if (left < 0) return `EXPIRED ${shortDuration(left)} ago`;
  return `${left < soonDays * 86_400_000 ? 'SOON: ' : ''}valid for ${shortDuration(left)}, until ${notAfter}`;
}

function since(at: string, now: Date): string {
  const time = Date.parse(at);
  return Number.isNaN(time) ? 'some time' : shortDuration(now.getTime() - time);
}
