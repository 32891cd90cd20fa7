import { request } from 'node:http';

export interface Downtime {
  /** Milliseconds of each time without a good answer, in order. */
  readonly outages: readonly number[];
  /** Milliseconds of the longest; 0 without any. */
  readonly longestMs: number;
}

interface Sample {
  readonly asked: number;
  readonly good: boolean;
}

/** Milliseconds between two requests. */
const everyMs = 25;

/**
 * Counts, without any retry, when nobody answers: every 25 ms a request over a connection of its own, whether the ones before are
 * answered or not. A good answer is one below 500 within ten seconds: a first packet
 * that this machine's address translation loses comes again after one, three and seven, and that is no outage of a server. An outage is from the first request without one to the next
 * with one.
 */
export function watchDowntime(url: string): { stop(): Promise<Downtime> } {
  const samples: Promise<Sample>[] = [];
  const ask = async (): Promise<Sample> => {
    const asked = Date.now();
    return { asked, good: await answers(url) };
  };
  const timer = setInterval(() => samples.push(ask()), everyMs);
  return {
    async stop() {
      clearInterval(timer);
      const outages = outagesOf(await Promise.all(samples));
      return { outages, longestMs: Math.max(0, ...outages) };
    },
  };
}

function outagesOf(samples: readonly Sample[]): readonly number[] {
  const outages: number[] = [];
  let downSince: number | undefined;
  for (const { asked, good } of samples) {
    if (!good) downSince ??= asked;
    else if (downSince !== undefined) {
      outages.push(asked - downSince);
      downSince = undefined;
    }
  }
  return downSince === undefined ? outages : [...outages, Number.POSITIVE_INFINITY];
}

function answers(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = request(url, { agent: false, timeout: 10_000 }, (answer) => {
      answer.resume();
      answer.on('close', () => resolve((answer.statusCode ?? 500) < 500));
    });
    asked.on('timeout', () => asked.destroy());
    asked.on('error', () => resolve(false));
    asked.end();
  });
}
