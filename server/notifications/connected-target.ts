import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../platform/errors/system-error.ts';
import { timeoutText } from '../../platform/text/message-text.ts';
import type { EventMessage } from './event-message.ts';
import { DeliveryError } from '../outbox/delivery-error.ts';
import type { NotificationTarget } from './target.ts';

/** The client of a broker or a database. */
interface ConnectedClient<Connection> {
  /**
   * Connects, authenticates and prepares. `givenUp` is aborted when this takes too long: what was opened is then closed, since each further attempt
   * opens another one, until the broker or the database takes no more from anybody.
   */
  connect(givenUp: AbortSignal): Promise<Connection>;
  /** Resolves when the broker has taken the event. */
  send(connection: Connection, message: EventMessage): Promise<void>;
  close(connection: Connection): Promise<void> | void;
}

/** Milliseconds for connecting, and for each event: a broker that hangs must not hold the queue for ever. */
const timeoutMs = 10_000;

/** Keeps one connection for all events. After a failure the next event connects again. */
export function connectedTarget<Connection>(
  client: ConnectedClient<Connection>,
  limitMs = timeoutMs,
): NotificationTarget {
  let connecting: { readonly connection: Promise<Connection>; readonly giveUp: AbortController } | undefined;
  const connect = () => {
    const giveUp = new AbortController();
    return { connection: client.connect(giveUp.signal), giveUp };
  };
  const drop = ({ connection, giveUp }: NonNullable<typeof connecting>) => {
    connecting = undefined;
    giveUp.abort();
    void connection.then((opened) => client.close(opened)).catch(() => undefined);
  };
  const use = async (work: (connection: Connection) => Promise<void> | undefined) => {
    const used = (connecting ??= connect());
    try {
      await inTime(used.connection.then(work), limitMs);
    } catch (error) {
      // Events that are sent at the same time share the connection: the first failure drops it. The refusal of one event is none of the connection.
      const isOfEvent = error instanceof DeliveryError && error.code === 'rejected';
      if (connecting === used && !isOfEvent) drop(used);
      throw withoutRequest(error);
    }
  };
  return {
    send: (message) => use((connection) => client.send(connection, message)),
    // A failure has dropped the connection: a new one is the answer of the target.
    reach: () => use(() => undefined),
    async close() {
      const last = connecting;
      connecting = undefined;
      last?.giveUp.abort();
      await last?.connection.then((connection) => client.close(connection)).catch(() => undefined);
    },
  };
}

/**
 * Returns the error of a client library for the log. ioredis adds the command, whose arguments may be the password, and mysql2 the statement with
 * the event.
 */
function withoutRequest(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof DeliveryError) return error;
  const clean = new DeliveryError('unavailable', messageOf(error));
  if (error.stack !== undefined) clean.stack = error.stack;
  return clean;
}

async function inTime(work: Promise<void | undefined>, ms: number): Promise<void> {
  const ended = new AbortController();
  const late = sleep(ms, undefined, { signal: ended.signal, ref: false }).then(() => {
    throw new DeliveryError('unavailable', `it did not answer within ${timeoutText(ms)}`);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    ended.abort();
    late.catch(() => undefined);
  }
}
