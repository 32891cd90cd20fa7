import { NoSuchKey, type S3Client, S3ServiceException } from '@aws-sdk/client-s3';
import { setTimeout as sleep } from 'node:timers/promises';

/** What stood in the way of requests, each of which was sent again. */
export class Obstacles {
  /** 503 answers by their code. */
  readonly answered = new Map<string, number>();
  /** Requests without an answer, or with half of one: to a server that was restarted. */
  unanswered = 0;
  /** Answers that nothing explains. */
  readonly unexpected: string[] = [];
  longestMs = 0;
}

/** Nothing that is restarted here takes so long. */
const PATIENCE = 90_000;

/** Sends to one replica, and where that one cannot answer now to the next, as a load balancer does, until it is answered. */
export async function patiently<T>(
  replicas: readonly S3Client[],
  first: number,
  obstacles: Obstacles,
  send: (s3: S3Client) => Promise<T>,
): Promise<T> {
  const began = performance.now();
  for (let attempt = 0; ; attempt += 1) {
    const s3 = replicas[(first + attempt) % replicas.length];
    if (s3 === undefined) throw new Error('there is no replica');
    try {
      const result = await send(s3);
      obstacles.longestMs = Math.max(obstacles.longestMs, performance.now() - began);
      return result;
    } catch (error) {
      if (!heals(error, obstacles)) throw error;
      if (performance.now() - began > PATIENCE) throw new Error(`not answered in ${PATIENCE} ms`, { cause: error });
    }
    await sleep(Math.min(50 * 2 ** attempt, 1_000));
  }
}

/** Whether a retry heals it. */
function heals(error: unknown, obstacles: Obstacles): boolean {
  if (error instanceof NoSuchKey) return false;
  if (!(error instanceof S3ServiceException) || error.$response === undefined) {
    obstacles.unanswered += 1;
    return true;
  }
  const status = error.$metadata.httpStatusCode;
  // Some operations begin their 200 before they know how they end.
  if (status === 503 || (status === 200 && ['ServiceUnavailable', 'SlowDown'].includes(error.name))) {
    obstacles.answered.set(error.name, (obstacles.answered.get(error.name) ?? 0) + 1);
    return true;
  }
  if (obstacles.unexpected.length < 20) obstacles.unexpected.push(`${status} ${error.name}: ${error.message}`);
  return (status ?? 0) >= 500;
}
