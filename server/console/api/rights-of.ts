import { consoleActions } from '../contract/rights.ts';
import type { ConsoleAction, Rights } from '../contract/rights.ts';
import type { Gate, Visit } from './authorize.ts';

/** Which pages and buttons the person gets to see. */
export async function rightsOf(visit: Visit, gate: Gate): Promise<Rights> {
  const [all, own] = await Promise.all([
    keep((action) => gate.allows(visit, action, '')),
    keep((action) => gate.allowsOwn(visit, action)),
  ]);
  return { all, own };
}

async function keep(allowed: (action: ConsoleAction) => Promise<boolean>): Promise<ConsoleAction[]> {
  const answers = await Promise.all(consoleActions.map(allowed));
  return consoleActions.filter((_, at) => answers[at] === true);
}
