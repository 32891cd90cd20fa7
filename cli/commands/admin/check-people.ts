import { adminOf } from '../../admin/admin-client.ts';
import type { Context } from '../../context.ts';
import { textTable } from '../../terminal/text-table.ts';

interface Report {
  readonly checked?: number;
  readonly active?: number;
  readonly cutOff?: readonly {
    readonly provider: string;
    readonly name: string;
    readonly reason: string;
    readonly temporaryCredentials: number;
    readonly serviceAccounts: readonly string[];
  }[];
  readonly unreachable?: readonly { readonly provider: string; readonly people: number; readonly reason: string }[];
}

/** Has the server ask its providers now whether people who have credentials still exist. */
export async function checkPeople(context: Context, [alias = '', user]: readonly string[]): Promise<void> {
  const admin = await adminOf(context, alias);
  const report = await admin.slow<Report>({ method: 'POST', api: 'coffer', call: 'identity-check', query: { user } });
  const { checked = 0, active = 0, cutOff = [], unreachable = [] } = report;
  const lost = textTable(
    ['PERSON', 'PROVIDER', 'WHY', 'TEMPORARY', 'ACCESS KEYS'],
    cutOff.map(({ name, provider, reason, temporaryCredentials, serviceAccounts }) => [
      name,
      provider,
      reason,
      String(temporaryCredentials),
      serviceAccounts.join(', ') || '-',
    ]),
  );
  context.output.message(
    [
      `Asked about ${checked}: ${active} active, ${cutOff.length} lost their access.`,
      ...(cutOff.length === 0 ? [] : [lost]),
      ...unreachable.map(({ provider, people, reason }) => `Nothing is known of ${people} at ${provider}: ${reason}`),
    ].join('\n'),
    { ...report },
  );
}
