import { commitOnce } from '../../store/commits.ts';
import type { ObjectContext } from '../context/context.ts';
import { AttemptEvents } from './attempt-events.ts';
import type { RuledEvent } from '../records/object-event.ts';
import { queueEvent, queueOfEvent } from './outbox.ts';

/**
 * Queues the event of a read in a commit of its own. The read succeeds also where the store takes no commits: then the event is counted as
 * dropped.
 */
export async function reportAccess(context: ObjectContext, event: RuledEvent): Promise<void> {
  context.events.hear(event);
  const attempt = new AttemptEvents(context.events);
  const { random } = context;
  const make = () => queueEvent({ events: attempt, random }, event);
  // A state that cannot be read drops nothing.
  const put = await attempt.plan(make).catch(make);
  attempt.onCommitted();
  if (put.length === 0) return;
  try {
    await commitOnce(context.records, { put }, random);
  } catch {
    for (const { key } of put) context.events.countDropped(queueOfEvent(key));
  }
}
