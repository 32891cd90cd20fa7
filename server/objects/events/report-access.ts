import { commitOnce } from '../../store/commits.ts';
import type { ObjectContext } from '../context.ts';
import type { RuledEvent } from './object-event.ts';
import { queueEvent, queueOfEvent } from './outbox.ts';

/**
 * Queues the event of a read in a commit of its own. The read succeeds also where the store takes no commits: then the event is counted as
 * dropped.
 */
export async function reportAccess(context: ObjectContext, event: RuledEvent): Promise<void> {
  context.events.hear(event);
  const put = queueEvent(context, event);
  if (put.length === 0) return;
  try {
    await commitOnce(context.records, { put }, context.random);
  } catch {
    for (const { key } of put) context.events.countDropped(queueOfEvent(key));
  }
}
