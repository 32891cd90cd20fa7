import { request } from 'node:http';

export interface Downtime {
  /** Milliseconds of each time without a good answer, in order. */
  readonly outages: readonly number[];
  /** Milliseconds of the longest; 0 without any. */
  readonly longestMs: number;
  /** The statuses and errors that came instead of good answers. */
  readonly reasons: readonly string[];
}

interface Sample {
  readonly asked: number;
  readonly answer: number | string;
}

/** Milliseconds between two requests. */
const everyMs = 25;

/**
 * Counts when nobody answers: every 25 ms a request over a connection of its own, whether the ones before are answered or not. A good
 * answer is one below 500 within ten seconds: a first packet that this machine's address translation loses comes again after one,
 * three and seven, and that is no outage of a server. Nor is a connection that it resets: what got no answer at all is asked once
 * more at once. An outage is from the first request without a good answer to the next with one.
 */
export function watchDowntime(url: string): { stop(): Promise<Downtime> } {
  const samples: Promise<Sample>[] = [];
  const ask = async (): Promise<Sample> => {
    const asked = Date.now();
    const first = await answerOf(url);
    const answer = typeof first === 'string' ? await answerOf(url) : first;
    return { asked, answer };
  };
  const timer = setInterval(() => samples.push(ask()), everyMs);
  return {
    async stop() {
      clearInterval(timer);
      const asked = await Promise.all(samples);
      const outages = outagesOf(asked);
      const reasons = [...new Set(asked.filter((sample) => !isGood(sample)).map(({ answer }) => String(answer)))];
      return { outages, longestMs: Math.max(0, ...outages), reasons };
    },
  };
}

function isGood({ answer }: Sample): boolean {
  return typeof answer === 'number' && answer < 500;
}

function outagesOf(samples: readonly Sample[]): readonly number[] {
  const outages: number[] = [];
  let downSince: number | undefined;
  for (const sample of samples) {
    if (!isGood(sample)) downSince ??= sample.asked;
    else if (downSince !== undefined) {
      outages.push(sample.asked - downSince);
      downSince = undefined;
    }
  }
  return downSince === undefined ? outages : [...outages, Number.POSITIVE_INFINITY];
}

/** The status of an answer over a connection of its own, or the code of what went wrong instead. */
export function answerOf(url: string): Promise<number | string> {
  return new Promise((resolve) => {
    const asked = request(url, { agent: false, timeout: 10_000 }, (answer) => {
      answer.resume();
      answer.on('close', () => resolve(answer.statusCode ?? 500));
    });
    asked.on('timeout', () => asked.destroy());
    asked.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    asked.end();
  });
}
