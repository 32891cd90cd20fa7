import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Agent } from 'node:https';
import { NoAnswer, readAnswer } from './exchange.ts';

export interface StreamCall {
  readonly url: URL;
  readonly agent: Agent;
  /** Milliseconds until the answer must have begun. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Begins an answer that goes on without end. Errors with a `KeyServiceError` where it is a refusal, and with `NoAnswer`. What ends it
 * later ends the reading.
 */
export function openStream({ url, agent, timeoutMs, signal }: StreamCall): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = httpsRequest(url, { method: 'GET', agent, ...(signal === undefined ? {} : { signal }) });
  const slow = setTimeout(
    () => request.destroy(new NoAnswer(`no answer within ${timeoutMs} ms`, { wasSent: false, isTransient: true })),
    timeoutMs,
  );
  request.on('error', (error) => {
    clearTimeout(slow);
    reject(
      error instanceof NoAnswer
        ? error
        : new NoAnswer(error.message, { cause: error, wasSent: false, isTransient: false }),
    );
  });
  request.on('response', (response) => {
    clearTimeout(slow);
    if (response.statusCode === 200) resolve(response);
    else readAnswer(response).then(() => reject(new Error('not reached: the status is not 200')), reject);
  });
  request.end();
  return promise;
}
