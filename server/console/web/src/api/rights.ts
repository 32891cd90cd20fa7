import type { ConsoleAction, Rights } from '../../../contract/rights.ts';
import { useSession } from './session.ts';

const none: Rights = { all: [], own: [] };

/** What the person may do here; the server asks again at each call. */
export function useRights() {
  const { all, own } = useSession().data?.may ?? none;
  return {
    may: (action: ConsoleAction) => all.includes(action),
    /** With what belongs to themselves. */
    mayOwn: (action: ConsoleAction) => own.includes(action),
  };
}
