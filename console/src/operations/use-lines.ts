import { useEffect, useRef, useState } from 'react';
import { followLines } from '../api/admin.ts';

/** Milliseconds between updates of the page, and before a lost connection is opened again. */
const updateMs = 250;
const againMs = 2_000;

interface FollowedLines<Line> {
  /** The newest first. */
  readonly lines: readonly (Line & { readonly number: number })[];
  readonly error: Error | undefined;
  /** The server has not answered yet. */
  readonly isPending: boolean;
  readonly clear: () => void;
}

/**
 * Follows the lines of an endless answer and keeps the newest ones. A pause closes the connection, and so does leaving the page: the server
 * records no requests that no client follows.
 */
export function useLines<Line extends object>(
  name: string,
  query: Readonly<Record<string, string>>,
  { paused, max }: { readonly paused: boolean; readonly max: number },
): FollowedLines<Line> {
  const [lines, setLines] = useState<FollowedLines<Line>['lines']>([]);
  const [error, setError] = useState<Error>();
  const [isPending, setPending] = useState(true);
  const counter = useRef(0);
  const asked = JSON.stringify(query);
  useEffect(() => {
    if (paused) return undefined;
    const left = new AbortController();
    let waiting: (Line & { readonly number: number })[] = [];
    const timer = setInterval(() => {
      if (waiting.length === 0) return;
      const fresh = waiting.reverse();
      waiting = [];
      setLines((before) => [...fresh, ...before].slice(0, max));
    }, updateMs);
    const opened = () => setPending(false);
    const take = (more: readonly unknown[]) => {
      setError(undefined);
      for (const line of more) waiting.push({ ...(line as Line), number: (counter.current += 1) });
      if (waiting.length > max) waiting = waiting.slice(-max);
    };
    void keepFollowing(name, asked, { signal: left.signal, opened, take, failed: setError });
    return () => {
      left.abort();
      clearInterval(timer);
    };
  }, [name, asked, paused, max]);
  return { lines, error, isPending: isPending && error === undefined, clear: () => setLines([]) };
}

interface Follower {
  readonly signal: AbortSignal;
  readonly opened: () => void;
  readonly take: (lines: readonly unknown[]) => void;
  readonly failed: (error: Error) => void;
}

async function keepFollowing(name: string, query: string, { signal, opened, take, failed }: Follower): Promise<void> {
  while (!signal.aborted) {
    try {
      await followLines(name, JSON.parse(query) as Record<string, string>, { signal, opened, onLines: take });
    } catch (error) {
      if (signal.aborted) return;
      const known = error instanceof Error ? error : new Error(String(error));
      failed(known);
      // A refusal is final.
      if ('status' in known && typeof known.status === 'number' && known.status >= 400 && known.status < 500) return;
    }
    await new Promise((resolve) => setTimeout(resolve, againMs));
  }
}
