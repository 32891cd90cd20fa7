import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { TransferForm, TransferList, TransferRow } from '../../../protocol/console/transfer-answers.ts';
import { notifyDone } from '../components/feedback.tsx';
import { call } from './call.ts';
import { objectsChanged } from './changes.ts';
import { queryClient, useApiMutation } from './queries.ts';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

const queryKey = ['transfers'];

/**
 * The copies and moves of the user. While some run they are read again every two seconds. One that ended
 * well before this window was opened is of no use any more.
 */
export function useTransfers(): readonly TransferRow[] {
  const { data } = useQuery({
    queryKey,
    queryFn: async () => (await call<TransferList>('GET', '/transfers', { refresh: true })).transfers,
    refetchInterval: ({ state }) => (state.data?.some(isRunning) === true ? 2_000 : false),
  });
  const seen = useEnds(data);
  return (data ?? []).filter((row) => row.state !== 'done' || row.failures > 0 || seen.has(row.id));
}

function isRunning({ state }: TransferRow): boolean {
  return state === 'running';
}

/**
 * Loads the folders again where a transfer changed them, and says when one has ended. Returns the IDs of those that this window saw
 * running.
 */
function useEnds(transfers: readonly TransferRow[] | undefined): ReadonlySet<string> {
  const before = useRef(new Map<string, TransferRow>());
  const [seen, setSeen] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => {
    if (transfers === undefined) return;
    for (const row of transfers) {
      const earlier = before.current.get(row.id);
      if (earlier === undefined || (earlier.done === row.done && earlier.state === row.state)) continue;
      objectsChanged(row.bucket);
      if (row.target.bucket !== row.bucket) objectsChanged(row.target.bucket);
      if (isRunning(earlier) && row.state === 'done' && row.failures === 0)
        notifyDone(say(t.shell.done, { title: row.title }));
    }
    before.current = new Map(transfers.map((row) => [row.id, row]));
    setSeen((ids) => {
      const running = transfers.filter((row) => isRunning(row) && !ids.has(row.id));
      return running.length === 0 ? ids : new Set([...ids, ...running.map(({ id }) => id)]);
    });
  }, [transfers]);
  return seen;
}

export function useStartTransfer() {
  return useMutation({
    mutationFn: (form: TransferForm) => call<TransferRow>('POST', '/transfers', { body: form }),
    onSuccess: async (row) => {
      // The answer of an earlier read does not have the row, and would remove it.
      await queryClient.cancelQueries({ queryKey });
      queryClient.setQueryData<readonly TransferRow[]>(queryKey, (before = []) => [row, ...before]);
      void queryClient.invalidateQueries({ queryKey });
    },
  });
}

/** Stops a transfer that runs, and removes one that has ended. */
export function useEndTransfer() {
  return useApiMutation((id: string) => call('DELETE', '/transfers', { query: { id } }), ['transfers']);
}
