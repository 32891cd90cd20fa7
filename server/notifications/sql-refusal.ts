import { messageOf } from '../../platform/errors/system-error.ts';
import { DeliveryError } from '../outbox/delivery-error.ts';

/**
 * The classes of SQLSTATE that concern the values of one statement: data exceptions, violated constraints, and what is too large for an index. All others
 * concern the table, the account or the server.
 *
 * @see https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const classesOfValues: ReadonlySet<string> = new Set(['22', '23', '54']);

/** Runs the statement of an event. Rejects with `DeliveryError` rejected where the database refuses this event alone. */
export async function ofOneEvent<T>(statement: Promise<T>, stateOf: (error: Error) => string | undefined): Promise<T> {
  try {
    return await statement;
  } catch (error) {
    const state = error instanceof Error ? stateOf(error) : undefined;
    if (!(error instanceof Error) || state === undefined || !classesOfValues.has(state.slice(0, 2))) throw error;
    // The error itself may have the statement with the event.
    throw new DeliveryError('rejected', `the database refuses the event: ${messageOf(error)} (SQLSTATE ${state})`);
  }
}
